import { inflateRawSync } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;

/**
 * One file out of a zip archive (stored or deflated; no zip64, no encryption). Throws an Error that says what is wrong with
 * the archive, or that the file isn't in it.
 *
 * @param {Buffer} archive
 * @param {string} name
 * @param {number} bytesMax
 * @returns {Buffer}
 */
export function readZipEntry(archive, name, bytesMax) {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== DIRECTORY_ENTRY)
      throw new Error('broken zip directory');
    const nameBytes = archive.readUInt16LE(at + 28);
    const entryName = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    if (entryName === name) return unpack(archive, at, bytesMax);
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no file ${name}`);
}

function findEnd(archive) {
  const first = Math.max(0, archive.length - END_BYTES - COMMENT_BYTES_MAX);
  for (let at = archive.length - END_BYTES; at >= first; at -= 1) {
    if (archive.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new Error('not a zip archive');
}

function unpack(archive, at, bytesMax) {
  const method = archive.readUInt16LE(at + 10);
  const packedBytes = archive.readUInt32LE(at + 20);
  const bytes = archive.readUInt32LE(at + 24);
  const header = archive.readUInt32LE(at + 42);
  if (bytes > bytesMax) throw new Error(`a file in the archive has ${bytes} bytes, more than ${bytesMax}`);
  if (header + 30 > archive.length || archive.readUInt32LE(header) !== LOCAL_HEADER)
    throw new Error('broken zip header');
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const packed = archive.subarray(start, start + packedBytes);
  if (packed.length !== packedBytes) throw new Error('the archive is cut short');
  if (method !== 0 && method !== 8) throw new Error(`unknown zip method ${method}`);
  const content = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: bytesMax });
  if (content.length !== bytes) throw new Error('a file in the archive has another size than its directory says');
  return content;
}
