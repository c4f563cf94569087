import type { GenericRecord } from 'hazelcast-client';
import { assert } from '../../runtime/errors.ts';
import type { GridAttributes } from '../../runtime/ports/grid.ts';
import type { ClientPackage } from './cluster-link.ts';

const TYPE_NAME = 'reprise.vector.v1';
/** The field that the members index. */
export const POSITION_FIELD = 'position';
const VALUE_FIELD = 'value';
const CODE_DIGITS = 8;
const CODE_MAX = 0xffffffff;

/** Where the index finds an item: its scope, then its code in hex, so that one order serves both. */
export function positionOf(attributes: GridAttributes | undefined): string {
  return attributes === undefined ? '' : positionAt(attributes.scope, attributes.code);
}

export function positionAt(scope: string, code: number): string {
  assert(Number.isInteger(code) && code >= 0 && code <= CODE_MAX, 'a code is an unsigned 32-bit integer');
  return scope + code.toString(16).padStart(CODE_DIGITS, '0');
}

export function attributesAt(position: string): GridAttributes | undefined {
  const codeAt = position.length - CODE_DIGITS;
  const code = Number.parseInt(position.slice(codeAt), 16);
  return codeAt < 0 || Number.isNaN(code) ? undefined : { scope: position.slice(0, codeAt), code };
}

/** What the map of vectors holds: a compact record, whose position is in clear and whose value isn't. */
export function makeRecord(api: ClientPackage, position: string, value: Buffer): GenericRecord {
  const { Fields, GenericRecords } = api;
  return GenericRecords.compact(
    TYPE_NAME,
    { [POSITION_FIELD]: Fields.STRING, [VALUE_FIELD]: Fields.ARRAY_OF_INT8 },
    { [POSITION_FIELD]: position, [VALUE_FIELD]: value },
  );
}

/** The parts of a record; undefined for anything else. */
export function readRecord(stored: unknown): { readonly position: string; readonly value: Buffer } | undefined {
  if (!isRecord(stored)) return undefined;
  try {
    const position = stored.getString(POSITION_FIELD);
    const value = stored.getArrayOfInt8(VALUE_FIELD);
    return position === null || value === null ? undefined : { position, value };
  } catch {
    return undefined;
  }
}

function isRecord(stored: unknown): stored is GenericRecord {
  return typeof stored === 'object' && stored !== null && 'getString' in stored && 'getArrayOfInt8' in stored;
}
