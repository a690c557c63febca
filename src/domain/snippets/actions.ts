/** Making, changing and erasing snippets: the files by a commit in their own repository, the rest in one transaction. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { announce } from '../../kernel/activity/announce-actions.ts';
import { visibilityLevel } from '../../kernel/policy/roles.ts';
import { firstBranchName } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { notFound } from '../../platform/failure.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { mayNameNoteables } from '../conversation/index.ts';
import {
  authorOf,
  chooseStorage,
  countWrite,
  repositoryPath,
  snippetRepository,
} from '../repositories/index.ts';
import { commitEdits } from './files.ts';
import type { SnippetRow } from './queries.ts';
import { changesOf, checkFields, newFilesOf, readChanges } from './rules.ts';
import type { CreateInput, UpdateInput } from './schema.ts';
import { readSnippetFiles } from './snippet-files.ts';
import { checkSnippet } from './spam.ts';
import type { SnippetWriteContext } from './write-context.ts';

/** The audit event of a change; a personal snippet's is about its author. The fact is of texts that may name something. */
async function record(
  tx: Db,
  { actor, project }: Pick<SnippetWriteContext, 'actor' | 'project'>,
  snippet: SnippetRow,
  event: 'snippet_created' | 'snippet_updated' | 'snippet_destroyed',
  changes: Changes = {},
): Promise<void> {
  const { author_id: id } = snippet;
  const texts = (['title', 'description'] as const).filter((property) => property in changes);
  const mayName = texts.some((property) => mayNameNoteables(snippet[property] ?? ''));
  await announce(tx, {
    author: actor,
    audit: {
      entity: project
        ? { type: 'Project', id: project.id, path: project.fullPath }
        : { type: 'User', id, path: id === actor.id ? actor.username : await usernameOf(tx, id) },
      event,
      details: {
        target_id: snippet.id,
        target_type: project ? 'ProjectSnippet' : 'PersonalSnippet',
        target_details: snippet.title,
      },
    },
    ...(project &&
      mayName && {
        fact: {
          name: event,
          payload: { project_id: project.id, user_id: actor.id, snippet_id: snippet.id, changes: texts },
        },
      }),
  });
}

async function usernameOf(tx: Db, id: number): Promise<string> {
  const user = await tx.selectFrom('users').select('username').where('id', '=', id).executeTakeFirst();
  return user?.username ?? '';
}

const lockSnippet = (tx: Db, id: number): Promise<SnippetRow | undefined> =>
  tx.selectFrom('snippets').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();

type Changes = Partial<Pick<SnippetRow, 'title' | 'description' | 'visibility' | 'ready' | 'files'>>;

const listFiles = async (git: GitFolder, branch: string): Promise<string[]> => [
  ...(await readSnippetFiles(git, branch)).files.keys(),
];

/**
 * Writes the change, and announces it. Where files changed, they are read from the repository under the row's lock, so
 * that of several changes at once the row ends with the last one's files. 404 when the snippet is gone.
 */
const save = (
  context: SnippetWriteContext,
  id: number,
  changes: Changes,
  event: 'snippet_created' | 'snippet_updated',
  git?: GitFolder,
): Promise<SnippetRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const before = git && (await lockSnippet(tx, id));
    const files = before ? await listFiles(git, before.default_branch) : changes.files;
    if (files) await countWrite(tx, snippetRepository(id));
    const snippet = await tx
      .updateTable('snippets')
      .set({ ...changes, ...(files && { files }), updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (!snippet) throw notFound('Snippet');
    await record(tx, context, snippet, event, changes);
    return snippet;
  });

