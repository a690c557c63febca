/** Archives of a tree, streamed as git makes them. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';
import { createCommitCache } from '../history/commit-cache.ts';
import type { GitFolder } from '../objects.ts';
import { outputOf, streamGit } from '../program/long-runs.ts';
import { gitEnvironment } from '../program/program.ts';
import { launch } from '../program/spawner.ts';
import { eachFile } from './listed-files.ts';

/** All names of formats that clients may use. */
export const archiveFormats = [
  'tar.gz',
  'tgz',
  'gz',
  'tar.bz2',
  'tbz',
  'tbz2',
  'tb2',
  'bz2',
  'tar',
  'zip',
] as const;
export type ArchiveFormat = (typeof archiveFormats)[number];

/** The file extension, the same for all names of a format. */
export const archiveEnding = (format: ArchiveFormat): 'tar' | 'zip' | 'tar.gz' | 'tar.bz2' => {
  if (format === 'tar' || format === 'zip') return format;
  return format.endsWith('gz') ? 'tar.gz' : 'tar.bz2';
};

export type ArchiveOrder = {
  commit: string;
  format: ArchiveFormat;
  /** The folder that contains everything. */
  prefix: string;
  /** Only this path and below; everything when empty. */
  path: string;
  /** Paths left out, with everything below. */
  exclude: readonly string[];
};

/** Whether a program for the format is installed: git itself has no bzip2. */
export async function canArchive(format: ArchiveFormat): Promise<boolean> {
  if (archiveEnding(format) !== 'tar.bz2') return true;
  const folders = gitEnvironment.PATH?.split(':') ?? [];
  const found = await Promise.allSettled(
    folders.map((folder) => access(join(folder, 'bzip2'), constants.X_OK)),
  );
  return found.some(({ status }) => status === 'fulfilled');
}

/** Bytes of the files in one archive: a few small objects can unpack to any size. */
const MAX_ARCHIVE_BYTES = 2 * 1_073_741_824;

const sizes = createCommitCache<number>(2_000);

/** 422 for a tree with too many or too large files for one archive. */
export async function refuseLargeArchive(git: GitFolder, tree: string): Promise<void> {
  const size = await sizes(`${git.folder} ${tree}`, async () => {
    let bytes = 0;
    await eachFile(git, tree, (file) => {
      bytes += file.size;
    });
    return bytes;
  });
  if (size > MAX_ARCHIVE_BYTES)
    throw new Failure('unprocessable', 'The files are too large for one archive. Ask for a path, or clone.');
}

/** The archive's bytes; destroying the stream ends its programs. */
export function streamArchive(folder: string, order: ArchiveOrder): Readable {
  const ending = archiveEnding(order.format);
  const bzipped = ending === 'tar.bz2';
  const made = streamGit(
    [
      'archive',
      `--format=${bzipped ? 'tar' : ending}`,
      `--prefix=${order.prefix}/`,
      order.commit,
      '--',
      // Literal: a path may begin with a colon or contain a star.
      ...(order.path === '' ? [] : [`:(literal)${order.path}`]),
      ...order.exclude.map((path) => `:(exclude,literal)${path}`),
    ],
    { folder },
  );
  return bzipped ? compress(made) : made;
}

function compress(tar: Readable): Readable {
  const starting = launch('bzip2', ['-c'], gitEnvironment, { niceness: 10 });
  const packed = outputOf(starting, 'bzip2');
  tar.on('error', (error) => packed.destroy(error));
  // A failed start shows in its output.
  starting.then(({ stdin }) => tar.pipe(stdin)).catch(() => {});
  return packed.once('close', () => tar.destroy());
}
