import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw, inflateRawSync } from 'node:zlib';
import { assert } from '../../runtime/errors.ts';
import type { SealKey, SealOptions } from './options.ts';

/** Why a stored value can't be read. `version` and `key`: written by another version or under a key that this node lacks. */
export type UnreadableReason = 'type' | 'layout' | 'version' | 'unsealed' | 'key' | 'seal' | 'inflate';

/** A value as given, or why there is none. */
export type Opened = Uint8Array | UnreadableReason;

/** Where a value is stored; a seal holds at its place only. */
export interface Place {
  readonly map: string;
  readonly key: string;
  /** Where an index finds it; '' where none does. */
  readonly position: string;
}

/*
 * The layout, see docs/grid-layout.md:
 * magic 'RPV', version u8, flags u8, length of the key id u8, length of the value u32 LE, key id,
 * then the value, deflated where the flag says so; sealed: IV, ciphertext, tag.
 */
/** 'RPV' */
const MAGIC = 0x525056;
const MAGIC_BYTES = 3;
const VERSION = 1;
const FLAG_SEALED = 1;
const FLAG_DEFLATED = 2;
const HEADER_BYTES = 10;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const KEY_ID_BYTES_MAX = 255;
/** Larger values are neither stored nor believed in. */
export const VALUE_BYTES_MAX = 64 * 1024 * 1024;
/** Below this inflating costs less than a turn of the thread pool. */
const INFLATE_SYNC_BYTES_MAX = 64 * 1024;

/** What saves less isn't worth the inflating of every read. */
const DEFLATED_SHARE_MAX = 7 / 8;

const deflate = promisify<Uint8Array, object, Buffer>(deflateRaw);
const inflate = promisify<Uint8Array, object, Buffer>(inflateRaw);

interface LoadedKey {
  readonly idBytes: Buffer;
  readonly key: KeyObject;
}

/** Wraps values into what the grid stores, and opens it again: compressed, then sealed. */
export class Envelope {
  readonly #active: LoadedKey | undefined;
  readonly #keys = new Map<string, LoadedKey>();
  readonly #compressBytesMin: number;

  constructor(options: { readonly seal: SealOptions | undefined; readonly compressBytesMin: number }) {
    this.#compressBytesMin = options.compressBytesMin;
    const { seal } = options;
    if (seal === undefined) return;
    for (const each of [seal.active, ...seal.others]) {
      assert(!this.#keys.has(each.id), 'each sealing key has an id of its own');
      this.#keys.set(each.id, loadKey(each));
    }
    this.#active = this.#keys.get(seal.active.id);
  }

  /** At once where nothing is compressed. */
  wrap(value: Uint8Array, place: Place): Buffer | Promise<Buffer> {
    assert(value.byteLength <= VALUE_BYTES_MAX, 'no value is larger than the envelope can tell');
    return value.byteLength < this.#compressBytesMin
      ? this.#pack(value, value.byteLength, 0, place)
      : this.#compress(value, place);
  }

  /** At once but for large compressed values. */
  open(stored: unknown, place: Place): Opened | Promise<Opened> {
    if (!Buffer.isBuffer(stored)) return 'type';
    if (stored.length < HEADER_BYTES || stored.readUIntBE(0, MAGIC_BYTES) !== MAGIC) return 'layout';
    if (stored[MAGIC_BYTES] !== VERSION) return 'version';
    const flags = stored[4] as number;
    const bodyAt = HEADER_BYTES + (stored[5] as number);
    const sealed = (flags & FLAG_SEALED) !== 0;
    if ((flags & ~(FLAG_SEALED | FLAG_DEFLATED)) !== 0 || sealed !== bodyAt > HEADER_BYTES || stored.length < bodyAt)
      return 'layout';
    const body = sealed
      ? this.#unseal(stored, bodyAt, place)
      : this.#active === undefined
        ? stored.subarray(bodyAt)
        : 'unsealed';
    if (typeof body === 'string') return body;
    const length = stored.readUInt32LE(6);
    if ((flags & FLAG_DEFLATED) !== 0) return inflateTo(body, length);
    if (body.length !== length) return 'layout';
    // What was not deciphered is a view of what the socket read at once, which a kept value would hold in memory whole.
    return sealed ? body : new Uint8Array(body);
  }

  async #compress(value: Uint8Array, place: Place): Promise<Buffer> {
    const deflated = await deflate(value, { level: 1 });
    return deflated.length <= value.byteLength * DEFLATED_SHARE_MAX
      ? this.#pack(deflated, value.byteLength, FLAG_DEFLATED, place)
      : this.#pack(value, value.byteLength, 0, place);
  }

