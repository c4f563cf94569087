import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from './replace-file.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'reprise-replace-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('replaceFile', () => {
  it('puts the new file in place of the old one, for whom it is meant', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'old');
    await replaceFile(path, 'new', 0o600);
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('leaves nothing behind where it fails', async () => {
    mkdirSync(join(folder, 'taken', 'within'), { recursive: true });
    await expect(replaceFile(join(folder, 'taken'), 'new')).rejects.toMatchObject({ syscall: 'rename' });
    expect(readdirSync(folder)).toEqual(['taken']);
  });
});
