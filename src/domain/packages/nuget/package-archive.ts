/** Finds the description of a NuGet package in its archive, in bounded time and memory. */
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import {
  ArchiveError,
  asArchiveError,
  findEntry,
  openEntry,
  withZip,
} from '../../../platform/archives/zip-file.ts';
import { asBlob } from '../../../platform/blobs/blobs.ts';
import { badRequest } from '../../../platform/failure.ts';

const LARGEST = { bytes: 1_048_576, text: '1 MiB' };

const isNuspec = (path: string): boolean => /^[^/]+\.nuspec$/i.test(path);

/** The .nuspec of the archive on disk. 400 for what is no archive, and for one without it. */
export async function readNuspec(path: string): Promise<string> {
  const archive = await asBlob(await open(path));
  return withZip(archive, async (zip) => {
    const entry = await findEntry(zip, isNuspec);
    if (!entry) throw badRequest('package has no .nuspec');
    return await text(await openEntry(zip, entry, LARGEST));
  }).catch((thrown: unknown) => {
    const error = asArchiveError(thrown);
    throw error instanceof ArchiveError ? badRequest(`package: ${error.message}`) : error;
  });
}