  #pack(body: Uint8Array, length: number, flags: number, place: Place): Buffer {
    const idBytes = this.#active?.idBytes;
    const header = Buffer.allocUnsafe(HEADER_BYTES + (idBytes?.length ?? 0));
    header.writeUIntBE(MAGIC, 0, MAGIC_BYTES);
    header[MAGIC_BYTES] = VERSION;
    header[4] = idBytes === undefined ? flags : flags | FLAG_SEALED;
    header[5] = idBytes?.length ?? 0;
    header.writeUInt32LE(length, 6);
    if (idBytes === undefined || this.#active === undefined) return Buffer.concat([header, body]);
    header.set(idBytes, HEADER_BYTES);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#active.key, iv);
    cipher.setAAD(associatedData(header, place));
    const ciphertext = cipher.update(body);
    cipher.final();
    return Buffer.concat([header, iv, ciphertext, cipher.getAuthTag()]);
  }

  #unseal(stored: Buffer, bodyAt: number, place: Place): Buffer | UnreadableReason {
    const key = this.#keys.get(stored.toString('utf8', HEADER_BYTES, bodyAt))?.key;
    if (key === undefined) return 'key';
    const textAt = bodyAt + IV_BYTES;
    const tagAt = stored.length - TAG_BYTES;
    if (tagAt < textAt) return 'layout';
    const decipher = createDecipheriv(CIPHER, key, stored.subarray(bodyAt, textAt), { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedData(stored.subarray(0, bodyAt), place));
    decipher.setAuthTag(stored.subarray(tagAt));
    const body = decipher.update(stored.subarray(textAt, tagAt));
    try {
      decipher.final();
    } catch {
      return 'seal';
    }
    return body;
  }
}

/** A value whose reason says that someone else can read it: it isn't ours to repair. */
export function isForeign(reason: UnreadableReason): boolean {
  return reason === 'version' || reason === 'key';
}

/** Binds a seal to the header before it and to its place, so that nothing sealed can be moved. */
function associatedData(header: Uint8Array, { map, key, position }: Place): Buffer {
  const place = `${map}\0${key}\0${position}`;
  const data = Buffer.allocUnsafe(header.length + Buffer.byteLength(place));
  data.set(header);
  data.write(place, header.length);
  return data;
}

/** Inflates to exactly `length` bytes and never further: what would grow past it is no value of ours. */
function inflateTo(body: Uint8Array, length: number): Opened | Promise<Opened> {
  if (length === 0 || length > VALUE_BYTES_MAX) return 'inflate';
  const bounds = { maxOutputLength: length };
  if (length > INFLATE_SYNC_BYTES_MAX)
    return inflate(body, bounds).then(
      (value): Opened => (value.length === length ? value : 'inflate'),
      (): Opened => 'inflate',
    );
  try {
    const value = inflateRawSync(body, bounds);
    return value.length === length ? value : 'inflate';
  } catch {
    return 'inflate';
  }
}

function loadKey({ id, key }: SealKey): LoadedKey {
  const idBytes = Buffer.from(id);
  assert(idBytes.length > 0 && idBytes.length <= KEY_ID_BYTES_MAX, 'the id of a sealing key has 1 to 255 bytes');
  assert(key.byteLength === KEY_BYTES, 'a sealing key has 32 bytes');
  return { idBytes, key: createSecretKey(key) };
}
