/** The bytes of a snippet's files: read for a response, and changed by a commit. */
import type { Readable } from 'node:stream';
import { bytesOf, Reply } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { invalid, notFound } from '../../platform/failure.ts';
import { isLarge, streamBlob } from '../../platform/git/files/blobs.ts';
import { pathComponents } from '../../platform/git/names.ts';
import type { GitFolder, ObjectInfo } from '../../platform/git/objects.ts';
import { type NewObject, newBlob } from '../../platform/git/parse.ts';
import { findCommit } from '../../platform/git/refs.ts';
import { entryType, findEntry, PathConflict, type TreeChange } from '../../platform/git/trees.ts';
import { commitChanges, type Person, snippetRepository, streamLeased } from '../repositories/index.ts';
import type { SnippetRow } from './queries.ts';
import { changeFiles, type FileEdit } from './rules.ts';
import { readSnippetFiles } from './snippet-files.ts';

/**
 * One commit with the changes on the branch's present head; 400 where they do not fit, or another request was
 * faster.
 */
export async function commitEdits(
  git: GitFolder,
  branch: string,
  edits: readonly FileEdit[],
  commit: { message: string; author: Person },
): Promise<void> {
  const { head, files } = await readSnippetFiles(git, branch);
  const after = changeFiles(files.keys(), edits);
  const blobs = new Map<string, NewObject>();
  for (const [path, source] of after) if ('content' in source) blobs.set(path, await newBlob(source.content));
  const changes: TreeChange[] = [...files.keys()]
    .filter((path) => !after.has(path))
    .map((path) => ({ path: path.split('/'), entry: undefined }));
  for (const [path, source] of after) {
    const before = files.get('was' in source ? source.was : path);
    const oid = blobs.get(path)?.oid ?? before?.oid;
    if (oid === undefined || ('was' in source && source.was === path)) continue;
    changes.push({ path: path.split('/'), entry: { mode: before?.mode ?? '100644', oid } });
  }
  try {
    await commitChanges(git, { branch, head, changes, blobs: [...blobs.values()], ...commit });
  } catch (error) {
    if (error instanceof PathConflict) throw invalid({ files: [`${error.path} is in the way`] });
    throw error;
  }
}

/** As plain text, so that a browser does not show it as a page. */
const headers = { 'content-type': 'text/plain; charset=utf-8' };
export const RawSnippetFile = bytesOf('text/plain');

/** The bytes of a file at a revision; 404 when either does not exist. */
export async function readFile(
  services: Needs<'repositories' | 'log'>,
  snippet: SnippetRow,
  revision: string,
  path: string,
): Promise<Reply<Buffer | Readable>> {
  const key = snippetRepository(snippet.id);
  const reply = await services.repositories.read(key, snippet.repository_storage, async (git) => {
    const info = await findFile(git, revision, path);
    if (isLarge(info)) return streamFile(services, snippet, info);
    const blob = await git.read(info.oid);
    return new Reply<Buffer | Readable>(200, blob?.content ?? Buffer.alloc(0), headers);
  });
  if (!reply) throw notFound('File');
  return reply;
}

async function findFile(git: GitFolder, revision: string, path: string): Promise<ObjectInfo> {
  const commit = await findCommit(git, revision);
  if (!commit) throw notFound('Reference');
  const components = pathComponents(path);
  const entry = components && (await findEntry(git, commit.tree, components));
  const info = entry && entryType(entry) === 'blob' ? await git.info(entry.oid) : undefined;
  if (!info) throw notFound('File');
  return info;
}

async function streamFile(
  services: Needs<'repositories' | 'log'>,
  snippet: SnippetRow,
  { oid, size }: ObjectInfo,
): Promise<Reply<Buffer | Readable>> {
  const stream = await streamLeased(services, snippetRepository(snippet.id), (git) => streamBlob(git, oid));
  return new Reply<Buffer | Readable>(200, stream, { ...headers, 'content-length': String(size) });
}
