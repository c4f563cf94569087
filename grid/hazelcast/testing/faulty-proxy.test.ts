import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultyProxy } from './faulty-proxy.ts';

const SHORT_MS = 100;

let target: Server;
let proxy: FaultyProxy;
let heardByTarget: string;
const clients: Socket[] = [];

beforeEach(async () => {
  heardByTarget = '';
  target = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      heardByTarget += bytes.toString();
      socket.write(bytes);
    });
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const { port } = target.address() as AddressInfo;
  proxy = await FaultyProxy.open({
    target: { host: '127.0.0.1', port },
    nameOf: (remote) => (remote === '127.0.0.2' ? 'second' : 'first'),
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
  await new Promise((resolve) => target.close(resolve));
});

/** A connection through the proxy that keeps what it hears. */
async function open(localAddress = '127.0.0.1'): Promise<{ socket: Socket; heard: () => string }> {
  const socket = connect({ host: '127.0.0.1', port: proxy.port, localAddress });
  clients.push(socket);
  let heard = '';
  socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
  socket.on('error', () => undefined);
  // A connection that is reset at once may never be made.
  await once(socket, 'connect').catch(() => undefined);
  return { socket, heard: () => heard };
}

/** A reset is an error too, which isn't what is waited for. */
function closed(socket: Socket): Promise<void> {
  return until(() => socket.closed);
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 5, timeout: 5_000 }).toBe(true);
}

describe('FaultyProxy', () => {
  it('passes bytes both ways, and the end of a stream', async () => {
    const { socket, heard } = await open();
    socket.write('one');
    await until(() => heard() === 'one');
    expect(proxy.connections()).toBe(1);
    socket.end('two');
    await closed(socket);
    expect(heard()).toBe('onetwo');
    await until(() => proxy.connections() === 0);
  });

  it('delays each way and keeps the order, also when the delay shrinks', async () => {
    const { socket, heard } = await open();
    proxy.setFault({ kind: 'delay', ms: SHORT_MS });
    const startedAtMs = performance.now();
    socket.write('a');
    await until(() => proxy.connections() === 1);
    await sleep(20);
    proxy.setFault({ kind: 'delay', ms: 1 });
    socket.write('b');
    await until(() => heard() === 'ab');
    expect(performance.now() - startedAtMs).toBeGreaterThan(SHORT_MS - 5);
  });

  it.each([
    ['both', '', ''],
    ['toTarget', '', ''],
    ['fromTarget', 'x', ''],
  ] as const)('stalls %s and loses nothing', async (direction, atTarget, atClient) => {
    const { socket, heard } = await open();
    proxy.setFault({ kind: 'stall', direction });
    socket.write('x');
    await sleep(SHORT_MS);
    expect([heardByTarget, heard()]).toEqual([atTarget, atClient]);
    proxy.heal();
    await until(() => heard() === 'x');
  });

  it('holds new connections back too while it stalls', async () => {
    proxy.setFault({ kind: 'stall', direction: 'both' });
    const { socket, heard } = await open();
    socket.write('x');
    await sleep(SHORT_MS);
    expect(heardByTarget).toBe('');
    proxy.setFault(undefined);
    await until(() => heard() === 'x');
  });

  it('cuts open connections and welcomes new ones', async () => {
    const { socket } = await open();
    await until(() => proxy.connections() === 1);
    proxy.cut();
    await closed(socket);
    const { socket: again, heard } = await open();
    again.write('y');
    await until(() => heard() === 'y');
  });

  it('refuses, open connections and new ones, until it is healed', async () => {
    const { socket } = await open();
    await until(() => proxy.connections() === 1);
    proxy.setFault({ kind: 'refuse' });
    await closed(socket);
    const { socket: refused } = await open();
    await closed(refused);
    proxy.heal();
    const { socket: again, heard } = await open();
    again.write('z');
    await until(() => heard() === 'z');
  });

  it.runIf(process.platform === 'linux')('tells who connects apart', async () => {
    const first = await open();
    const second = await open('127.0.0.2');
    await until(() => proxy.connections('first') === 1 && proxy.connections('second') === 1);
    proxy.setFault({ kind: 'refuse' }, 'second');
    await closed(second.socket);
    first.socket.write('x');
    await until(() => first.heard() === 'x');
    expect([proxy.connections('first'), proxy.connections('second')]).toEqual([1, 0]);
  });

  it('carries more than a socket holds, in order, behind a stall', async () => {
    const { socket, heard } = await open();
    const text = Array.from({ length: 200_000 }, (_, index) => `${index},`).join('');
    proxy.setFault({ kind: 'stall', direction: 'fromTarget' });
    socket.write(text);
    await until(() => heardByTarget.length === text.length);
    expect(heard()).toBe('');
    proxy.heal();
    await until(() => heard().length === text.length);
    expect(heard()).toBe(text);
  });
});
