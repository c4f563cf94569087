import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { closeServer, type Closable } from './close-server.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What was done, in order, and when. */
function closable(parts: Partial<Closable> = {}): Closable & { readonly steps: string[] } {
  const steps: string[] = [];
  const startedAtMs = performance.now();
  const note = (step: string): number => steps.push(`${Math.round(performance.now() - startedAtMs)} ${step}`);
  return {
    steps,
    http: { close: async () => void note('http') },
    grpc: { close: async () => void note('grpc') },
    node: { cut: () => note('cut'), drain: async (limitMs) => void note(`drain ${Math.round(limitMs)}`) },
    stop: async () => void note('stop'),
    ...parts,
  };
}

describe('closeServer', () => {
  it('closes both servers, drains, stops, and cuts nothing where nothing runs', async () => {
    const server = closable();
    await closeServer(server, 1_000);
    expect(server.steps).toEqual(['0 http', '0 grpc', '0 drain 1500', '0 stop']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('cuts at the limit, and is done half a second after it', async () => {
    const server = closable({ http: { close: later } });
    const closing = closeServer(server, 1_000);
    await vi.advanceTimersByTimeAsync(1_250);
    await closing;
    expect(server.steps).toEqual(['0 grpc', '1000 cut', '1250 drain 250', '1250 stop']);
  });

  it('stops the node though a server can not be closed, once the other is, and throws that', async () => {
    const failure = new Error('still bound');
    const server = closable({ http: { close: () => Promise.reject(failure) }, grpc: { close: () => later(300) } });
    const closing = closeServer(server, 1_000);
    const thrown = expect(closing).rejects.toBe(failure);
    await vi.advanceTimersByTimeAsync(300);
    await thrown;
    expect(server.steps).toEqual(['300 drain 1200', '300 stop']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stops the node though it can not be drained', async () => {
    const failure = new Error('no room');
    const base = closable();
    const server: Closable = { ...base, node: { ...base.node, drain: () => Promise.reject(failure) } };
    await expect(closeServer(server, 1_000)).rejects.toBe(failure);
    expect(base.steps.at(-1)).toBe('0 stop');
  });
});
