/**
 * Copies a bare repository to another folder. Only objects, refs and HEAD are copied: the configuration is
 * ours, and there are no hooks.
 */
import { constants, type Dirent } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { git } from '../program/program.ts';
import { layOut, syncFolder, writeSynced } from '../write.ts';

export type CopyOptions = {
  /** Hard-links object files where both folders are on one file system: git never writes to one again. */
  link?: boolean;
  /** Called with the bytes copied since the last call. */
  onProgress?(bytes: number): void;
  signal?: AbortSignal | undefined;
};

/** Above this size a file is copied in pieces, for progress and abort. */
const LARGE_FILE_BYTES = 16 * 1_048_576;
const PIECE_BYTES = 4 * 1_048_576;
const PIECES_AT_ONCE = 3;
const FILES_AT_ONCE = 16;
/** Maximum of new listings because files went away, or refs changed, under the copy. */
const MAX_LISTINGS = 20;

const packFile = /^pack-[0-9a-f]{40,64}\.(pack|idx|rev|bitmap|mtimes)$/;
const looseFolder = /^[0-9a-f]{2}$/;
const looseFile = /^[0-9a-f]{38,62}$/;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** All refs, `<oid> <name>` per line, sorted by name: bytes as latin1, as a name need not be UTF-8. */
export const allRefs = async (folder: string): Promise<string> =>
  (
    await git(['for-each-ref', '--format=%(objectname) %(refname)'], {
      folder,
      maximumOutput: 512 * 1_048_576,
    })
  ).toString('latin1');

/** Whether a text, in latin1, is that of HEAD: a ref or an id. */
export const isHead = (text: string): boolean =>
  /^(ref: refs\/[!-~\x80-\xff]+|[0-9a-f]{40,64})\n$/.test(text);

/** The text of HEAD; throws where it is damaged. */
export async function headOf(folder: string): Promise<string> {
  const head = await readFile(join(folder, 'HEAD'), 'latin1');
  if (!isHead(head)) throw new Error('HEAD is damaged');
  return head;
}

/** Empty for a folder that has gone. */
export const entriesOf = (folder: string): Promise<Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });

/** The object files below `objects`: packs, each index after its pack, and then loose objects. */
export async function objectFiles(objects: string): Promise<{ packs: string[]; loose: string[] }> {
  const loose: string[] = [];
  for (const { name: part } of await entriesOf(objects)) {
    if (!looseFolder.test(part)) continue;
    for (const { name } of await entriesOf(join(objects, part)))
      if (looseFile.test(name)) loose.push(`${part}/${name}`);
  }
  // Listed last: a concurrent repack moves objects from loose to packed, never the other way.
  const packs = (await entriesOf(join(objects, 'pack')))
    .map(({ name }) => name)
    .filter((name) => packFile.test(name))
    .sort((left, right) => Number(left.endsWith('.idx')) - Number(right.endsWith('.idx')))
    .map((name) => `pack/${name}`);
  return { packs, loose };
}

/** Bytes of a repository's object files. */
export async function sizeOf(folder: string): Promise<number> {
  const objects = join(folder, 'objects');
  const { packs, loose } = await objectFiles(objects);
  let bytes = 0;
  await eachOf([...packs, ...loose], async (name) => {
    const file = await stat(join(objects, name)).catch(() => undefined);
    bytes += file?.size ?? 0;
  });
  return bytes;
}

/** Runs `work` for every item, several at once; the first failure ends it when the running ones are done. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  let failed = false;
  const worker = async () => {
    for (const item of rest) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: FILES_AT_ONCE }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function linkUnlessElsewhere(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/** Copies one file; syncRepository() makes it durable. */
async function copyObjectFile(from: string, to: string, options: CopyOptions): Promise<void> {
  const { onProgress, signal } = options;
  signal?.throwIfAborted();
  if (options.link && (await linkUnlessElsewhere(from, to))) return;
  const { size } = await stat(from);
  if (size > LARGE_FILE_BYTES) return copyLarge(from, to, size, options);
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  onProgress?.(size);
}

