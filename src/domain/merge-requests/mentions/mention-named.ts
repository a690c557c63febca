/** Merge requests as what mentions others in its texts (facts: References and closing). */
import type { Listener } from '../../../platform/outbox/outbox.ts';
import {
  changesTexts,
  commentListeners,
  type MentioningKind,
  projectWriter,
  writtenTexts,
} from '../../conversation/index.ts';
import { readMessages } from '../around/related-issues.ts';
import { selectCommitIds } from '../closing/queries.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

export const MENTION_NAMED = 'merge_requests.mention_named';

export const mentioningMergeRequests: MentioningKind<MergeRequestRow> = {
  type: 'MergeRequest',
  id: 'merge_request_id',
  find: selectMergeRequest,
  reads: async (_services, { project }) => project.may('read_merge_requests'),
  writer: projectWriter,
  /** A push brings messages alone, an edit none. */
  async texts(services, { project }, row, fact) {
    const said = fact.commits === undefined ? writtenTexts(row, fact) : [];
    return fact.changes === undefined ? [...said, ...(await readMessages(services, project, row))] : said;
  },
  /** Its own commits are not told. */
  async source({ database }, { project }, { id, iid }) {
    const commits = new Set(await selectCommitIds(database.background, id));
    return {
      home: { project, group: undefined },
      columns: { mentioned_in_merge_request_id: id },
      noteOn: (noteable) => {
        const path = noteable.project?.id === project.id ? '' : project.fullPath;
        return mergeRequestNotes.mentioned('merge request', `${path}!${iid}`);
      },
      has: (noteable) =>
        (noteable.kind.type === 'MergeRequest' && noteable.id === id) || commits.has(noteable.sha ?? ''),
    };
  },
};

/** Facts after which a merge request may name something new. */
export const mentionListeners: readonly Listener[] = [
  { fact: 'merge_request_created', task: MENTION_NAMED },
  ...['merge_request_updated', 'merge_request_closed', 'merge_request_reopened'].map((fact) => ({
    fact,
    task: MENTION_NAMED,
    when: changesTexts,
  })),
  { fact: 'merge_request_pushed', task: MENTION_NAMED },
  ...commentListeners(mentioningMergeRequests, MENTION_NAMED),
];
