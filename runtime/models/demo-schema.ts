/** A JSON Schema as far as the demo model reads it. */
export type Schema = Record<string, unknown>;

/** What fills the places that a schema leaves open. */
export interface SchemaFiller {
  readonly text: string;
  readonly number: number;
}

const DEPTH_MAX = 16;
const ITEMS_MAX = 8;

/** A JSON value that fits a schema's types, constants, enumerations, required members and bounds; patterns are not tried. */
export function valueForSchema(schema: unknown, filler: SchemaFiller): unknown {
  return fill(schema, { root: schema, filler, depth: 0 });
}

interface Place {
  readonly root: unknown;
  readonly filler: SchemaFiller;
  readonly depth: number;
}

function fill(schema: unknown, place: Place): unknown {
  if (!isObject(schema) || place.depth > DEPTH_MAX) return null;
  const deeper = { ...place, depth: place.depth + 1 };
  if (typeof schema['$ref'] === 'string') return fill(resolve(place.root, schema['$ref']), deeper);
  if ('const' in schema) return schema['const'];
  const choices = [schema['enum'], schema['examples']].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(choices)) return choices[0];
  if ('default' in schema) return schema['default'];
  for (const combiner of ['anyOf', 'oneOf', 'allOf']) {
    const options = schema[combiner];
    if (Array.isArray(options) && options.length > 0)
      return fill({ ...schema, ...without(options[0], combiner, schema) }, deeper);
  }
  return fillType(schema, deeper);
}

/** The first option laid over the schema itself, less the combiner that led to it. */
function without(option: unknown, combiner: string, schema: Schema): Schema {
  const chosen = isObject(option) ? option : {};
  const properties = { ...asObject(schema['properties']), ...asObject(chosen['properties']) };
  const required = [...asList(schema['required']), ...asList(chosen['required'])];
  return { [combiner]: undefined, ...chosen, properties, required };
}

function fillType(schema: Schema, place: Place): unknown {
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(schema, place);
    case 'array': {
      const count = Math.min(Math.max(asNumber(schema['minItems'], 1), 0), ITEMS_MAX);
      return Array.from({ length: count }, () => fill(schema['items'] ?? { type: 'string' }, place));
    }
    case 'integer':
      return Math.trunc(bounded(schema, place.filler.number));
    case 'number':
      return bounded(schema, place.filler.number);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return fillString(schema, place.filler.text);
  }
}

function fillObject(schema: Schema, place: Place): Record<string, unknown> {
  const properties = asObject(schema['properties']);
  const required = asList(schema['required']).filter((name) => typeof name === 'string');
  const names = required.length > 0 ? required : Object.keys(properties);
  // A member named __proto__ must become a member.
  return Object.fromEntries(names.map((name) => [name, fill(properties[name] ?? { type: 'string' }, place)]));
}

function fillString(schema: Schema, text: string): string {
  const formats: Record<string, string> = {
    date: '2024-01-01',
    'date-time': '2024-01-01T00:00:00Z',
    time: '00:00:00Z',
  };
  const { format } = schema;
  if (typeof format === 'string' && formats[format] !== undefined) return formats[format];
  const long = text.padEnd(asNumber(schema['minLength'], 0), '.');
  return long.slice(0, asNumber(schema['maxLength'], long.length));
}

function bounded(schema: Schema, value: number): number {
  const low = asNumber(schema['minimum'], asNumber(schema['exclusiveMinimum'], -Infinity - 1) + 1);
  const high = asNumber(schema['maximum'], asNumber(schema['exclusiveMaximum'], Infinity) - 1);
  return Math.max(low, Math.min(high, value));
}

function typeOf(schema: Schema): unknown {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null';
  return type ?? (isObject(schema['properties']) ? 'object' : 'string');
}

function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let value = root;
  for (const step of reference.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Schema {
  return isObject(value) ? value : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asNumber(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
}
