/** Snippets of projects as subjects of notification events: of notes on them. */
import { sql } from 'kysely';
import {
  type InLanguages,
  type LoadedSubject,
  type Loading,
  type MailContents,
  type NotificationSubject,
  projectOf,
  type SubjectWords,
} from '../../notifications/index.ts';
import { snippetNoteable } from '../snippet-noteable.ts';

const words: InLanguages<SubjectWords> = {
  en: {
    happened: { new_note: (who) => `${who} commented on a snippet` },
    replied: (who) => `${who} replied on a snippet`,
    open: 'View the snippet',
  },
  de: {
    happened: { new_note: (who) => `${who} hat ein Snippet kommentiert` },
    replied: (who) => `${who} hat zu einem Snippet geantwortet`,
    open: 'Snippet ansehen',
  },
};

/** The contents of a mail about the snippet. Pure. */
export const snippetMail = (snippet: { id: number; title: string; url: string }): MailContents => ({
  target: {
    kind: 'snippet',
    key: snippet.id,
    url: snippet.url,
    title: `${snippet.title} ($${snippet.id})`,
    headers: { 'Snippet-ID': String(snippet.id) },
    words,
  },
});

async function load({ services, context, job }: Loading): Promise<LoadedSubject | undefined> {
  const snippet = await services.database.background
    .selectFrom('snippets')
    .selectAll()
    .where('id', '=', job.event.subject.id ?? 0)
    .where('project_id', '=', context.id)
    .executeTakeFirst();
  if (!snippet) return undefined;
  const url = `${services.baseUrl()}/${context.fullPath}/-/snippets/${snippet.id}`;
  return {
    authorId: snippet.author_id,
    assigneeIds: [],
    reviewerIds: [],
    said: null,
    targetFor: (visitor) => snippetNoteable(projectOf(visitor), snippet),
    contents: async () => snippetMail({ id: snippet.id, title: snippet.title, url }),
  };
}

export const snippetSubject: NotificationSubject = {
  kind: 'snippet',
  load,
  participants: ({ subject }) => sql`select author_id as user_id from notes
    where snippet_id = ${subject.id ?? 0} and system_action is null`,
};
