import { describe, expect, it } from 'vitest';
import { RepriseError } from '../../errors.ts';
import type { Verifier } from '../../ports/verifier.ts';

/** An adapter under test. */
export interface VerifierUnderTest {
  readonly verifier: Verifier;
  /** Monotonic, of the clock that the adapter reads. */
  readonly nowMs: () => number;
  /** From now on answers neither come nor fail by themselves. */
  readonly hang: () => void;
  readonly close: () => Promise<void>;
}

/** Texts of which the adapter must say yes and no. */
export interface ContractPairs {
  readonly same: readonly [stored: string, asked: string];
  readonly other: readonly [stored: string, asked: string];
}

const SOON_MS = 60_000;

/** What every verifier keeps to. */
export function describeVerifier(name: string, open: () => Promise<VerifierUnderTest>, pairs: ContractPairs): void {
  const using = async (work: (tested: VerifierUnderTest) => Promise<void>): Promise<void> => {
    const tested = await open();
    try {
      await work(tested);
    } finally {
      await tested.close();
    }
  };
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'resolved',
      (error: unknown) => (error instanceof RepriseError ? error.code : String(error)),
    );

  describe(`${name} keeps the contract of a verifier`, () => {
    it('has an id', () => using(async ({ verifier }) => expect(verifier.id).toMatch(/^[a-z-]+:.+/)));

    it('gives a probability, higher for the same than for another', () =>
      using(async ({ verifier, nowMs }) => {
        const options = { deadlineAtMs: nowMs() + SOON_MS };
        const same = await verifier.verify(...pairs.same, options);
        const other = await verifier.verify(...pairs.other, options);
        for (const probability of [same, other]) {
          expect(probability).toBeGreaterThanOrEqual(0);
          expect(probability).toBeLessThanOrEqual(1);
        }
        expect(same).toBeGreaterThan(other);
      }));

    it('gives the same answer again, several at a time', () =>
      using(async ({ verifier, nowMs }) => {
        const options = { deadlineAtMs: nowMs() + SOON_MS };
        const asked = Array.from({ length: 8 }, () => verifier.verify(...pairs.same, options));
        expect(new Set(await Promise.all(asked)).size).toBe(1);
      }));

    it('fails past its deadline', () =>
      using(async ({ verifier, nowMs }) => {
        const code = await codeOf(verifier.verify(...pairs.same, { deadlineAtMs: nowMs() - 1 }));
        expect(['embedder_timeout', 'model_timeout']).toContain(code);
      }));

    it('fails when an answer is not there by its deadline', () =>
      using(async ({ verifier, nowMs, hang }) => {
        hang();
        const code = await codeOf(verifier.verify(...pairs.same, { deadlineAtMs: nowMs() + 50 }));
        expect(['embedder_timeout', 'model_timeout']).toContain(code);
      }));

    it('fails at once for a caller that has left', () =>
      using(async ({ verifier, nowMs }) => {
        const options = { deadlineAtMs: nowMs() + SOON_MS, signal: AbortSignal.abort() };
        expect(await codeOf(verifier.verify(...pairs.same, options))).toBe('cancelled');
      }));

    it('fails for a caller that leaves', () =>
      using(async ({ verifier, nowMs, hang }) => {
        hang();
        const caller = new AbortController();
        const asked = codeOf(
          verifier.verify(...pairs.same, { deadlineAtMs: nowMs() + SOON_MS, signal: caller.signal }),
        );
        caller.abort();
        expect(await asked).toBe('cancelled');
      }));
  });
}
