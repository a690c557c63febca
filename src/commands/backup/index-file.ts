/**
 * The index of a backup lies beside it, as FILE.index: a line for each file of repositories and each blob that the backup has,
 * itself or by its base. A later backup borrows by it, without reading the backup, which may be encrypted for others.
 */

import { once } from 'node:events';
import { open, rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { indexOf } from '../../domain/backups/index.ts';
import { type Entry, FORMAT, type Listed, manifestLine, parseEntry, parseListed, placeOf } from './format.ts';

const END = 'end';

/** What an index is of, and what its backup borrows from. */
export type FirstLine = { id: string; base: string | null };

export type IndexWriting = {
  add(listed: Listed): Promise<void>;
  /** The file has its name then. */
  finish(): Promise<void>;
  discard(): Promise<void>;
};

export async function startIndex(file: string, first: FirstLine): Promise<IndexWriting> {
  const draft = `${indexOf(file)}.part`;
  const handle = await open(draft, 'w', 0o600);
  const output = handle.createWriteStream({ flush: true });
  let failed: unknown;
  output.on('error', (error) => {
    failed = error;
  });
  const put = async (line: string): Promise<void> => {
    if (failed) throw failed;
    if (!output.write(line)) await once(output, 'drain');
  };
  await put(`${JSON.stringify({ format: FORMAT, ...first })}\n`);
  return {
    add: (listed) => put(manifestLine(listed)),
    async finish() {
      output.end(`${END}\n`);
      await finished(output);
      await rename(draft, indexOf(file));
    },
    async discard() {
      output.destroy();
      await finished(output).catch(() => undefined);
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
  const damaged = () => new Error(`${path} is damaged: make a backup without --base`);
  const lines = linesOf(handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>);
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next().catch(() => ({ value: undefined, done: true }));
    if (done || value === undefined) throw damaged();
    return value;
  };
  let next: Listed | undefined;
  const advance = async (): Promise<void> => {
    const line = await nextLine();
    next = line === END ? undefined : parseListed(line);
    if (line !== END && !next) throw damaged();
  };
  let id = '';
  try {
    const [, found] = /^\{"format":1,"id":"([0-9a-f]{32})",/.exec(await nextLine()) ?? [];
    if (found === undefined) throw damaged();
    id = found;
    await advance();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    id,
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
    close: () => handle.close(),
  };
}
