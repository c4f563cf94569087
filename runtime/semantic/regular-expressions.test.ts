import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOM = import.meta.dirname;
const CHECK_TIMEOUT_MS = 60_000;

interface Literal {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** Every regular expression written in the room's code. */
function literals(): readonly Literal[] {
  const files = readdirSync(ROOM, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')).flatMap(literalsOf);
}

function literalsOf(file: string): readonly Literal[] {
  const found: Literal[] = [];
  const tree = ts.createSourceFile(file, readFileSync(join(ROOM, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      found.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

describe('regular expressions of the semantic path', () => {
  const all = literals();

  it('are found', () => {
    expect(all.length).toBeGreaterThan(50);
  });

  it.each(all)(
    'take time linear in the text: /$source/$flags of $file',
    ({ source, flags }) => {
      expect(checkSync(source, flags, { timeout: CHECK_TIMEOUT_MS }).status).toBe('safe');
    },
    CHECK_TIMEOUT_MS,
  );

  it('a checker that finds nothing wrong would be no check', () => {
    expect(checkSync('(?:a+)+$', 'u').status).toBe('vulnerable');
    expect(checkSync('.*b$', 'u').status).toBe('vulnerable');
  });
});
