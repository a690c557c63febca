/** Merge requests in activity feeds. */
import { sql } from 'kysely';
import type { ActivityTarget } from '../../../kernel/activity/targets.ts';
import { mergeRequestKind } from '../records/merge-request-noteable.ts';
import { shownMergeRequest } from './queries.ts';

export const mergeRequestActivityTarget: ActivityTarget = {
  type: mergeRequestKind.type,
  noteColumn: 'merge_request_id',
  abilities: ['read_merge_requests'],
  isVisible: (id) => sql`(v.read_merge_requests and exists (${shownMergeRequest(id)}))`,
  select: shownMergeRequest,
};
