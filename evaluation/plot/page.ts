import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** One line of a chart. */
export interface ChartSeries {
  readonly name: string;
  /** By rising x. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Drawn as single points; absent: as a line. */
  readonly dots?: boolean;
  /** Drawn dashed and in black: a bound that the other lines can't pass. */
  readonly isBound?: boolean;
}

/** One part of a page, in the order of reading. */
export type PageSection =
  | { readonly kind: 'text'; readonly title?: string; readonly text: string }
  | {
      readonly kind: 'table';
      readonly title: string;
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
      /** Columns that hold numbers, 0-based. */
      readonly right?: readonly number[];
    }
  | {
      readonly kind: 'chart';
      readonly title: string;
      readonly xLabel: string;
      readonly yLabel: string;
      readonly series: readonly ChartSeries[];
      /** Largest x that is shown at first; dragging and a double click zoom. */
      readonly xMax?: number;
    };

export interface Page {
  readonly title: string;
  readonly sections: readonly PageSection[];
}

/** A page as one HTML file that needs no network: styles, data and the plotting library (uPlot, MIT) are in it. */
export async function htmlPage({ title, sections }: Page): Promise<string> {
  const require = createRequire(import.meta.url);
  const [library, libraryStyle] = await Promise.all([
    readFile(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8'),
    readFile(require.resolve('uplot/dist/uPlot.min.css'), 'utf8'),
  ]);
  const charts = sections.filter((section) => section.kind === 'chart');
  const script = `${library}\nconst charts = ${scriptJson(charts)};\n${DRAW}`;
  const style = `${libraryStyle}\n${STYLE}`;
  // The page holds texts of others: only our script and style may run, whatever they say.
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; img-src data:`;
  let chart = 0;
  const body = sections.map((section) =>
    section.kind === 'chart' ? chartHtml(section.title, chart++) : partHtml(section),
  );
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title><style>${style}</style></head><body>`,
    `<h1>${escaped(title)}</h1>`,
    ...body,
    `<script>${script}</script></body></html>`,
    '',
  ].join('\n');
}

function partHtml(section: Exclude<PageSection, { kind: 'chart' }>): string {
  if (section.kind === 'text') {
    const title = section.title === undefined ? '' : `<h2>${escaped(section.title)}</h2>`;
    return `<section>${title}<p>${escaped(section.text)}</p></section>`;
  }
  const { title, columns, rows, right = [] } = section;
  const cell = (tag: string, text: string, column: number): string =>
    `<${tag}${right.includes(column) ? ' class="number"' : ''}>${escaped(text)}</${tag}>`;
  const line = (tag: string, cells: readonly string[]): string =>
    `<tr>${cells.map((text, column) => cell(tag, text, column)).join('')}</tr>`;
  const body = rows.length === 0 ? '<p>None.</p>' : rows.map((row) => line('td', row)).join('\n');
  const table = rows.length === 0 ? body : `<table><thead>${line('th', columns)}</thead><tbody>${body}</tbody></table>`;
  return `<section><h2>${escaped(title)}</h2>${table}</section>`;
}

function chartHtml(title: string, index: number): string {
  return `<section><h2>${escaped(title)}</h2><div class="chart" id="chart-${index}"></div></section>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/gu, (character) => ENTITIES[character] ?? character);
}

/** JSON that can't end the script that it stands in. */
function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; }
h2 { margin-top: 2.2rem; font-size: 1.15rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { border-bottom: 1px solid #ddd; padding: 3px 8px; text-align: left; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
p { white-space: pre-line; }
`;

/** Runs in the page: one uPlot for each chart, over the joined x values of its series. */
const DRAW = `
const COLOURS = ['#0b6e99', '#c2410c', '#4d7c0f', '#7e22ce', '#525252', '#be123c', '#0d9488', '#a16207', '#1d4ed8', '#db2777',
  '#65a30d', '#9a3412', '#38bdf8', '#57534e', '#a78bfa', '#f59e0b'];
charts.forEach(({ xLabel, yLabel, series, xMax }, index) => {
  const data = uPlot.join(series.map(({ points }) => [points.map((p) => p[0]), points.map((p) => p[1])]));
  const target = document.getElementById('chart-' + index);
  new uPlot({
    width: Math.min(1060, target.clientWidth || 1060),
    height: 380,
    scales: { x: { time: false, ...(xMax === undefined ? {} : { range: (u, min, max) => [min, u.zoomed ? max : xMax] }) } },
    axes: [{ label: xLabel }, { label: yLabel }],
    series: [
      { label: xLabel },
      ...series.map(({ name, dots, isBound }, at) => ({
        label: name,
        stroke: isBound ? '#111111' : COLOURS[at % COLOURS.length],
        dash: isBound ? [8, 5] : undefined,
        width: dots ? 0 : 2,
        spanGaps: true,
        paths: dots ? () => null : undefined,
        points: { show: dots === true, size: 11, fill: isBound ? '#111111' : COLOURS[at % COLOURS.length] },
      })),
    ],
    hooks: { setSelect: [(u) => { u.zoomed = true; }] },
  }, data, target);
});
`;
