/** Finds the description of a gem in its archive, a tar file, in bounded time and memory. */
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { tarMembers } from '../../../platform/archives/tar.ts';
import { ArchiveError } from '../../../platform/archives/zip-file.ts';
import { badRequest } from '../../../platform/failure.ts';

const unpack = promisify(gunzip);

/** Packed, and unpacked. */
const MAX_PACKED = 1_048_576;
const MAX_UNPACKED = 4_194_304;
const DESCRIPTION = 'metadata.gz';

/** The description of the gem on disk. 400 for what is no gem. */
export async function readDescription(path: string): Promise<string> {
  const source = createReadStream(path);
  try {
    // Nothing is unpacked on the way: it is as long as it came.
    for await (const { name, size, isFile, read } of tarMembers(source, Number.POSITIVE_INFINITY)) {
      if (!isFile || name !== DESCRIPTION) continue;
      if (size > MAX_PACKED) throw badRequest(`${DESCRIPTION} is too large`);
      const unpacked = await unpack(await read(), { maxOutputLength: MAX_UNPACKED }).catch(() => {
        throw badRequest(`${DESCRIPTION} is not packed by gzip, or too large when it is unpacked`);
      });
      return unpacked.toString('utf8');
    }
  } catch (error) {
    throw error instanceof ArchiveError ? badRequest(`gem is ${error.message}`) : error;
  } finally {
    source.destroy();
  }
  throw badRequest(`gem has no ${DESCRIPTION}`);
}
