/** Snippets of projects as what mentions others in its texts (facts: References and closing). */
import type { Listener } from '../../../platform/outbox/outbox.ts';
import {
  commentListeners,
  type MentioningKind,
  projectWriter,
  writtenTexts,
} from '../../conversation/index.ts';
import { type SnippetRow, selectSnippetRows } from '../queries.ts';
import { seesInProject } from '../snippet-policy.ts';

export const MENTION_NAMED = 'snippets.mention_named';

export const mentioningSnippets: MentioningKind<SnippetRow> = {
  type: 'Snippet',
  id: 'snippet_id',
  find: async (db, id) => (await selectSnippetRows(db, [id]))[0],
  writer: projectWriter,
  reads: async (_services, { project, actor }, snippet) =>
    project.may('read_project_snippets') &&
    snippet.project_id === project.id &&
    seesInProject(actor, snippet, project.role),
  texts: async (_services, _writer, snippet, fact) => writtenTexts(snippet, fact),
  source: async (_services, { project }, { id }) => ({
    home: { project, group: undefined },
    columns: { mentioned_in_snippet_id: id },
    noteOn: (noteable) => {
      const path = noteable.project?.id === project.id ? '' : project.fullPath;
      return { action: 'cross_reference', body: `mentioned in snippet ${path}$${id}` };
    },
    // Texts name no snippets that would be told.
    has: () => false,
  }),
};

/** Facts after which a snippet may name something new. */
export const mentionListeners: readonly Listener[] = [
  { fact: 'snippet_created', task: MENTION_NAMED },
  { fact: 'snippet_updated', task: MENTION_NAMED },
  ...commentListeners(mentioningSnippets, MENTION_NAMED),
];
