/** Snippets of projects as subjects of notification events: of notes on them. */

import { createCatalog } from '../../../kernel/mail/texts.ts';
import {
  type LoadedSubject,
  type Loading,
  type MailContents,
  type NotificationSubject,
  projectOf,
} from '../../notifications/index.ts';
import { type SnippetRow, selectOfEvent, snippetParticipants } from '../queries.ts';
import { snippetNoteable } from '../snippet-noteable.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

const texts = createCatalog({ en: english, de: german });

/** The contents of a mail about the snippet. Pure. */
export const snippetMail = (snippet: { id: number; title: string; url: string }): MailContents => ({
  target: {
    kind: 'snippet',
    key: snippet.id,
    url: snippet.url,
    title: `${snippet.title} ($${snippet.id})`,
    headers: { 'Snippet-ID': String(snippet.id) },
    texts,
  },
});

async function load({ services, context, row }: Loading): Promise<LoadedSubject | undefined> {
  // That of selectOfEvent(), whose times are not read.
  const snippet = row as SnippetRow | null;
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
  select: ({ projectId = 0, subject }) => selectOfEvent(projectId, subject.id ?? 0),
  load,
  participants: ({ subject }) => snippetParticipants(subject.id ?? 0),
};
