import { describe, expect, it } from 'vitest';
import { QUICK_RUN, run } from './run.ts';

/** Of the table below a heading: its rows' cells, by the first one. */
function rowsBelow(document: string, heading: string): Map<string, readonly string[]> {
  const section = document.split(`${heading}\n`)[1]?.split(/^#/m)[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  const cells = lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(cells.map(([first = '', ...others]) => [first, others]));
}

describe('the bench', () => {
  it('measures every line that it is asked for and tells of it', async () => {
    const scenarios = ['fastify', 'http', 'grpc-js', 'grpc', 'unique-off', 'unique-on'];
    const document = await run(
      {
        ...QUICK_RUN,
        scenarios,
        sizes: [300],
        bodyCount: 20,
        connections: 4,
        seconds: 0.2,
        pacedSeconds: 0.2,
        pacedBytes: 300,
        semanticCount: 0,
        useWrk: false,
        fromSource: true,
      },
      () => undefined,
    );
    const measured = rowsBelow(document, '### Bodies of 0.3 KB');
    expect([...measured.keys()]).toEqual([
      'Fastify echo',
      'exact hit, HTTP',
      'grpc-js echo',
      'exact hit, gRPC',
      'unique inputs, `no-cache, no-store`',
      'unique inputs, cache on',
    ]);
    for (const [requestsPerSecond = ''] of measured.values()) expect(requestsPerSecond).toMatch(/^[1-9][\d,]*$/);
    for (const title of ['exact hit, HTTP', 'exact hit, gRPC']) {
      expect(Number(measured.get(title)?.[3]), `throughput ratio of ${title}`).toBeGreaterThan(0);
    }
    const paced = rowsBelow(document, "## Latency at half the echo's rate, bodies of 0.3 KB");
    expect([...paced.keys()]).toEqual(['Fastify echo', 'exact hit, HTTP', 'grpc-js echo', 'exact hit, gRPC']);
  }, 180_000);
});
