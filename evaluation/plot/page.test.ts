import { describe, expect, it } from 'vitest';
import { htmlPage } from './page.ts';

const PAGE = {
  title: 'A <title>',
  sections: [
    { kind: 'text', text: 'first' },
    { kind: 'table', title: 'T', columns: ['x'], rows: [['</script><img src=x onerror=alert(1)>']] },
    {
      kind: 'chart',
      title: 'C',
      xLabel: 'x',
      yLabel: 'y',
      series: [
        {
          name: '</script>',
          points: [
            [0, 1],
            [1, 2],
          ],
        },
      ],
    },
  ],
} as const;

describe('htmlPage', () => {
  it('names no address: all that it needs is in it', async () => {
    const html = await htmlPage(PAGE);
    expect(html).not.toMatch(/(?:src|href)\s*=\s*["']?(?:https?:)?\/\//u);
    expect(html).toContain("default-src 'none'");
  });

  it('shows the texts of others as texts', async () => {
    const html = await htmlPage(PAGE);
    expect(html).toContain('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;');
    expect(html).toContain('<h1>A &lt;title&gt;</h1>');
    expect(html.match(/<\/script>/gu)).toHaveLength(1);
  });

  it('is the same for the same content', async () => {
    expect(await htmlPage(PAGE)).toBe(await htmlPage(PAGE));
  });
});