/** The new snippet. Its row is hidden until its files are in its repository, and is deleted when they do not get there. */
export async function createSnippet(
  context: SnippetWriteContext,
  input: CreateInput,
  request: HttpRequest,
): Promise<SnippetRow> {
  const { services, settings, actor, project } = context;
  const { db } = services.database;
  const visibility = input.visibility ?? settings.default_snippet_visibility;
  checkFields({
    title: input.title,
    visibility,
    restricted: settings.restricted_visibility_levels,
    admin: actor.admin,
  });
  const edits = readChanges(newFilesOf(input), settings.snippet_size_limit);
  const { title, description = null } = input;
  await checkSnippet(context, request, {
    title,
    description,
    visibility: visibilityLevel(visibility),
    edits,
  });
  const author = authorOf(actor);
  const time = now();
  const { id, default_branch } = await db
    .insertInto('snippets')
    .values({
      project_id: project?.id ?? null,
      author_id: actor.id,
      title: input.title,
      description: input.description ?? null,
      visibility: visibilityLevel(visibility),
      default_branch: firstBranchName(settings),
      repository_storage: chooseStorage(services, settings),
      created_at: time,
      updated_at: time,
    })
    .returning(['id', 'default_branch'])
    .executeTakeFirstOrThrow();
  try {
    return await services.repositories.write(snippetRepository(id), default_branch, async (git) => {
      await commitEdits(git, default_branch, edits, { message: 'Initial commit', author });
      // Nobody else writes to one that is not ready.
      const files = await listFiles(git, default_branch);
      return save(context, id, { title, description, ready: true, files }, 'snippet_created');
    });
  } catch (error) {
    await eraseUnready(db, sql`id = ${id}`);
    throw error;
  }
}

/** The changed snippet; omitted fields stay. 400 when another request changed the files meanwhile. */
export async function updateSnippet(
  context: SnippetWriteContext,
  snippet: SnippetRow,
  input: UpdateInput,
  request: HttpRequest,
): Promise<SnippetRow> {
  const { services, settings, actor } = context;
  const { title, description, visibility } = input;
  const level = visibility && visibilityLevel(visibility);
  checkFields({
    title,
    visibility: level === snippet.visibility ? undefined : visibility,
    restricted: settings.restricted_visibility_levels,
    admin: actor.admin,
  });
  const edits = readChanges(changesOf(snippet.files, input), settings.snippet_size_limit);
  const changes: Changes = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(level !== undefined && { visibility: level }),
  };
  await checkSnippet(context, request, { ...snippet, ...changes, edits }, snippet);
  if (edits.length === 0) return save(context, snippet.id, changes, 'snippet_updated');
  const author = authorOf(actor);
  const { id, default_branch: branch } = snippet;
  return services.repositories.write(snippetRepository(id), branch, async (git) => {
    await commitEdits(git, branch, edits, { message: 'Update snippet', author });
    return save(context, id, changes, 'snippet_updated', git);
  });
}

/** Deletes the snippet; `check` sees it first, under its lock. */
export const deleteSnippet = (
  context: SnippetWriteContext,
  { id }: SnippetRow,
  check: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const snippet = await lockSnippet(tx, id);
    if (!snippet) throw notFound('Snippet');
    check(snippet.updated_at);
    await ahead(tx).deleteFrom('snippets').where('id', '=', id).execute();
    await record(tx, context, snippet, 'snippet_destroyed');
  });

/**
 * Erases snippets whose files were never committed, and queues their folders for removal: there may be one
 * without a row. Folders of ready snippets are found by the removal of repositories without a container.
 */
async function eraseUnready(db: Db, which: RawBuilder<SqlBool>): Promise<void> {
  await inTransaction(db, async (tx) => {
    const gone = await tx
      .deleteFrom('snippets')
      .where('ready', '=', false)
      .where(which)
      .returning(['id', 'repository_storage'])
      .execute();
    if (gone.length === 0) return;
    const created_at = now();
    const removals = gone.map(({ id, repository_storage: storage }) => ({
      storage,
      folder: repositoryPath(snippetRepository(id)),
      created_at,
    }));
    await ahead(tx).insertInto('repository_removals').values(removals).execute();
  });
}

const HOUR = 3_600_000;
const BATCH = 1_000;

/** Erases unready snippets of interrupted processes, in batches: the rest wait for the next run. */
export const sweepUnready = (db: Db): Promise<void> =>
  eraseUnready(
    db,
    sql`id in (select id from snippets where not ready and created_at < ${new Date(now().getTime() - HOUR)} limit ${BATCH})`,
  );

/** Makes the snippets of a deleted user the ghost's. */
export async function reassignSnippets(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx)
    .updateTable('snippets')
    .set({ author_id: ghostId })
    .where('author_id', '=', userId)
    .execute();
}
