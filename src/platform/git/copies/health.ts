/** What a repository consists of: its references, objects, packs and the files that make reading them fast. */
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { longRuns } from '../program/program.ts';
import { eachOf, entriesOf } from './copy.ts';
import {
  type Bitmap,
  type CommitGraph,
  type MultiPackIndex,
  parseBitmap,
  parseCommitGraph,
  parseMultiPackIndex,
} from './health-headers.ts';

/** Unreachable objects are removed at that age. */
const STALE_MS = 14 * 86_400_000;

/** Bytes that are read of a file for its header. */
const HEADER_BYTES = 1_024;

export type Health = {
  size: number;
  references: { loose: number; packedBytes: number };
  objects: {
    recentBytes: number;
    staleBytes: number;
    keptBytes: number;
    packs: number;
    reverseIndexes: number;
    cruftPacks: number;
    keptPacks: number;
    loose: number;
    staleLoose: number;
    garbage: number;
  };
  commitGraph: CommitGraph | undefined;
  bitmap: Bitmap | undefined;
  multiPackIndex: MultiPackIndex | undefined;
  multiPackBitmap: Bitmap | undefined;
  /** When one of its files changed last. */
  changed: Date;
};

type File = { folder: string; name: string; bytes: number; changed: number };

/** All files with their sizes; those that go meanwhile have none. */
async function filesOf(root: string): Promise<File[]> {
  const files: File[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const here = folder;
    const names: string[] = [];
    for (const entry of await entriesOf(join(root, here))) {
      if (entry.isDirectory()) folders.push(join(here, entry.name));
      else if (entry.isFile()) names.push(entry.name);
    }
    await eachOf(names, async (name) => {
      const found = await stat(join(root, here, name)).catch(() => undefined);
      if (found) files.push({ folder: here, name, bytes: found.size, changed: found.mtimeMs });
    });
  }
  return files;
}

/** The beginning of a file; empty where it has gone. */
async function headerOf(path: string): Promise<Buffer> {
  const file = await open(path).catch(() => undefined);
  if (!file) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const linesOf = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

const sum = (files: readonly File[]): number => files.reduce((total, { bytes }) => total + bytes, 0);

const isLooseObject = ({ folder, name }: File): boolean =>
  /^objects\/[0-9a-f]{2}$/.test(folder) && /^[0-9a-f]{38}$/.test(name);

async function commitGraphOf(root: string): Promise<CommitGraph | undefined> {
  const info = join(root, 'objects/info');
  const chain = await linesOf(join(info, 'commit-graphs/commit-graph-chain'));
  const last = chain.at(-1);
  const path = last === undefined ? 'commit-graph' : `commit-graphs/graph-${last}.graph`;
  return parseCommitGraph(await headerOf(join(info, path)), Math.max(chain.length, 1));
}

/** Reads the folder as it is; `time` is the present one. It takes the place of a long run of git. */
export const readHealth = (root: string, time: Date): Promise<Health> =>
  longRuns.run(() => examine(root, time));

async function examine(root: string, time: Date): Promise<Health> {
  const files = await filesOf(root);
  const packFolder = files.filter(({ folder }) => folder === 'objects/pack');
  const ending = (suffix: string) => packFolder.filter(({ name }) => name.endsWith(suffix));
  const stems = (suffix: string) => new Set(ending(suffix).map(({ name }) => name.slice(0, -suffix.length)));
  const packs = ending('.pack');
  const [cruft, kept] = [stems('.mtimes'), stems('.keep')];
  const among = (set: ReadonlySet<string>) =>
    packs.filter(({ name }) => set.has(name.slice(0, -'.pack'.length)));
  const loose = files.filter(isLooseObject);
  const stale = loose.filter(({ changed }) => changed < time.getTime() - STALE_MS);
  const staleBytes = sum(stale) + sum(among(cruft));
  const objectBytes = sum(loose) + sum(packs);
  const garbage = files.filter(
    (file) =>
      (/^objects\/[0-9a-f]{2}$/.test(file.folder) && !isLooseObject(file)) ||
      (file.folder === 'objects/pack' && file.name.startsWith('tmp_')),
  );
  const header = async (found: readonly File[]) =>
    found[0] ? parseBitmap(await headerOf(join(root, 'objects/pack', found[0].name))) : undefined;
  const bitmaps = ending('.bitmap');
  const isOfMany = ({ name }: File) => name.startsWith('multi-pack-index-');
  return {
    size: sum(files),
    references: {
      loose: files.filter(({ folder }) => folder === 'refs' || folder.startsWith('refs/')).length,
      packedBytes: sum(files.filter(({ folder, name }) => folder === '' && name === 'packed-refs')),
    },
    objects: {
      recentBytes: objectBytes - staleBytes,
      staleBytes,
      keptBytes: sum(among(kept)),
      packs: packs.length,
      reverseIndexes: ending('.rev').length,
      cruftPacks: cruft.size,
      keptPacks: kept.size,
      loose: loose.length,
      staleLoose: stale.length,
      garbage: garbage.length,
    },
    commitGraph: await commitGraphOf(root),
    bitmap: await header(bitmaps.filter((file) => !isOfMany(file))),
    multiPackIndex: parseMultiPackIndex(await headerOf(join(root, 'objects/pack/multi-pack-index'))),
    multiPackBitmap: await header(bitmaps.filter(isOfMany)),
    changed: new Date(files.reduce((last, { changed }) => Math.max(last, Math.floor(changed)), 0)),
  };
}
