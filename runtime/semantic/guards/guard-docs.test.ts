import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GUARD_NAMES } from './guards.ts';

describe('docs/semantic.md', () => {
  it('explains every guard by the name that configuration uses, in their order', () => {
    const text = readFileSync(new URL('../../../docs/semantic.md', import.meta.url), 'utf8');
    const [, table = ''] = /\n## Guards\n[^]*?\n(\| guard [^]*?)\n\n/u.exec(text) ?? [];
    const rows = [...table.matchAll(/^\| `(\w+)` +\| (.+?) *\|$/gmu)];
    expect(rows.map(([, name]) => name)).toEqual(GUARD_NAMES);
    for (const [, , explanation = ''] of rows) expect(explanation.length).toBeGreaterThan(40);
  });
});
