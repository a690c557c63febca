/**
 * The index of a backup lies beside it, as FILE.index: a line for each file of repositories and each blob that the backup has,
 * itself or by its base. A later backup borrows by it, without reading the backup, which may be encrypted for others.
 */
import { open, rename, rm } from 'node:fs/promises';
import { pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { type Entry, FORMAT, type Listed, manifestLine, parseEntry, parseListed, placeOf } from './format.ts';

export const indexOf = (file: string): string => `${file}.index`;
const END = 'end';

export type IndexWriting = {
  add(listed: Listed): Promise<void>;
  /** The file has its name then. */
  finish(): Promise<void>;
  discard(): Promise<void>;
};

export async function startIndex(file: string, id: string): Promise<IndexWriting> {
  const draft = `${indexOf(file)}.part`;
  const handle = await open(draft, 'w', 0o600);
  const compressed = createZstdCompress();
  const done = pipeline(compressed, handle.createWriteStream({ flush: true }));
  done.catch(() => undefined);
  const put = async (line: string): Promise<void> => {
    if (!compressed.write(line))
      await Promise.race([new Promise((resolve) => compressed.once('drain', resolve)), done]);
  };
  await put(`${JSON.stringify({ format: FORMAT, id })}\n`);
  return {
    add: (listed) => put(manifestLine(listed)),
    async finish() {
      await put(`${END}\n`);
      compressed.end();
      await done;
      await rename(draft, indexOf(file));
    },
    async discard() {
      compressed.destroy();
      await done.catch(() => undefined);
      await rm(draft, { force: true });
    },
  };
}

async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = `${rest}${piece.toString('latin1')}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

export type BaseIndex = {
  /** Of the backup. */
  readonly id: string;
  /** What it lists at the place of the entry, by name. Entries are asked for in the order of a backup. */
  at(entry: Entry): Promise<ReadonlyMap<string, Listed>>;
  close(): Promise<void>;
};

/** Throws where there is none, or a damaged one. */
export async function openIndex(file: string): Promise<BaseIndex> {
  const path = indexOf(file);
  const handle = await open(path).catch(() => {
    throw new Error(`${path} is missing, by which a backup borrows from ${file}: make one without --base`);
  });
  const unpacked = pipe(
    handle.createReadStream({ autoClose: false }),
    createZstdDecompress(),
    () => undefined,
  );
  const lines = linesOf(unpacked as AsyncIterable<Buffer>);
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next().catch(() => ({ value: undefined, done: true }));
    if (done || value === undefined) throw new Error(`${path} is damaged: make a backup without --base`);
    return value;
  };
  const [, id] = /^\{"format":1,"id":"([0-9a-f]{32})"\}$/.exec(await nextLine()) ?? [''];
  let next: Listed | undefined;
  const advance = async (): Promise<void> => {
    const line = await nextLine();
    next = line === END ? undefined : parseListed(line);
    if (line !== END && !next) throw new Error(`${path} is damaged: make a backup without --base`);
  };
  await advance();
  return {
    id: id ?? '',
    async at(entry) {
      const place = placeOf(entry);
      const found = new Map<string, Listed>();
      while (next) {
        const there = placeOf(parseEntry(next.name));
        if (there > place) break;
        if (there === place) found.set(next.name, next);
        await advance();
      }
      return found;
    },
    async close() {
      unpacked.destroy();
      await handle.close();
    },
  };
}
