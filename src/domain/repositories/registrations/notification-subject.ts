/** Commits as subjects of notification events: of notes on them. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import {
  type InLanguages,
  type LoadedSubject,
  type Loading,
  type MailContents,
  type NotificationSubject,
  projectOf,
  type SubjectWords,
  shortSha,
} from '../../notifications/index.ts';
import { commitNoteable } from '../commits/commit-noteable.ts';
import { projectRepository } from '../store/containers.ts';

const words: InLanguages<SubjectWords> = {
  en: {
    happened: { new_note: (who) => `${who} commented on a commit` },
    replied: (who) => `${who} replied on a commit`,
    open: 'View the commit',
  },
  de: {
    happened: { new_note: (who) => `${who} hat einen Commit kommentiert` },
    replied: (who) => `${who} hat zu einem Commit geantwortet`,
    open: 'Commit ansehen',
  },
};

/** The contents of a mail about the commit. Pure. */
export const commitMail = (commit: { sha: string; title: string; url: string }): MailContents => ({
  target: {
    kind: 'commit',
    key: commit.sha,
    url: commit.url,
    title: `${commit.title} (${shortSha(commit.sha)})`,
    headers: { 'Commit-ID': commit.sha },
    words,
  },
});

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

/** The subject's author is the user with the commit's author address. */
async function load({ services, context, job }: Loading): Promise<LoadedSubject | undefined> {
  const { sha = '' } = job.event.subject;
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
  return {
    authorId: await accountOf(services.database.background, commit.author.email),
    assigneeIds: [],
    reviewerIds: [],
    said: null,
    targetFor: (visitor) => commitNoteable(projectOf(visitor), { oid: commit.oid, title }),
    contents: async () => commitMail({ sha: commit.oid, title, url }),
  };
}

export const commitSubject: NotificationSubject = {
  kind: 'commit',
  load,
  participants: ({ subject, projectId }) => sql`select author_id as user_id from notes
    where project_id = ${projectId ?? null} and commit_sha = ${subject.sha ?? ''} and system_action is null`,
};
