/** Writes the commits, branches and tags of a description into a project's repository, beside what is there. */

import { projectRepository, recordPush, writeRefs } from '../../domain/repositories/index.ts';
import type { Needs } from '../../kernel/services.ts';
import { fitsLoose, writeLoose } from '../../platform/git/loose.ts';
import { isAncestor } from '../../platform/git/merging/merge.ts';
import { fullRef, NO_OBJECT } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import {
  commitObject,
  type NewObject,
  newBlob,
  readable,
  type Signature,
  tagObject,
  treeObject,
} from '../../platform/git/parse.ts';
import { readRefFiles } from '../../platform/git/ref-files.ts';
import { FOLDER_MODE } from '../../platform/git/trees.ts';
import type { RefUpdate } from '../../platform/git/write.ts';
import { type Folder, type History, type Leaf, personIn } from './history.ts';
import { emailOf } from './references.ts';
import type { SeedDocument } from './schema.ts';

export type Signer = (person: string) => { name: string; email: string };

/** Users of the document sign as it says; root, who may not be in it, as at the first start. */
export function signerOf(described: SeedDocument['users']): Signer {
  const users = new Map((described ?? []).map((user) => [user.username.toLowerCase(), user]));
  return (person) => {
    const user = users.get(person.toLowerCase());
    if (user) return { name: user.name ?? user.username, email: emailOf(user) };
    return personIn(person) ?? { name: 'Administrator', email: 'admin@example.com' };
  };
}

/** The objects of a history, and the ids of its commits in their order. */
export type Objects = { objects: NewObject[]; commits: string[]; refs: Map<string, string> };

/** `+0200` of a time, and its seconds since 1970. */
function timeOf(date: string): Pick<Signature, 'time' | 'zone'> {
  const [, sign = '+', hours = '00', minutes = '00'] = /([+-])(\d\d):(\d\d)$/.exec(date) ?? [];
  return { time: Math.floor(Date.parse(date) / 1_000), zone: `${sign}${hours}${minutes}` };
}

export async function objectsOf(history: History, signer: Signer): Promise<Objects> {
  const objects: NewObject[] = [];
  const blobs = new Map<Leaf, string>();
  const trees = new Map<Folder, string>();
  const keep = (object: NewObject): string => {
    objects.push(object);
    return object.oid;
  };
  const sign = (person: string, date: string): Signature => ({ ...signer(person), ...timeOf(date) });

  async function tree(folder: Folder): Promise<string> {
    const known = trees.get(folder);
    if (known !== undefined) return known;
    const entries = [];
    for (const [name, entry] of folder) {
      if (entry instanceof Map) entries.push({ mode: FOLDER_MODE, name, oid: await tree(entry) });
      else {
        const oid = blobs.get(entry) ?? keep(await newBlob(entry.text));
        blobs.set(entry, oid);
        entries.push({ mode: entry.mode, name, oid });
      }
    }
    const oid = keep(treeObject(entries));
    trees.set(folder, oid);
    return oid;
  }

  const commits: string[] = [];
  for (const { message, author, committer, date, committed, parents, files } of history.commits)
    commits.push(
      keep(
        readable(
          commitObject({
            tree: await tree(files),
            parents: parents.map((index) => commits[index] ?? ''),
            author: sign(author, date),
            committer: sign(committer, committed),
            message,
          }),
        ),
      ),
    );
  const refs = new Map<string, string>();
  for (const [name, index] of history.branches) refs.set(fullRef('branch', name), commits[index] ?? '');
  for (const [name, { commit, message, tagger, date }] of history.tags) {
    const object = commits[commit] ?? '';
    const tag = { object, type: 'commit', name, message: message ?? '', tagger: sign(tagger, date) };
    refs.set(fullRef('tag', name), message === undefined ? object : keep(tagObject(tag)));
  }
  return { objects, commits, refs };
}

/** A ref is elsewhere, and neither before nor behind what is described. */
export class Diverged extends Error {
  readonly ref: string;
  constructor(ref: string, at: string) {
    super(
      `${ref.replace(/^refs\/(heads|tags)\//, (_, kind) => (kind === 'heads' ? 'branch ' : 'tag '))} is at ${at.slice(0, 12)}, which is no part of what is described`,
    );
    this.ref = ref;
  }
}

/** Branches that have gone on since they were planted stay where they are; throws Diverged before anything is written. */
export async function writeHistory(
  services: Needs<'database' | 'settings' | 'repositories'>,
  project: { id: number; empty: boolean },
  branch: string,
  { objects, refs }: Objects,
): Promise<void> {
  if (refs.size === 0) return;
  await services.repositories.write(projectRepository(project.id), branch, async (git) => {
    const files = readRefFiles(git.folder);
    const updates: RefUpdate[] = [];
    const missing: RefUpdate[] = [];
    const made = new Set(objects.map(({ oid }) => oid));
    for (const [ref, after] of refs) {
      const before = await refAt(git, files, ref);
      if (before === after) {
        // A planting that ended before it was recorded.
        if (project.empty) updates.push({ ref, before: NO_OBJECT, after });
        continue;
      }
      const isBranch = ref.startsWith(fullRef('branch', ''));
      const isOlder = before === undefined || (isBranch && made.has(before));
      if (!isOlder && isBranch && (await hasGoneOn(git, after, before))) continue;
      if (!isOlder) throw new Diverged(ref, before);
      const update = { ref, before: before ?? NO_OBJECT, after };
      updates.push(update);
      missing.push(update);
    }
    if (updates.length === 0) return;
    const isNew = missing.every(({ before }) => before === NO_OBJECT);
    if (project.empty && isNew && fitsLoose(objects))
      await writeLoose(git.folder, objects, new Map(missing.map(({ ref, after }) => [ref, after])));
    else if (missing.length > 0) await writeRefs(git, objects, missing);
    // Nobody's push is no event, and starts no pipeline: what there is of these is described.
    const recorded = knowing(git, { objects, refs });
    await recordPush(services, project, undefined, recorded, updates);
  });
}

/** By the files of refs, where there are few: a process for each of a thousand repositories takes long. */
const refAt = async (
  git: GitFolder,
  files: ReadonlyMap<string, string> | undefined,
  ref: string,
): Promise<string | undefined> =>
  files ? files.get(Buffer.from(ref).toString('latin1')) : (await git.info(ref))?.oid;

/** The repository with what was just written, for which no process needs to be asked. */
function knowing(git: GitFolder, { objects, refs }: Pick<Objects, 'objects' | 'refs'>): GitFolder {
  const byId = new Map(objects.map((object) => [object.oid, object]));
  return {
    ...git,
    info: async (name) => {
      const object = byId.get(refs.get(name) ?? name);
      return object ? { oid: object.oid, type: object.type, size: object.content.length } : git.info(name);
    },
  };
}

/** The described commit may be one that is not there. */
const hasGoneOn = async (git: GitFolder, from: string, to: string): Promise<boolean> =>
  (await git.info(from)) !== undefined && (await isAncestor(git, from, to));
