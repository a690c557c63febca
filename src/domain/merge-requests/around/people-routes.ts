/** Who takes part in a merge request, and who reviews it. */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { presentUserBasic, UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { participantsEndpoint } from '../../conversation/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { selectReviewers } from './queries.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';

/** Facts: MR reviewer. */
const ReviewerRecord = Type.Object({
  user: UserBasic,
  state: stringEnum([
    'unreviewed',
    'reviewed',
    'requested_changes',
    'approved',
    'unapproved',
    'review_started',
  ]),
  created_at: dateTime(),
});

export const mergeRequestPeopleEndpoints: Endpoint[] = [
  participantsEndpoint({
    path: `${path}/participants`,
    summary: 'Who takes part in a merge request.',
    access: onProject('read_merge_requests'),
    input: OneMergeRequest,
    find: async ({ db, subject, input }) =>
      mergeRequestNoteable(subject, await findMergeRequest(db, subject, input.merge_request_iid)),
  }),
  listing({
    method: 'GET',
    path: `${path}/reviewers`,
    summary: 'Who is asked to review a merge request, and how far they are.',
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: ReviewerRecord,
    handle: async ({ db, services, settings, subject, input, page }) => {
      const { id } = await findMergeRequest(db, subject, input.merge_request_iid);
      const around = { baseUrl: services.baseUrl(), settings };
      return mapPage(await selectReviewers(db, id, page), ({ review_state, reviewed_since, ...user }) => ({
        user: presentUserBasic(around, user),
        // The table's check constraint admits these only.
        state: review_state as Static<typeof ReviewerRecord>['state'],
        created_at: reviewed_since.toISOString(),
      }));
    },
  }),
];
