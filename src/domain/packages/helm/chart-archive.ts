/** Finds the description of a chart in its archive, a tar file packed by gzip, in bounded time and memory. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { tarMembers } from '../../../platform/archives/tar.ts';
import { ArchiveError } from '../../../platform/archives/zip-file.ts';
import { badRequest } from '../../../platform/failure.ts';

/** Of the archive, unpacked, and of the description. */
const MAX_UNPACKED = 67_108_864;
const MAX_DESCRIPTION = 65_536;

const DESCRIPTION = /^(?:\.\/)?[^/]+\/Chart\.yaml$/;

const broken = (): Error => badRequest('chart is not a tar file that gzip packed');

/** The first description right in a folder of the archive. 400 for what is no archive, and for one without it. */
export async function descriptionIn(pieces: AsyncIterable<Buffer>): Promise<string> {
  try {
    for await (const { name, size, isFile, read } of tarMembers(pieces, MAX_UNPACKED)) {
      if (!isFile || !DESCRIPTION.test(name)) continue;
      if (size > MAX_DESCRIPTION) throw badRequest('Chart.yaml is too large');
      return (await read()).toString('utf8');
    }
  } catch (error) {
    throw error instanceof ArchiveError ? badRequest(`chart is ${error.message}`) : error;
  }
  throw badRequest('chart has no Chart.yaml');
}

/** The same of a file on disk. */
export async function readDescription(path: string): Promise<string> {
  const source = createReadStream(path);
  const unpacked = createGunzip();
  source.on('error', (error) => unpacked.destroy(error));
  try {
    return await descriptionIn(source.pipe(unpacked));
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw typeof code === 'string' && code.startsWith('Z_') ? broken() : error;
  } finally {
    source.destroy();
    unpacked.destroy();
  }
}
