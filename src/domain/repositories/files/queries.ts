/** Files at a revision: their paths, their descriptions, and their authors. */
import { Failure, invalid, notFound } from '../../../platform/failure.ts';
import { holdForRequest } from '../../../platform/fair-share.ts';
import { digestBlob } from '../../../platform/git/files/blobs.ts';
import { blame, type LineRange } from '../../../platform/git/history/blame.ts';
import { lengthOfCommit } from '../../../platform/git/history/history.ts';
import { lastCommitOf } from '../../../platform/git/history/last-commit.ts';
import type { GitFolder, ObjectInfo } from '../../../platform/git/objects.ts';
import { type Commit, parseCommit } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { entryType, findEntry } from '../../../platform/git/trees.ts';
import { digest } from '../../../platform/secret.ts';
import { presentBlamed } from './present.ts';
import type { BlameRecord, FileDescription, FileRecord } from './schema.ts';
import { pathComponents } from './tree-queries.ts';

/** The address of a file. */
export type FileAddress = { file_path: string; ref?: string | undefined };
export type FoundFile = {
  commit: Commit;
  path: string[];
  name: string;
  executable: boolean;
  info: ObjectInfo;
};

/** The file; 404 for a revision that is not there, and for a path at which there is no file. */
export async function findFile(git: GitFolder, { file_path, ref }: FileAddress): Promise<FoundFile> {
  const commit = await findCommit(git, ref || 'HEAD');
  if (!commit) throw notFound('Commit');
  const path = pathComponents(file_path);
  const entry = await findEntry(git, commit.tree, path);
  const info = entry && entryType(entry) === 'blob' ? await git.info(entry.oid) : undefined;
  if (!entry || !info) throw notFound('File');
  return { commit, path, name: entry.name, executable: entry.mode === '100755', info };
}

async function describe(
  git: GitFolder,
  { commit, path, name, executable, info }: FoundFile,
  ref: string | undefined,
  sha256: string,
): Promise<FileDescription> {
  return {
    file_name: name,
    file_path: path.join('/'),
    size: info.size,
    encoding: 'base64',
    content_sha256: sha256,
    ref: ref || 'HEAD',
    blob_id: info.oid,
    commit_id: commit.oid,
    last_commit_id: (await lastCommitOf(git, commit, path)) ?? commit.oid,
    execute_filemode: executable,
  };
}

/** The description of a file: all but its content. */
export async function describeFile(git: GitFolder, address: FileAddress): Promise<FileDescription> {
  const file = await findFile(git, address);
  return describe(git, file, address.ref, await digestBlob(git, file.info));
}

/** The file with its content; 422 for one too large. */
export async function readFile(git: GitFolder, address: FileAddress): Promise<FileRecord> {
  const file = await findFile(git, address);
  const content = await readBlob(git, file.info);
  const description = await describe(git, file, address.ref, digest(content).toString('hex'));
  return { ...description, content: content.toString('base64') };
}

/**
 * Hashed and written as JSON in one turn, while other requests wait; the public service also counts larger
 * files separately.
 */
const MAX_RECORD_BYTES = 10 * 1_048_576;

/** The bytes of a blob; 422 for more than fit into a record. */
export async function readBlob(git: GitFolder, info: ObjectInfo): Promise<Buffer> {
  if (info.size > MAX_RECORD_BYTES) throw tooLarge('Its raw content can be downloaded.');
  return (await git.read(info.oid, info))?.content ?? Buffer.alloc(0);
}

const tooLarge = (hint: string): Failure => new Failure('unprocessable', `The file is too large. ${hint}`);

const MAX_BLAMED_BYTES = 8 * 1_048_576;
/**
 * Characters of the commits in one response: each stands before every group of its lines, however long its
 * message is.
 */
const MAX_BLAMING_BYTES = 8 * 1_048_576;
/** Characters of a commit's record without its authors' texts. */
const PLAIN_RECORD = 400;

/** The commits of the lines; 400 for a range that is not inside the file. */
export async function blameFile(
  git: GitFolder,
  address: FileAddress,
  range: LineRange | undefined,
): Promise<BlameRecord[]> {
  const { commit, path, info } = await findFile(git, address);
  if (info.size > MAX_BLAMED_BYTES) throw tooLarge('Nobody can tell who wrote its lines.');
  if (range && range.end < range.start)
    throw invalid({ 'range[start]': ['must be less than or equal to range[end]'] });
  const blamed = await blame(git.folder, commit.oid, path.join('/'), range);
  if (!blamed) throw invalid({ range: ['is not inside the file'] });
  const commits = new Map<string, Commit>();
  for (const oid of new Set(blamed.map((each) => each.commit))) {
    const object = await git.read(oid);
    if (object) commits.set(oid, parseCommit(oid, object.content));
  }
  const lengths = new Map([...commits].map(([oid, each]) => [oid, lengthOfCommit(each) + PLAIN_RECORD]));
  const length = blamed.reduce((sum, { commit: oid }) => sum + (lengths.get(oid) ?? 0), 0);
  if (length > MAX_BLAMING_BYTES)
    throw new Failure(
      'unprocessable',
      'The commits that the lines came with are too long for one answer. Ask for fewer lines with range[start] and range[end].',
    );
  holdForRequest(length);
  return blamed.flatMap(({ commit: oid, lines }) => {
    const author = commits.get(oid);
    return author ? [presentBlamed(author, lines)] : [];
  });
}
