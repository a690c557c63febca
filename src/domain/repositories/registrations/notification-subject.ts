/** Commits as subjects of notification events: of notes on them. */

import { createCatalog } from '../../../kernel/mail/texts.ts';
import { shortSha } from '../../../platform/git/commit-texts.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import {
  type LoadedSubject,
  type Loading,
  type MailContents,
  type NotificationSubject,
  projectOf,
} from '../../notifications/index.ts';
import { commitNoteable } from '../commits/commit-noteable.ts';
import { projectRepository } from '../store/containers.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };
import { accountOf, commitParticipants, selectStorage } from './queries.ts';

const texts = createCatalog({ en: english, de: german });

/** The contents of a mail about the commit. Pure. */
export const commitMail = (commit: { sha: string; title: string; url: string }): MailContents => ({
  target: {
    kind: 'commit',
    key: commit.sha,
    url: commit.url,
    title: `${commit.title} (${shortSha(commit.sha)})`,
    headers: { 'Commit-ID': commit.sha },
    texts,
  },
});

/** Characters: git does not bound a message's first line, and the title becomes a header. */
const MAX_TITLE_LENGTH = 255;

/** The first line of the message. */
const titleOf = (message: string): string =>
  (message.split('\n', 1)[0] ?? '').slice(0, MAX_TITLE_LENGTH).toWellFormed();

/** The subject's author is the user with the commit's author address. */
async function load({ services, context, job }: Loading): Promise<LoadedSubject | undefined> {
  const { sha = '' } = job.event.subject;
  const stored = await selectStorage(services.database.background, context.id);
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
  participants: ({ subject, projectId }) => commitParticipants(projectId ?? null, subject.sha ?? ''),
};
