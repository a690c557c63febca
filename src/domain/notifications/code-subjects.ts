/** Snippets and commits, whose notes are sent by mail. */
import { sql } from 'kysely';
import { commitNoteable } from '../../core/repositories/commit-noteable.ts';
import { projectRepository } from '../../core/repositories/containers.ts';
import { snippetNoteable } from '../../core/repositories/snippet-noteable.ts';
import type { Db } from '../../platform/db/database.ts';
import { findCommit } from '../../platform/git/refs.ts';
import { projectOf } from './notification-context.ts';
import { type Loading, noteSubject, type Subject } from './subjects.ts';

/** A note on a snippet of a project. */
export async function loadSnippet(loading: Loading): Promise<Subject | undefined> {
  const { services, context, job } = loading;
  const { subject } = job.event;
  const snippet = await services.database.background
    .selectFrom('snippets')
    .selectAll()
    .where('id', '=', subject.id ?? 0)
    .where('project_id', '=', context.id)
    .executeTakeFirst();
  if (!snippet) return undefined;
  const url = `${services.baseUrl()}/${context.fullPath}/-/snippets/${snippet.id}`;
  return noteSubject(loading, {
    authorId: snippet.author_id,
    assigneeIds: [],
    targetFor: (visitor) => snippetNoteable(projectOf(visitor), snippet),
    describe: async () => ({ kind: 'snippet', id: snippet.id, title: snippet.title, url }),
  });
}

/** Characters: git does not bound a message's first line, and the title becomes a header. */
const MAX_TITLE_LENGTH = 255;

/** The first line of the message. */
const titleOf = (message: string): string =>
  (message.split('\n', 1)[0] ?? '').slice(0, MAX_TITLE_LENGTH).toWellFormed();

/** The user with a confirmed address like the one in a commit. */
async function accountOf(db: Db, address: string): Promise<number | undefined> {
  const found = await db
    .selectFrom('emails')
    .select('user_id')
    .where(sql<boolean>`lower(email) collate "C" = ${address.toLowerCase()}`)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  return found?.user_id;
}

/** A note on a commit; the subject's author is the user with the commit's author address. */
export async function loadCommit(loading: Loading): Promise<Subject | undefined> {
  const { services, context, job } = loading;
  const { subject } = job.event;
  const { sha = '' } = subject;
  const stored = await services.database.background
    .selectFrom('projects')
    .select('repository_storage')
    .where('id', '=', context.id)
    .executeTakeFirst();
  const commit =
    stored &&
    (await services.repositories.read(projectRepository(context.id), stored.repository_storage, (git) =>
      findCommit(git, sha),
    ));
  if (!commit) return undefined;
  const title = titleOf(commit.message);
  const url = `${services.baseUrl()}/${context.fullPath}/-/commit/${commit.oid}`;
  return noteSubject(loading, {
    authorId: await accountOf(services.database.background, commit.author.email),
    assigneeIds: [],
    targetFor: (visitor) => commitNoteable(projectOf(visitor), { oid: commit.oid, title }),
    describe: async () => ({ kind: 'commit', sha: commit.oid, title, url }),
  });
}
