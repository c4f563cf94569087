import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATA_LINE_CHARS_MAX } from './data-file.ts';
import { readBanking77, readClinc150, readParaphrases } from './known-data.ts';
import { readPairs } from './read-pairs.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'reprise-pairs-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const FULL = { a: 'stored', b: 'asked', same: true, domain: 'x', category: 'y' };

describe('readPairs', () => {
  it.each([
    ['full.tsv', 'id\tdomain\tcategory\tsame\ta\tb\n1\tx\ty\t1\tstored\tasked\n'],
    ['full.csv', 'a,b,same,domain,category\r\nstored,asked,true,x,y\r\n'],
    ['full.jsonl', '{"a":"stored","b":"asked","same":1,"domain":"x","category":"y","similarity":0.9}\n'],
    ['full.txt', 'a\tb\tsame\tdomain\tcategory\nstored\tasked\t1\tx\ty'],
  ])('reads all columns of %s', async (name, content) => {
    expect((await readPairs(file(name, content))).pairs).toMatchObject([FULL]);
  });

  it('takes quotes in TSV as they are', async () => {
    const { pairs } = await readPairs(file('quotes.tsv', 'a\tb\n"half a quote\tit\'s "quoted"\n'));
    expect(pairs).toMatchObject([
      { a: '"half a quote', b: 'it\'s "quoted"', same: null, domain: null, category: null },
    ]);
  });

  it('takes commas and line breaks in quoted CSV', async () => {
    const { pairs } = await readPairs(file('quotes.csv', 'a,b\n"one, two","line\nbreak ""x"""\n'));
    expect(pairs).toMatchObject([{ a: 'one, two', b: 'line\nbreak "x"' }]);
  });

  it('passes over a byte order mark, carriage returns and empty lines', async () => {
    const { pairs } = await readPairs(file('bom.tsv', '\ufeffa\tb\tsame\r\n\r\nx\ty\t0\r\n\n'));
    expect(pairs).toMatchObject([{ a: 'x', b: 'y', same: false, line: 3 }]);
  });

  it('leaves an empty label open', async () => {
    const { pairs } = await readPairs(file('open.tsv', 'a\tb\tsame\nx\ty\t\n'));
    expect(pairs[0]?.same).toBeNull();
  });

  it.each([
    ['no-b.tsv', 'a\tc\nx\ty\n', /no-b\.tsv:1: has no column b; its columns are a, c/],
    ['cells.tsv', 'a\tb\nx\ty\nx\n', /cells\.tsv:3: has 1 cell where the header has 2/],
    ['twice.tsv', 'a\tb\ta\nx\ty\tz\n', /twice\.tsv:1: has the column "a" twice/],
    ['label.csv', 'a,b,same\nx,y,maybe\n', /label\.csv:2: same must be 1, 0, true, false or empty, not "maybe"/],
    ['blank.csv', 'a,b\nx,\n', /blank\.csv:2: b must be a text/],
    ['open.csv', 'a,b\n"x,y\n', /open\.csv:\d+: is no CSV/],
    ['broken.jsonl', '{"a":"x","b":"y"}\n{"a":\n', /broken\.jsonl:2: is not JSON/],
    ['double.jsonl', '{"a":"x","b":"y"}\n{"a":"x","b":"y","a":"z"}\n', /double\.jsonl:2: has the member a twice/],
    ['deep.jsonl', `{"a":"x","b":"y","c":${'['.repeat(99)}${']'.repeat(99)}}\n`, /deep\.jsonl:1: is nested deeper/],
    ['list.jsonl', '["x","y"]\n', /list\.jsonl:1: is not a JSON object/],
    ['number.jsonl', '{"a":"x","b":7}\n', /number\.jsonl:1: b must be a text/],
    ['empty.tsv', '', /empty\.tsv: is empty/],
    ['header.tsv', 'a\tb\n', /header\.tsv: has no pairs/],
    ['long.tsv', `a\tb\nx\t${'y'.repeat(DATA_LINE_CHARS_MAX)}\n`, /long\.tsv:2: is longer than/],
  ])('refuses %s, naming file and line', async (name, content, message) => {
    await expect(readPairs(file(name, content))).rejects.toMatchObject({
      code: 'data_invalid',
      message: expect.stringMatching(message) as string,
    });
  });

  it('names the line of bytes that are not UTF-8', async () => {
    const bytes = Uint8Array.of(...new TextEncoder().encode('a\tb\nx\ty\n'), 0xff, 0x09, 0x41);
    await expect(readPairs(file('bytes.tsv', bytes))).rejects.toMatchObject({
      message: expect.stringMatching(/bytes\.tsv:3: is not UTF-8/) as string,
    });
  });

  it('says that a file is not there', async () => {
    await expect(readPairs(join(folder, 'nowhere.tsv'))).rejects.toMatchObject({
      message: expect.stringMatching(/nowhere\.tsv: doesn't exist/) as string,
    });
  });

  it('names a file by its bytes', async () => {
    const [one, two, other] = await Promise.all(
      ['one', 'two', 'other'].map((name) =>
        readPairs(file(`${name}.tsv`, `a\tb\nx\t${name === 'other' ? 'z' : 'y'}\n`)),
      ),
    );
    expect(one?.hash).toBe(two?.hash);
    expect(one?.hash).not.toBe(other?.hash);
  });
});

describe('readers of known data sets', () => {
  it('read BANKING77', async () => {
    const path = file('bank.csv', 'text,category\n"Where, then?",card_arrival\n');
    expect(await readBanking77(path)).toEqual([{ text: 'Where, then?', intent: 'card_arrival' }]);
  });

  it('read CLINC150', async () => {
    const parts = {
      train: [['hi', 'greeting']],
      val: [],
      test: [],
      oos_train: [['why', 'oos']],
      oos_val: [],
      oos_test: [],
    };
    const data = await readClinc150(file('clinc.json', JSON.stringify(parts)));
    expect(data).toMatchObject({ train: [{ text: 'hi', intent: 'greeting' }], oosTrain: [{ intent: 'oos' }] });
    await expect(readClinc150(file('clinc.json', '{"train":[]}'))).rejects.toMatchObject({ code: 'data_invalid' });
  });

  it('read paraphrases', async () => {
    const path = file('paraphrases.json', '[{"origin":"x","similar":"y"}]');
    expect(await readParaphrases(path)).toMatchObject([{ a: 'x', b: 'y', same: true }]);
    await expect(readParaphrases(file('paraphrases.json', '[{"origin":"x"}]'))).rejects.toMatchObject({
      code: 'data_invalid',
    });
  });
});
