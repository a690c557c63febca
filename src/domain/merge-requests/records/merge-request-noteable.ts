/** Merge requests as noteables. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Noteable, NoteableKind } from '../../conversation/index.ts';
import { isReadByAnybody } from '../../spam/index.ts';
import type { MergeRequestRow } from './merge-request-rows.ts';
import { mergeRequestParticipants } from './noteable-queries.ts';

/** Where users subscribe to merge requests. */
export const mergeRequestSubscriptions = {
  column: 'merge_request_id',
  participants: mergeRequestParticipants,
} as const;

export const mergeRequestKind: NoteableKind = {
  name: 'merge request',
  type: 'MergeRequest',
  column: 'merge_request_id',
  numberedIn: 'merge_requests',
  countedIn: 'merge_requests',
  awardColumn: 'merge_request_id',
  isResolvable: true,
  mayResolve: ({ project, authorId }, actor) =>
    project?.may('update_merge_requests') === true || authorId === actor.id,
  hasTodos: true,
  subscriptions: mergeRequestSubscriptions,
  isPublic: ({ project }) => project !== undefined && isReadByAnybody(project, 'read_merge_requests'),
  readers:
    async () =>
    (_, { project }) =>
      project?.may('read_merge_requests') === true,
};

export const mergeRequestNoteable = (
  project: AuthorizedProject,
  row: Pick<MergeRequestRow, 'id' | 'iid' | 'title' | 'author_id' | 'discussion_locked'>,
): Noteable => ({
  ...newMergeRequestNoteable(project, row.author_id),
  id: row.id,
  iid: row.iid,
  title: row.title,
  locked: row.discussion_locked === true,
});

/** A merge request without a number yet, to decide who would see it. */
export const newMergeRequestNoteable = (project: AuthorizedProject, authorId: number): Noteable => ({
  kind: mergeRequestKind,
  id: undefined,
  sha: undefined,
  iid: undefined,
  title: '',
  confidential: false,
  authorId,
  locked: false,
  project,
  group: undefined,
});
