/** The history of a repository as a seed describes it, so that it has the same commits when it is planted. */
import { isUtf8 } from 'node:buffer';
import { projectRepository } from '../../domain/repositories/index.ts';
import type { Needs } from '../../kernel/services.ts';
import { Failure } from '../../platform/failure.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import {
  type Commit,
  parseCommit,
  parseTag,
  type Signature,
  type TreeEntry,
} from '../../platform/git/parse.ts';
import { gitText } from '../../platform/git/program/program.ts';
import { listRefs } from '../../platform/git/refs.ts';
import { FOLDER_MODE, readTree } from '../../platform/git/trees.ts';
import { MAX_LENGTH } from './read-document.ts';
import type { SeedCommit, SeedFile, SeedProject } from './schema.ts';

/** Bytes of all files that are written out: no more could be read again. */
export type Room = { left: number };
export const newRoom = (): Room => ({ left: MAX_LENGTH });

const MAX_COMMITS = 10_000;

export type ReadHistory = {
  described: Pick<SeedProject, 'commits' | 'branches' | 'tags'>;
  /** Of commits in the description, by their object ids. */
  ids: ReadonlyMap<string, string>;
};

const nothing: ReadHistory = { described: {}, ids: new Map() };

/** `merges` are commits that planting makes again: a branch that ends with one is written as it was before. */
export const readHistory = async (
  { repositories }: Needs<'repositories'>,
  project: { id: number; repository_storage: string },
  merges: ReadonlySet<string>,
  room: Room,
): Promise<ReadHistory> =>
  (await repositories.read(projectRepository(project.id), project.repository_storage, (git) =>
    readAll(git, merges, room),
  )) ?? nothing;

async function readAll(git: GitFolder, merges: ReadonlySet<string>, room: Room): Promise<ReadHistory> {
  const branches = new Map<string, string>();
  for (const { name, oid } of await listRefs(git, 'branch'))
    branches.set(name, await beforeMerges(git, oid, merges));
  const tags = await readTags(git);
  const tips = [...branches.values(), ...tags.map(({ commit }) => commit)];
  if (tips.length === 0) return nothing;
  const input = `${tips.join('\n')}\n`;
  const args = ['rev-list', '--topo-order', '--reverse', `--max-count=${MAX_COMMITS + 1}`, '--stdin'];
  const ids = (await gitText(args, { folder: git.folder, input })).split('\n').filter(Boolean);
  if (ids.length > MAX_COMMITS) throw tooLarge(`a history of more than ${MAX_COMMITS} commits`);
  const names = new Map(ids.map((oid, index) => [oid, `c${index + 1}`]));
  const nameOf = (oid: string): string => names.get(oid) ?? '';
  const commits: SeedCommit[] = [];
  for (const oid of ids) {
    const commit = await commitAt(git, oid);
    const [parent] = commit.parents;
    const files = await changedFiles(
      git,
      parent === undefined ? undefined : (await commitAt(git, parent)).tree,
      commit.tree,
      room,
    );
    const author = personOf(commit.author);
    const date = dateOf(commit.author);
    const committer = personOf(commit.committer);
    const committed = dateOf(commit.committer);
    commits.push({
      id: nameOf(oid),
      message: commit.message,
      author,
      date,
      ...(committer !== author && { committer }),
      ...(committed !== date && { committed }),
      parents: commit.parents.map(nameOf),
      ...(Object.keys(files).length > 0 && { files }),
    });
  }
  const described = {
    commits,
    branches: Object.fromEntries(Array.from(branches, ([name, oid]) => [name, nameOf(oid)])),
    ...(tags.length > 0 && {
      tags: Object.fromEntries(
        tags.map(({ name, commit, about }) => [
          name,
          about ? { target: nameOf(commit), ...about } : nameOf(commit),
        ]),
      ),
    }),
  };
  return { described, ids: names };
}

const tooLarge = (what: string): Failure => new Failure('unprocessable', `A seed cannot hold ${what}.`);

