/** Unpacks archives that anybody may have made: into files whose names are numbers, in bounded time and space. */
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { tarMembers } from '../../../platform/archives/tar.ts';
import { ArchiveError } from '../../../platform/archives/zip-file.ts';
import type { DiskGuard } from '../../../platform/machine/disk.ts';
import { entryName, entryUse, isKnownVersion, VERSION } from './layout.ts';

/** What is wrong with an archive, for whoever brought it. */
export class BadArchive extends Error {}

export type UnpackedFile = { path: string; size: number };
export type Unpacked = {
  files: ReadonlyMap<string, UnpackedFile>;
  /** Entries that nobody reads. */
  passedOver: readonly string[];
};

const MAX_ENTRIES = 200_000;
/** Of those that are listed. */
const MAX_PASSED_OVER = 100;

async function writeMember(
  path: string,
  pieces: AsyncIterable<Buffer>,
  disk: Pick<DiskGuard, 'refuseWritesOf'>,
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of pieces) {
      await disk.refuseWritesOf(piece.length);
      await file.writeFile(piece);
    }
  } finally {
    await file.close();
  }
}

/** BadArchive for what is none, for what it must not have, and for more than `maximum` bytes. */
export async function unpackArchive(
  archive: Readable,
  folder: string,
  { maximum, disk }: { maximum: number; disk: Pick<DiskGuard, 'refuseWritesOf'> },
): Promise<Unpacked> {
  const files = new Map<string, UnpackedFile>();
  const passedOver: string[] = [];
  const gunzip = createGunzip();
  archive.on('error', (error) => gunzip.destroy(error)).pipe(gunzip);
  let entries = 0;
  try {
    for await (const member of tarMembers(gunzip, maximum, { longNames: true })) {
      const name = entryName(member.name);
      entries += 1;
      if (entries > MAX_ENTRIES) throw new BadArchive(`The archive has more than ${MAX_ENTRIES} entries.`);
      if (member.isFolder) {
        if (entryUse(name) === 'refused') throw new BadArchive('The archive has an entry outside of it.');
        continue;
      }
      if (!member.isFile)
        throw new BadArchive(
          `The archive has a link, or something else that is no file: ${name.slice(0, 100)}`,
        );
      const use = entryUse(name);
      if (use === 'refused') throw new BadArchive('The archive has an entry outside of it.');
      if (use === 'passed over') {
        if (passedOver.length < MAX_PASSED_OVER) passedOver.push(name);
        continue;
      }
      if (files.has(name)) throw new BadArchive(`The archive has two entries ${name}`);
      const path = join(folder, String(files.size));
      await writeMember(path, member.pieces(), disk);
      files.set(name, { path, size: member.size });
    }
  } catch (error) {
    throw inWords(error);
  } finally {
    archive.destroy();
    gunzip.destroy();
  }
  await refuseVersion(files);
  return { files, passedOver };
}

function inWords(error: unknown): unknown {
  if (error instanceof ArchiveError)
    return new BadArchive(`The archive is ${error.message}.`, { cause: error });
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^Z_|^ERR_STREAM_PREMATURE/.test(code)
    ? new BadArchive('The archive is no whole gzip file.', { cause: error })
    : error;
}

async function refuseVersion(files: ReadonlyMap<string, UnpackedFile>): Promise<void> {
  const version = files.get('VERSION');
  if (!version) throw new BadArchive('The archive has no file VERSION: it is no export.');
  const file = await open(version.path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(32), 0, 32, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    if (!isKnownVersion(text))
      throw new BadArchive(
        `Import version mismatch: Required ${VERSION} but was ${text.trim().replaceAll(/[^\w.]/g, '?')}`,
      );
  } finally {
    await file.close();
  }
}

/** Bytes of a line: what is longer would hold up all others while it is parsed. */
export const MAX_LINE_BYTES = 32 * 1_048_576;

export type Line =
  | { number: number; size: number; text: string }
  | { number: number; size: number; isTooLong: true };

/** Objects, lists and values of a line: what is more would hold up all others while it is read, and take all memory. */
const MAX_OBJECTS = 100_000;
const MAX_VALUES = 1_000_000;
/** Bytes that can have no more. */
const SURELY_FEW = 100_000;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('"\\,[{');

/** Whether JSON has more in it than is read, before it is parsed. Exported for its test alone. */
export function isTooMuch(json: Buffer): boolean {
  if (json.length <= SURELY_FEW) return false;
  let objects = 0;
  let values = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COMMA) values++;
    else if (byte === BRACKET || byte === BRACE) objects++;
  }
  return objects > MAX_OBJECTS || values > MAX_VALUES;
}

/** The lines of a file, numbered from one; those that are too long are not kept. */
export async function* linesOfFile({ path }: UnpackedFile): AsyncGenerator<Line> {
  let number = 1;
  let parts: Buffer[] = [];
  let size = 0;
  const take = (): Line => {
    const bytes = Buffer.concat(parts);
    const line: Line =
      size > MAX_LINE_BYTES || isTooMuch(bytes)
        ? { number, size, isTooLong: true }
        : { number, size, text: bytes.toString('utf8') };
    parts = [];
    size = 0;
    number += 1;
    return line;
  };
  const add = (part: Buffer): void => {
    size += part.length;
    if (size > MAX_LINE_BYTES) parts = [];
    else parts.push(part);
  };
  for await (const piece of createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, start)) {
      add(piece.subarray(start, end));
      start = end + 1;
      if (size > 0) yield take();
      else number += 1;
    }
    if (start < piece.length) add(piece.subarray(start));
  }
  if (size > 0) yield take();
}

/** Of the file of a project, or of a group. */
const MAX_JSON_BYTES = 4 * 1_048_576;

/** A small file as JSON; BadArchive where it is none. */
export async function jsonOfFile(
  { path, size }: UnpackedFile,
  name: string,
): Promise<Record<string, unknown>> {
  try {
    const bytes = size > MAX_JSON_BYTES ? undefined : await readFile(path);
    const parsed: unknown = bytes && !isTooMuch(bytes) && JSON.parse(bytes.toString('utf8'));
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch (error) {
    throw new BadArchive(`${name} is no JSON object.`, { cause: error });
  }
  throw new BadArchive(`${name} is no JSON object.`);
}
