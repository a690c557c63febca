/** Applies suggestions: one commit on their source branch, with which they are marked and their threads resolved. */
import { type AuthorizedProject, selectProjects } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { type Commit, newBlob } from '../../../platform/git/parse.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { editTree, findEntry } from '../../../platform/git/trees.ts';
import { mayComment, positionOf, setResolved } from '../../conversation/index.ts';
import {
  authorOf,
  draftCommit,
  sharedBranches,
  signatureOf,
  writeProject,
} from '../../repositories/index.ts';
import { mergeRequestKind, mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { applySuggestions, type ChosenSuggestion } from '../review/apply-suggestions.ts';
import { readFileLines } from '../review/file-lines.ts';
import { type CommitUser, suggestionAuthor, suggestionMessage } from '../review/suggestion-message.ts';
import { writeApplied } from './actions.ts';
import { appliabilityOf } from './present.ts';
import { type ChosenRow, selectSuggestions, selectThreads } from './queries.ts';

type ApplyContext = {
  services: Needs<'config' | 'database' | 'settings' | 'repositories' | 'registered'>;
  settings: ApplicationSettings;
  actor: Actor;
};

/** Of the files that one commit changes: they are in memory at once. */
const MAX_FILES_BYTES = 20 * 1_048_576;

/** A suggestion, and the project that the caller sees its merge request in. */
type Readable = ChosenRow & { target: AuthorizedProject };

/** Those of the ids, with their source; 404 with this text unless the caller sees all of them. */
async function findReadable(
  { services, actor }: ApplyContext,
  ids: readonly number[],
  missing: string,
): Promise<{ rows: Readable[]; source: AuthorizedProject | undefined }> {
  const { db, points } = services.database;
  const found = await selectSuggestions(db, ids);
  const paths = found.flatMap(({ target_path, source_path }) => [target_path, source_path ?? []].flat());
  const projects = await selectProjects(points, actor, 'read_project', [...new Set(paths)]);
  const rows = found.flatMap((row) => {
    const target = projects.get(row.target_path.toLowerCase());
    if (!target?.may('read_merge_requests')) return [];
    return row.internal && !target.may('read_internal_notes') ? [] : { ...row, target };
  });
  if (rows.length !== ids.length) throw new Failure('not_found', missing);
  return { rows, source: projects.get(rows[0]?.source_path?.toLowerCase() ?? '') };
}

const chosenOf = (row: ChosenRow, head: string | undefined): ChosenSuggestion => ({
  ...appliabilityOf(row, head !== undefined),
  branch: `${row.source_project_id} ${row.source_branch}`,
  isAtHead: positionOf(row)?.head_sha === head,
});

/** The files that are there, by their paths. */
async function readFiles(
  git: GitFolder,
  head: string,
  paths: ReadonlySet<string>,
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  let bytes = 0;
  for (const path of paths) {
    const file = await readFileLines(git, head, path);
    if (!file) continue;
    bytes += file.content.length;
    if (bytes > MAX_FILES_BYTES)
      throw new Failure('bad_request', 'The files are too large to be changed together.');
    files.set(path, file.content);
  }
  return files;
}

/** The tree of the commit with other contents at these paths, which have files there. */
async function changeFiles(git: GitFolder, { tree }: Commit, contents: ReadonlyMap<string, Buffer>) {
  const blobs = await Promise.all([...contents.values()].map(newBlob));
  const changes = await Promise.all(
    [...contents.keys()].map(async (name, at) => {
      const path = name.split('/');
      const mode = (await findEntry(git, tree, path))?.mode ?? '100644';
      return { path, entry: { mode, oid: blobs[at]?.oid ?? '' } };
    }),
  );
  const { oid, objects } = await editTree(git, tree, changes);
  return { tree: oid, objects: [...blobs, ...objects] };
}

/** Resolves the threads of the suggestions that the caller may resolve. */
async function resolveThreads(tx: Db, context: ApplyContext, rows: readonly Readable[]): Promise<void> {
  for (const [id, ofOne] of Map.groupBy(rows, ({ merge_request_id }) => merge_request_id)) {
    const [row] = ofOne;
    if (!row) continue;
    const noteable = mergeRequestNoteable(row.target, { ...row, id });
    const may = row.target.may('create_notes') && mayComment(noteable);
    if (!may || !mergeRequestKind.mayResolve?.(noteable, context.actor)) continue;
    const threads = await selectThreads(tx, id, [...new Set(ofOne.map((each) => each.discussion_id))]);
    await setResolved(tx, context, noteable, threads, true);
  }
}

/**
 * Makes one commit of the suggestions, or none. 404 with the text `missing` where the caller does not see one of them, 403
 * unless the caller may push to their branch, 400 for the first that cannot be applied.
 */
export async function applyToBranch(
  context: ApplyContext,
  ids: readonly number[],
  { missing, template }: { missing: string; template: string | undefined },
): Promise<ChosenRow[]> {
  const { services, settings, actor } = context;
  const { rows, source } = await findReadable(context, ids, missing);
  const [first] = rows;
  const branch = first?.source_branch ?? '';
  // Each is refused: of a fork that was deleted nothing is left.
  if (first?.source_project_id === null)
    applySuggestions(
      rows.map((row) => chosenOf(row, undefined)),
      new Map(),
    );
  if (!source) throw forbidden();
  const shared = await sharedBranches(context, source);
  if (!source.may('push_code') && !shared.has(branch)) throw forbidden();
  const applier: CommitUser = { id: actor.id, username: actor.username, ...authorOf(actor) };
  const authors = rows.map(({ author }) => author);
  const { row: project } = first?.target ?? source;
  const message = suggestionMessage(
    template?.trim() ? template : projectSettings(project).suggestion_commit_message,
    {
      branch,
      project: { name: project.name, path: project.path },
      paths: rows.map((row) => positionOf(row)?.new_path ?? ''),
      authors,
      applier,
    },
  );
  const commit = await writeProject<string>(
    services,
    settings,
    actor,
    source,
    async (git, guard) => {
      if (!guard.mayPush(branch)) throw forbidden();
      const head = await findBranch(git, branch);
      const chosen = rows.map((row) => chosenOf(row, head?.oid));
      const paths = new Set(chosen.map(({ path }) => path));
      const contents = applySuggestions(chosen, head ? await readFiles(git, head.oid, paths) : new Map());
      // Without a branch the first one was refused.
      if (!head) throw forbidden();
      const { tree, objects } = await changeFiles(git, head, contents);
      const { value, ...write } = draftCommit({
        branch,
        branchHead: head.oid,
        parents: [head.oid],
        tree,
        message,
        author: signatureOf(suggestionAuthor({ authors, applier })),
        committer: signatureOf(applier),
        objects,
      });
      return {
        ...write,
        value: value.oid,
        also: async (tx) => {
          await writeApplied(tx, ids, value.oid);
          await resolveThreads(tx, context, rows);
        },
      };
    },
    shared,
  );
  return rows.map((row) => ({ ...row, commit_sha: commit }));
}
