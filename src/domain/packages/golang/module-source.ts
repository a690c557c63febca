/** Go modules in a project's repository. */
import { Readable } from 'node:stream';
import { MAX_ZIP_ENTRIES, zipPieces } from '../../../platform/archives/zip-writer.ts';
import { Failure } from '../../../platform/failure.ts';
import { eachFile } from '../../../platform/git/files/listed-files.ts';
import { fullRef, isRefName } from '../../../platform/git/names.ts';
import { type GitFolder, MAX_OBJECT_BYTES } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { listRefs, peelToCommit } from '../../../platform/git/refs.ts';
import { entryType, FOLDER_MODE, findEntry, type PathEntry, walkTree } from '../../../platform/git/trees.ts';
import {
  type ModuleRequest,
  moduleFiles,
  newestOf,
  pseudoVersion,
  stampOf,
  tagOf,
  versionOfCommit,
  versionsAmong,
} from './rules.ts';

/** Of all files of a version: programs take no more. */
const MAX_BYTES = 500 * 1_048_576;
const MAX_DESCRIPTION = 16 * 1_048_576;

export type ModuleSource = {
  commit: string;
  time: Date;
  /** Of the folder of the module. */
  tree: string;
  /** Of the root of the repository. */
  root: string;
};

async function commitOf(
  git: GitFolder,
  request: ModuleRequest,
  version: string,
): Promise<Commit | undefined> {
  const pseudo = pseudoVersion(version);
  if (!pseudo) {
    const tag = tagOf(request, version);
    return isRefName(tag) ? peelToCommit(git, fullRef('tag', tag)) : undefined;
  }
  const commit = await peelToCommit(git, pseudo.commit);
  const isNamed = commit?.oid.startsWith(pseudo.commit) && stampOf(timeOf(commit)) === pseudo.time;
  return isNamed ? commit : undefined;
}

const timeOf = ({ committer }: Commit): Date => new Date(committer.time * 1_000);

/** The tags that are versions of a module, the oldest first. */
export const versionsOf = async (git: GitFolder, request: ModuleRequest): Promise<string[]> => {
  const tags = await listRefs(git, 'tag');
  return versionsAmong(
    tags.map(({ name }) => name),
    request,
  );
};

/** The newest version, or that of the commit on the default branch; undefined for an empty repository. */
export async function newestVersion(git: GitFolder, request: ModuleRequest): Promise<string | undefined> {
  const newest = newestOf(await versionsOf(git, request));
  if (newest !== undefined) return newest;
  const commit = await peelToCommit(git, 'HEAD');
  return commit && versionOfCommit(request.major, timeOf(commit), commit.oid);
}

/** The version of a module; undefined where it is not there. Modules of a later major version may be in a folder named by it. */
export async function findSource(
  git: GitFolder,
  request: ModuleRequest,
  version: string,
): Promise<ModuleSource | undefined> {
  const commit = await commitOf(git, request, version);
  if (!commit) return undefined;
  const below = request.major === 1 ? undefined : [...request.folder, `v${request.major}`];
  const inMajor = below && (await findEntry(git, commit.tree, [...below, 'go.mod']));
  const entry = await findEntry(git, commit.tree, inMajor && below ? below : request.folder);
  if (entry?.mode !== FOLDER_MODE) return undefined;
  // A module below the root has a go.mod.
  if (request.folder.length > 0 && !(await findEntry(git, entry.oid, ['go.mod']))) return undefined;
  return { commit: commit.oid, time: timeOf(commit), tree: entry.oid, root: commit.tree };
}

/** Its go.mod, or one that says its name alone. */
export async function readGoMod(git: GitFolder, { tree }: ModuleSource, module: string): Promise<Buffer> {
  const entry = await findEntry(git, tree, ['go.mod']);
  const info = entry && entryType(entry) === 'blob' ? await git.info(entry.oid) : undefined;
  if (!info) return Buffer.from(`module ${module}\n`);
  if (info.size > MAX_DESCRIPTION) throw tooLarge();
  return (await git.read(info.oid, info))?.content ?? Buffer.alloc(0);
}

const tooLarge = (): Failure => new Failure('unprocessable', 'The files are too large for a module.');

/** 422 for what is too large for a module. */
async function requireSmall(git: GitFolder, { tree }: ModuleSource): Promise<void> {
  const files: { path: string; mode: string; size: number }[] = [];
  await eachFile(git, tree, (file) => files.push(file));
  const kept = moduleFiles(files);
  const bytes = kept.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_BYTES || kept.length >= MAX_ZIP_ENTRIES || kept.some(({ size }) => size > MAX_OBJECT_BYTES))
    throw tooLarge();
}

const LICENSE = 'LICENSE';

async function* filesOf(git: GitFolder, { tree, root }: ModuleSource, folder: string) {
  const entries: PathEntry[] = [];
  for await (const entry of walkTree(git, tree)) entries.push(entry);
  const kept = moduleFiles(entries);
  // That of the repository, where the module has none of its own.
  const license = kept.some(({ path }) => path === LICENSE)
    ? undefined
    : await findEntry(git, root, [LICENSE]);
  if (license && moduleFiles([{ ...license, path: LICENSE }]).length > 0)
    kept.push({ ...license, path: LICENSE });
  for (const { path, oid } of kept) {
    const object = await git.read(oid);
    yield { name: `${folder}/${path}`, content: object?.content ?? Buffer.alloc(0) };
  }
}

/** The archive of the version; all of it is in the folder. 422 before its first byte for what is too large. */
export const streamModule = (git: GitFolder, source: ModuleSource, folder: string): Readable => {
  async function* pieces() {
    await requireSmall(git, source);
    yield* zipPieces(filesOf(git, source, folder));
  }
  return Readable.from(pieces(), { objectMode: false });
};
