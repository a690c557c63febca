/**
 * What whoever is about to push is told of the refs, read from the repository's files without a process. Whatever is not
 * plain there, or too much to be read at once, is left to git.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NO_OBJECT } from '../../platform/git/names.ts';
import { git } from '../../platform/git/program.ts';
import { FLUSH, pktLine } from './pkt-line.ts';

/** As git is told to hide them: they are ours. */
const HIDDEN = 'refs/ashlar/';
/** Files of single refs, and bytes of the file with the others: a few milliseconds. Repositories are tended long before. */
const MOST_LOOSE = 200;
const LARGEST_PACKED = 262_144;

/** Borrowed objects, cut-off history: git has more to say then than refs. */
const unusual = ['shallow', 'objects/info/alternates'];

class NotPlain extends Error {}

let learned: Promise<string> | undefined;

/** What this git can do, as it said itself when it was asked first. */
function readCapabilities(folder: string): Promise<string> {
  learned ??= git(['receive-pack', '--stateless-rpc', '--http-backend-info-refs', folder]).then((said) => {
    const [, capabilities] = /^[^\n]*?\0([^\n]*)\n/.exec(said.toString('utf8')) ?? [];
    if (capabilities === undefined) throw new NotPlain();
    return capabilities;
  });
  learned.catch(() => {
    learned = undefined;
  });
  return learned;
}

/** The text of a file; undefined when it is not there, or no longer. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function addLoose(folder: string, below: string, refs: Map<string, string>): void {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const name = `${below}/${entry.name}`;
    if (entry.isDirectory()) addLoose(folder, name, refs);
    else if (!name.endsWith('.lock')) {
      const text = textOf(join(folder, name));
      if (text === undefined) continue;
      if (refs.size >= MOST_LOOSE || !/^[0-9a-f]{40}\n$/.test(text)) throw new NotPlain();
      refs.set(name, text.slice(0, NO_OBJECT.length));
    }
  }
}

function addPacked(folder: string, refs: Map<string, string>): void {
  const path = join(folder, 'packed-refs');
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_PACKED) throw new NotPlain();
  for (const line of textOf(path)?.split('\n') ?? []) {
    // The header, and what tags lead to.
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue;
    const [, oid = '', name = ''] = /^([0-9a-f]{40}) (\S+)$/.exec(line) ?? [];
    if (name === '') throw new NotPlain();
    if (!refs.has(name)) refs.set(name, oid);
  }
}

/** The lines as `git receive-pack` gives them in the first version of the protocol; undefined where it shall do so itself. */
export async function readAdvertisement(folder: string): Promise<Buffer | undefined> {
  const refs = new Map<string, string>();
  try {
    const capabilities = await readCapabilities(folder);
    if (unusual.some((name) => existsSync(join(folder, name)))) return undefined;
    // Single refs first: one that is packed meanwhile is found in the file then.
    addLoose(folder, 'refs', refs);
    addPacked(folder, refs);
    const names = [...refs.keys()].filter((name) => !name.startsWith(HIDDEN)).sort();
    // Decoding replaces what is no text.
    if (names.some((name) => name.includes('\u{fffd}'))) return undefined;
    const [first = 'capabilities^{}', ...rest] = names;
    return Buffer.concat([
      pktLine(`${refs.get(first) ?? NO_OBJECT} ${first}\0${capabilities}\n`),
      ...rest.map((name) => pktLine(`${refs.get(name)} ${name}\n`)),
      FLUSH,
    ]);
  } catch {
    // A damaged repository, a folder that went while it was read: git says what there is to say.
    return undefined;
  }
}
