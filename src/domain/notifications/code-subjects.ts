/** Snippets and commits, of which people hear when somebody says something. */
import { sql } from 'kysely';
import { projectRepository } from '../../core/repositories/containers.ts';
import { commitTarget, snippetTarget } from '../../core/work/targets.ts';
import type { Db } from '../../platform/db/database.ts';
import { findCommit } from '../../platform/git/refs.ts';
import { projectOf } from './place.ts';
import { type Loading, noteSubject, type Subject } from './subjects.ts';

/** A note on a snippet of a project. */
export async function loadSnippet(loading: Loading): Promise<Subject | undefined> {
  const { services, place, hearing } = loading;
  const { subject } = hearing.occasion;
  if (subject.kind !== 'snippet') return undefined;
  const snippet = await services.database.background
    .selectFrom('snippets')
    .selectAll()
    .where('id', '=', subject.id)
    .where('project_id', '=', place.id)
    .executeTakeFirst();
  if (!snippet) return undefined;
  const url = `${services.baseUrl()}/${place.fullPath}/-/snippets/${snippet.id}`;
  return noteSubject(loading, {
    authorId: snippet.author_id,
    assigneeIds: [],
    targetFor: (visitor) => snippetTarget(projectOf(visitor), snippet),
    describe: async () => ({ kind: 'snippet', id: snippet.id, title: snippet.title, url }),
  });
}

/** Characters: git bounds no line of a message, and this one becomes a header. */
const LONGEST_TITLE = 255;

/** The first line of the message. */
const titleOf = (message: string): string =>
  (message.split('\n', 1)[0] ?? '').slice(0, LONGEST_TITLE).toWellFormed();

/** Whose confirmed address it is that a commit names as its author's. */
async function accountOf(db: Db, address: string): Promise<number | undefined> {
  const found = await db
    .selectFrom('emails')
    .select('user_id')
    .where(sql<boolean>`lower(email) collate "C" = ${address.toLowerCase()}`)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  return found?.user_id;
}

/** A note on a commit, whose author is who has the address that it names. */
export async function loadCommit(loading: Loading): Promise<Subject | undefined> {
  const { services, place, hearing } = loading;
  const { subject } = hearing.occasion;
  if (subject.kind !== 'commit') return undefined;
  const { sha } = subject;
  const stored = await services.database.background
    .selectFrom('projects')
    .select('repository_storage')
    .where('id', '=', place.id)
    .executeTakeFirst();
  const commit =
    stored &&
    (await services.repositories.read(projectRepository(place.id), stored.repository_storage, (git) =>
      findCommit(git, sha),
    ));
  if (!commit) return undefined;
  const title = titleOf(commit.message);
  const url = `${services.baseUrl()}/${place.fullPath}/-/commit/${commit.oid}`;
  return noteSubject(loading, {
    authorId: await accountOf(services.database.background, commit.author.email),
    assigneeIds: [],
    targetFor: (visitor) => commitTarget(projectOf(visitor), { oid: commit.oid, title }),
    describe: async () => ({ kind: 'commit', sha: commit.oid, title, url }),
  });
}
