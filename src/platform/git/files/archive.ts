/** Archives of a tree, streamed as git makes them. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type Replacing, rewriteAsZip, rewriteTar } from '../../archives/tar-rewriting.ts';
import { MAX_ZIP_ENTRIES } from '../../archives/zip-writer.ts';
import { Failure } from '../../failure.ts';
import { createCommitCache } from '../history/commit-cache.ts';
import type { GitFolder } from '../objects.ts';
import { outputOf, streamGit } from '../program/long-runs.ts';
import { gitEnvironment } from '../program/program.ts';
import { launch } from '../program/spawner.ts';
import { eachFile, type ListedFile } from './listed-files.ts';

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

const LINK_MODE = '120000';

/** Bytes of the files in one archive: a few small objects can unpack to any size. */
const MAX_ARCHIVE_BYTES = 2 * 1_073_741_824;

const sizes = createCommitCache<number>(2_000);

/** 422 for a tree with too many or too large files for one archive; `beside` are bytes of others that come with them. */
export async function refuseLargeArchive(
  git: GitFolder,
  tree: string | undefined,
  beside = 0,
): Promise<void> {
  const sizeOf = (folder: string) =>
    sizes(`${git.folder} ${folder}`, async () => {
      let bytes = 0;
      await eachFile(git, folder, (file) => {
        bytes += file.size;
      });
      return bytes;
    });
  const size = tree === undefined ? 0 : await sizeOf(tree);
  if (size + beside <= MAX_ARCHIVE_BYTES) return;
  const without = beside > 0 ? ', leave large files out (include_lfs_blobs=false)' : '';
  throw new Failure(
    'unprocessable',
    `The files are too large for one archive. Ask for a path${without}, or clone.`,
  );
}

/** The archive's bytes; destroying the stream ends its programs. Some files are replaced where that is said. */
export function streamArchive(folder: string, order: ArchiveOrder, replacing?: Replacing): Readable {
  const ending = archiveEnding(order.format);
  const bzipped = ending === 'tar.bz2';
  const made = gitArchive(folder, order, bzipped || replacing ? 'tar' : ending);
  if (!replacing) return bzipped ? compress(made) : made;
  if (ending === 'zip') return Readable.from(rewriteAsZip(made, replacing), { objectMode: false });
  const tar = Readable.from(rewriteTar(made, replacing), { objectMode: false });
  if (ending === 'tar.gz') return zip(tar);
  return bzipped ? compress(tar) : tar;
}

/** Destroying it destroys what it comes from, and so ends git. */
function zip(tar: Readable): Readable {
  const packed = createGzip();
  tar.on('error', (error) => packed.destroy(error));
  return tar.pipe(packed).once('close', () => tar.destroy());
}

const gitArchive = (folder: string, order: ArchiveOrder, format: string): Readable =>
  streamGit(
    [
      'archive',
      `--format=${format}`,
      `--prefix=${order.prefix}/`,
      order.commit,
      '--',
      // Literal: a path may begin with a colon or contain a star.
      ...(order.path === '' ? [] : [`:(literal)${order.path}`]),
      ...order.exclude.map((path) => `:(exclude,literal)${path}`),
    ],
    { folder },
  );

function compress(tar: Readable): Readable {
  const starting = launch('bzip2', ['-c'], gitEnvironment, { niceness: 10 });
  const packed = outputOf(starting, 'bzip2');
  tar.on('error', (error) => packed.destroy(error));
  // A failed start shows in its output.
  starting.then(({ stdin }) => tar.pipe(stdin)).catch(() => {});
  return packed.once('close', () => tar.destroy());
}

/** The ids of files in the archive whose size is between the two; 422 where they are more than a zip file has. */
export async function filesOfSize(
  git: GitFolder,
  { path, exclude, commit, format }: ArchiveOrder,
  { least, most }: Replacing['sizes'],
): Promise<string[]> {
  const isBelow = (file: string, folder: string) => file === folder || file.startsWith(`${folder}/`);
  const isIn = ({ path: file }: ListedFile) =>
    (path === '' || isBelow(file, path)) && !exclude.some((folder) => isBelow(file, folder));
  const found: string[] = [];
  let files = 0;
  await eachFile(git, commit, (file) => {
    if (!isIn(file)) return;
    files += 1;
    if (file.mode !== LINK_MODE && file.size >= least && file.size <= most) found.push(file.oid);
  });
  if (files > MAX_ZIP_ENTRIES && archiveEnding(format) === 'zip' && found.length > 0)
    throw new Failure('unprocessable', 'These are too many files for one zip file. Ask for a tar file.');
  return found;
}
