/** Compares a package.json in a tarball of npm with what was published, in bounded time and memory. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { tarMembers } from '../../../platform/archives/tar.ts';
import { ArchiveError } from '../../../platform/archives/zip-file.ts';
import { mismatchOf, namesDescription } from './rules.ts';

/** Of the tarball, unpacked, and of a description in it. */
const MAX_UNPACKED = 536_870_912;
const MAX_DESCRIPTION = 1_048_576;
/** Of what a header says of the file behind it. */
const MAX_HEADER = 65_536;
const CHUNK = 262_144;

const DESCRIPTION = /^[^/]*\/+package\.json$/i;

type Published = { name: string; version: string };

/** What is wrong with the descriptions in the archive: a client would take the last of several. Undefined for good ones. */
export async function tarballProblem(
  pieces: AsyncIterable<Buffer>,
  published: Published,
): Promise<string | undefined> {
  let isThere = false;
  for await (const { name, size, isFile, read } of tarMembers(pieces, MAX_UNPACKED)) {
    if (!isFile) {
      // Clients take kinds of files that are none here.
      if (DESCRIPTION.test(name)) return 'it is no plain file';
      if (size > MAX_HEADER) return 'a header is too large';
      if (size > 0 && namesDescription((await read()).toString('utf8'))) return 'it has a long name';
      continue;
    }
    if (!DESCRIPTION.test(name)) continue;
    if (size > MAX_DESCRIPTION) return 'it is too large';
    const problem = mismatchOf((await read()).toString('utf8'), published);
    if (problem !== undefined) return problem;
    isThere = true;
  }
  return isThere ? undefined : 'there is none';
}

/** The same of a file on disk. */
export async function readProblem(path: string, published: Published): Promise<string | undefined> {
  const source = createReadStream(path, { highWaterMark: CHUNK });
  const unpacked = createGunzip({ chunkSize: CHUNK });
  source.on('error', (error) => unpacked.destroy(error));
  try {
    return await tarballProblem(source.pipe(unpacked), published);
  } catch (error) {
    if (error instanceof ArchiveError) return `the tarball is ${error.message}`;
    const { code } = error as { code?: unknown };
    if (typeof code === 'string' && code.startsWith('Z_')) return 'the tarball is not packed by gzip';
    throw error;
  } finally {
    source.destroy();
    unpacked.destroy();
  }
}
