export interface TableOptions {
  /** Columns that are aligned to the right, 0-based. */
  readonly right?: readonly number[];
  /** In front of each line. */
  readonly indent?: string;
}

/** Rows in aligned columns, two spaces between them; ends with a line break. Cells are taken as they are. */
export function table(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  }
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return options.right?.includes(column) === true ? cell.padStart(width) : cell.padEnd(width);
    });
    return `${options.indent ?? ''}${cells.join('  ')}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
}