async function commitAt(git: GitFolder, oid: string): Promise<Commit> {
  const object = await git.read(oid);
  if (object?.type !== 'commit') throw new Error(`${oid} is no commit`);
  return parseCommit(oid, object.content);
}

async function beforeMerges(git: GitFolder, head: string, merges: ReadonlySet<string>): Promise<string> {
  let at = head;
  while (merges.has(at)) at = (await commitAt(git, at)).parents[0] ?? at;
  return at;
}

type ReadTag = { name: string; commit: string; about?: { message: string; tagger?: string; date?: string } };

/** Those of commits. */
async function readTags(git: GitFolder): Promise<ReadTag[]> {
  const tags: ReadTag[] = [];
  for (const { name, oid } of await listRefs(git, 'tag')) {
    const object = await git.read(oid);
    if (object?.type === 'commit') tags.push({ name, commit: oid });
    if (object?.type !== 'tag') continue;
    const { type, object: commit, message, tagger } = parseTag(oid, object.content);
    if (type === 'commit')
      tags.push({
        name,
        commit,
        about: { message, ...(tagger && { tagger: personOf(tagger), date: dateOf(tagger) }) },
      });
  }
  return tags;
}

const personOf = ({ name, email }: Signature): string => `${name} <${email}>`;

/** ISO 8601 in the zone of the signature. */
export function dateOf({ time, zone }: Pick<Signature, 'time' | 'zone'>): string {
  const [, sign, hours = '00', minutes = '00'] = /^([+-])(\d\d)(\d\d)$/.exec(zone) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60);
  const local = new Date((time + offset) * 1_000).toISOString().slice(0, 19);
  return zone === '+0000' ? `${local}Z` : `${local}${zone.slice(0, 3)}:${minutes}`;
}

/** What the second tree has otherwise than the first; null for what it has no more. */
async function changedFiles(
  git: GitFolder,
  before: string | undefined,
  after: string | undefined,
  room: Room,
): Promise<Record<string, SeedFile>> {
  const changed: [string, SeedFile][] = [];
  async function compare(old: string | undefined, made: string | undefined, below: string): Promise<void> {
    if (old === made) return;
    const [left, right] = [await entriesOf(git, old), await entriesOf(git, made)];
    for (const name of new Set([...left.keys(), ...right.keys()])) {
      const [was, is] = [left.get(name), right.get(name)];
      if (was?.oid === is?.oid && was?.mode === is?.mode) continue;
      const path = `${below}${name}`;
      const folders = [was, is].map((entry) => (entry?.mode === FOLDER_MODE ? entry.oid : undefined));
      if (folders.some(Boolean)) await compare(folders[0], folders[1], `${path}/`);
      const [wasFile, isFile] = [was, is].map((entry) =>
        entry && entry.mode !== FOLDER_MODE ? entry : undefined,
      );
      if (isFile) changed.push([path, await fileOf(git, isFile, room)]);
      else if (wasFile) changed.push([path, null]);
    }
  }
  await compare(before, after, '');
  return Object.fromEntries(changed);
}

async function entriesOf(git: GitFolder, tree: string | undefined): Promise<Map<string, TreeEntry>> {
  const entries = tree === undefined ? [] : ((await readTree(git, tree)) ?? []);
  return new Map(entries.map((entry) => [entry.name, entry]));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: YAML would not give them back as they are.
const unwritable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;

async function fileOf(git: GitFolder, { oid, mode }: TreeEntry, room: Room): Promise<SeedFile> {
  const { content, type } = (await git.read(oid)) ?? {};
  if (!content || type !== 'blob') throw tooLarge('a submodule, or a file that is not there');
  room.left -= content.length;
  if (room.left < 0) throw tooLarge(`files of more than ${MAX_LENGTH / 1024 / 1024} MiB`);
  const text = isUtf8(content) ? content.toString('utf8') : undefined;
  const isText = text !== undefined && !unwritable.test(text);
  const plain = isText ? { content: text } : { base64: content.toString('base64') };
  if (mode === '100755') return { ...plain, executable: true };
  if (mode === '120000') return { ...plain, symlink: true };
  return isText ? text : plain;
}