/** Several pieces at once: the system copies one while the next is requested. */
async function copyLarge(
  from: string,
  to: string,
  size: number,
  { onProgress, signal }: CopyOptions,
): Promise<void> {
  const input = await open(from);
  try {
    const output = await open(to, 'wx', 0o444);
    try {
      let next = 0;
      const copyPieces = async () => {
        const piece = Buffer.allocUnsafe(PIECE_BYTES);
        while (next < size) {
          signal?.throwIfAborted();
          const at = next;
          next += PIECE_BYTES;
          const { bytesRead } = await input.read(piece, 0, Math.min(PIECE_BYTES, size - at), at);
          const { bytesWritten } = await output.write(piece, 0, bytesRead, at);
          if (bytesWritten < Math.min(PIECE_BYTES, size - at))
            throw new Error(`${to}: a piece was not written whole`);
          onProgress?.(bytesWritten);
        }
      };
      await eachOf(
        Array.from({ length: PIECES_AT_ONCE }, () => copyPieces),
        (work) => work(),
      );
    } finally {
      await output.close();
    }
  } finally {
    await input.close();
  }
}

/** Copies files that are not in `copied`, and adds them, until no listed file went away meanwhile. */
async function copyObjects(
  source: string,
  destination: string,
  copied: Set<string>,
  options: CopyOptions,
): Promise<void> {
  const folders = new Set<string>();
  for (let listing = 1; ; listing++) {
    let gone = false;
    const copyOne = async (name: string) => {
      try {
        await copyObjectFile(join(source, name), join(destination, name), options);
        copied.add(name);
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || listing === MAX_LISTINGS) throw error;
        gone = true;
      }
    };
    const { packs, loose } = await objectFiles(source);
    for (const name of loose) folders.add(dirname(name));
    for (const part of folders) await mkdir(join(destination, part), { recursive: true, mode: 0o700 });
    await eachOf(
      packs.filter((name) => !copied.has(name)),
      copyOne,
    );
    await eachOf(
      loose.filter((name) => !copied.has(name)),
      copyOne,
    );
    if (!gone) break;
  }
}

/** Removes incomplete packs: a repack may remove a pack under the copy. */
async function dropTorn(objects: string): Promise<void> {
  const { packs } = await objectFiles(objects);
  for (const name of packs) {
    const stem = name.replace(/\.[a-z]+$/, '');
    if (packs.includes(`${stem}.pack`) && packs.includes(`${stem}.idx`)) continue;
    await rm(join(objects, name), { force: true });
  }
}

/** Makes a copy durable: before this, a loss of power may lose it. */
export async function syncRepository(folder: string): Promise<void> {
  const objects = join(folder, 'objects');
  const { packs, loose } = await objectFiles(objects);
  await eachOf([...packs, ...loose], async (name) => {
    // Opened for reading: git's own files are not writable.
    const file = await open(join(objects, name));
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  });
  for (const part of new Set([...loose.map(dirname), 'pack', '.'])) await syncFolder(join(objects, part));
  await syncFolder(folder);
}

/**
 * Copies a repository to a new folder, whole or not at all, and not yet synced. Throws NoRepository without a
 * source, and the disk's error. The source may be written and repacked meanwhile: the copy has refs that did
 * not change while their objects were copied, so no repack can have dropped those.
 */
export async function copyRepository(
  source: string,
  destination: string,
  options: CopyOptions = {},
): Promise<void> {
  let refs = await allRefs(source);
  const head = await headOf(source);
  const draft = `${destination}.draft`;
  await rm(draft, { recursive: true, force: true });
  try {
    await layOut(draft, head);
    const objects = join(draft, 'objects');
    const copied = new Set<string>();
    for (let round = 1; ; round++) {
      await copyObjects(join(source, 'objects'), objects, copied, options);
      const after = await allRefs(source);
      if (after === refs) break;
      if (round === MAX_LISTINGS) throw new Error('The repository changes too fast to be copied.');
      refs = after;
    }
    await dropTorn(objects);
    if (refs !== '')
      await writeSynced(
        join(draft, 'packed-refs'),
        Buffer.from(`# pack-refs with: sorted \n${refs}`, 'latin1'),
      );
    await syncFolder(draft);
    await rename(draft, destination);
    await syncFolder(dirname(destination));
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}
