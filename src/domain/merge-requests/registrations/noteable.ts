/** Merge requests as noteables: their notes over the API, quick actions, and references in system notes. */
import { sql } from 'kysely';
import { onProject } from '../../../kernel/access/access.ts';
import { forbidden } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import {
  awardRules,
  conversationEndpoints,
  followRules,
  type NoteableDefinition,
  type NoteableResource,
  plainQuickActions,
  projectOf,
  textRules,
} from '../../conversation/index.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestKind, mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { placeInDiff } from '../review/place-in-diff.ts';
import { writeThreadsResolved } from '../writing/thread-actions.ts';
import { readableMergeRequests } from './queries.ts';

const mergeRequest: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The number of the merge request in the project.' }),
  find: async ({ db }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_merge_requests')) throw forbidden();
    return mergeRequestNoteable(project, await findMergeRequest(db, project, Number(named)));
  },
};

export const mergeRequestConversation = conversationEndpoints({
  ...mergeRequest,
  path: '/projects/:id/merge_requests/:noteable_id',
  noun: 'a merge request',
  read: onProject('read_merge_requests'),
  write: onProject('create_notes'),
  notes: true,
  awards: mergeRequest,
  internal: true,
  resolvable: true,
  positioned: true,
});

export const mergeRequestDefinition: NoteableDefinition = {
  kind: mergeRequestKind,
  quickActions: plainQuickActions([...awardRules, ...followRules, ...textRules]),
  place: async (context, mergeRequest, sent) => ({
    position: (await placeInDiff(context, mergeRequest, sent)).position,
  }),
  threadsResolved: writeThreadsResolved,
  crossReferences: { sign: '!', readable: readableMergeRequests },
  readableNotes: (project) =>
    project.may('read_merge_requests') ? sql`t.merge_request_id is not null` : sql`false`,
};
