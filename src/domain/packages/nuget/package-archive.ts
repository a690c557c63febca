/** Finds the description of a NuGet package in its archive, in bounded time and memory. */
import { text } from 'node:stream/consumers';
import {
  ArchiveError,
  asArchiveError,
  findEntries,
  openEntry,
  withZipFile,
} from '../../../platform/archives/zip-file.ts';
import { badRequest } from '../../../platform/failure.ts';

const LARGEST = { bytes: 1_048_576, text: '1 MiB' };

const isNuspec = (path: string): boolean => /^[^/]+\.nuspec$/i.test(path);

/** The .nuspec of the archive on disk. 400 for what is no archive, and for one without it. */
export const readNuspec = (path: string): Promise<string> =>
  withZipFile(path, async (zip) => {
    const [entry, other] = await findEntries(zip, isNuspec, 2);
    if (!entry) throw badRequest('package has no .nuspec');
    // Programs might read the other one.
    if (other) throw badRequest('package has more than one .nuspec');
    return await text(await openEntry(zip, entry, LARGEST));
  }).catch((thrown: unknown) => {
    const error = asArchiveError(thrown);
    throw error instanceof ArchiveError ? badRequest(`package: ${error.message}`) : error;
  });
