const QUOTE = '"';

/** The fields of one CSV line (RFC 4180 without line breaks in fields); undefined: a quoted field doesn't end. */
export function csvFields(line: string, separator: string): string[] | undefined {
  if (!line.includes(QUOTE)) return line.split(separator);
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    if (line[at] === QUOTE) {
      const field = quotedField(line, at + 1);
      if (field === undefined) return undefined;
      fields.push(field.text);
      at = field.end;
    } else {
      const end = line.indexOf(separator, at);
      fields.push(line.slice(at, end === -1 ? line.length : end));
      at = end === -1 ? line.length : end;
    }
    if (at >= line.length) return fields;
    if (line[at] !== separator) return undefined;
    at += 1;
    if (at === line.length) return [...fields, ''];
  }
}

function quotedField(line: string, start: number): { readonly text: string; readonly end: number } | undefined {
  let text = '';
  for (let from = start; ;) {
    const quote = line.indexOf(QUOTE, from);
    if (quote === -1) return undefined;
    text += line.slice(from, quote);
    if (line[quote + 1] !== QUOTE) return { text, end: quote + 1 };
    text += QUOTE;
    from = quote + 2;
  }
}

const SEPARATORS = [',', '\t', ';', ' '] as const;

/** The separator that a first line uses. */
export function separatorOf(line: string): string {
  return SEPARATORS.find((separator) => line.includes(separator)) ?? ',';
}
