import { badTrace, quoted } from '../bad-trace.ts';

interface NumberBounds {
  readonly least?: number;
  readonly most?: number;
  readonly isWhole?: boolean;
}

/** The values of a generator's spec, `name=value,…`; each is asked for by name, and one that nobody asked for is a mistake. */
export class SpecValues {
  readonly #spec: string;
  readonly #values: ReadonlyMap<string, string>;
  readonly #known: string[] = [];

  constructor(spec: string, body: string) {
    this.#spec = spec;
    const values = new Map<string, string>();
    for (const part of body === '' ? [] : body.split(',')) {
      const at = part.indexOf('=');
      if (at < 1) throw badTrace(spec, undefined, `${quoted(part)} is not name=value`);
      const name = part.slice(0, at).trim();
      if (values.has(name)) throw badTrace(spec, undefined, `${name} is given twice`);
      values.set(name, part.slice(at + 1).trim());
    }
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string, fallback: string): string {
    this.#known.push(name);
    return this.#values.get(name) ?? fallback;
  }

  number(name: string, fallback: number, { least = 0, most = Infinity, isWhole = false }: NumberBounds = {}): number {
    const text = this.text(name, String(fallback));
    const value = text === '' ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw badTrace(this.#spec, undefined, `${name}=${text} is not a number`);
    if (isWhole && !Number.isInteger(value))
      throw badTrace(this.#spec, undefined, `${name}=${text} is not a whole number`);
    if (value < least || value > most) {
      throw badTrace(this.#spec, undefined, `${name}=${text} is not between ${least} and ${most}`);
    }
    return value;
  }

  count(name: string, fallback: number, most: number): number {
    return this.number(name, fallback, { least: 1, most, isWhole: true });
  }

  share(name: string, fallback: number): number {
    return this.number(name, fallback, { most: 1 });
  }

  /** To be called once all were asked for. */
  checkAllKnown(): void {
    for (const name of this.#values.keys()) {
      if (this.#known.includes(name)) continue;
      throw badTrace(this.#spec, undefined, `there is no ${name}; there is ${this.#known.join(', ')}`);
    }
  }
}
