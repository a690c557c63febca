/** Snippets of projects as noteables: their notes over the API. */

import { onProject } from '../../../kernel/access/access.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import {
  awardRules,
  conversationEndpoints,
  type NoteableDefinition,
  type NoteableResource,
  plainQuickActions,
  projectOf,
  textRules,
} from '../../conversation/index.ts';
import { selectInProject } from '../queries.ts';
import { snippetKind, snippetNoteable } from '../snippet-noteable.ts';
import { seesInProject } from '../snippet-policy.ts';
import { readsMentioningSnippet, readsSnippetOfNote } from './search-queries.ts';

const snippet: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The id of the snippet.' }),
  find: async ({ db, actor }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_project_snippets')) throw forbidden();
    const snippet = await selectInProject(db, project.id, Number(named))
      .where('ready', '=', true)
      .executeTakeFirst();
    if (!snippet || !seesInProject(actor, snippet, project.role)) throw notFound('Snippet');
    return snippetNoteable(project, snippet);
  },
};

export const snippetConversation = conversationEndpoints({
  ...snippet,
  path: '/projects/:id/snippets/:noteable_id',
  noun: 'a snippet',
  read: onProject('read_project_snippets'),
  write: onProject('create_notes'),
  notes: true,
  awards: snippet,
  internal: false,
  resolvable: false,
  positioned: false,
});

export const snippetDefinition: NoteableDefinition = {
  kind: snippetKind,
  quickActions: plainQuickActions([...awardRules, ...textRules]),
  mentions: { column: 'mentioned_in_snippet_id', isReadable: readsMentioningSnippet },
  readableNotes: readsSnippetOfNote,
};
