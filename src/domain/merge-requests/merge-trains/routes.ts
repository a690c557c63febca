/** Merge trains of a project that has none: no merge request is on one, and none gets on. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import { badRequest, conflict, forbidden, notFound } from '../../../platform/failure.ts';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { countedPage, PipelineBasic } from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { ListedMergeRequest } from '../records/merge-request-records.ts';
import { mayMerge } from '../records/merge-rights.ts';

const path = '/projects/:id/merge_trains';

const CarRecord = Type.Object({
  id: Type.Integer(),
  merge_request: ListedMergeRequest,
  user: UserBasic,
  pipeline: nullable(PipelineBasic),
  created_at: dateTime(),
  updated_at: dateTime(),
  target_branch: Type.String(),
  status: stringEnum(['idle', 'stale', 'fresh', 'merging', 'merged', 'skip_merged']),
  merged_at: nullable(dateTime()),
  duration: nullable(Type.Integer()),
});

const CarList = {
  scope: Type.Optional(stringEnum(['active', 'complete'])),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
};
const reading = onProject('read_merge_requests');

export const mergeTrainEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Merge requests on the merge trains of a project: there are none yet.',
    tier: 'premium',
    access: reading,
    page: 'offset',
    input: Type.Object(CarList),
    item: CarRecord,
    handle: async ({ page }) => countedPage(page, [], 0),
  }),
  listing({
    method: 'GET',
    path: `${path}/:target_branch`,
    summary: 'Merge requests on the merge train into a branch: there are none yet.',
    tier: 'premium',
    access: reading,
    page: 'offset',
    input: Type.Object({ target_branch: Type.String(), ...CarList }),
    item: CarRecord,
    handle: async ({ page }) => countedPage(page, [], 0),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/merge_requests/:merge_request_iid`,
    summary: 'A merge request on a merge train: 404, as none is on one.',
    tier: 'premium',
    access: reading,
    input: OneMergeRequest,
    reply: CarRecord,
    handle: async () => {
      throw notFound();
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/merge_requests/:merge_request_iid`,
    summary: 'Puts a merge request on a merge train: 400, as the project has none.',
    tier: 'premium',
    access: onProject('create_merge_requests'),
    also: [409],
    input: Type.Object({
      ...OneMergeRequest.properties,
      sha: Type.Optional(Type.String()),
      squash: Type.Optional(Type.Boolean()),
      when_pipeline_succeeds: Type.Optional(Type.Boolean()),
      auto_merge: Type.Optional(Type.Boolean()),
    }),
    reply: noContent,
    handle: async (context) => {
      const { db, subject, input } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      if (!(await mayMerge(context, subject, row.target_branch))) throw forbidden();
      if (input.sha !== undefined && input.sha !== row.head_sha)
        throw conflict(`SHA does not match HEAD of source branch: ${row.head_sha}`);
      throw badRequest('Merge trains are not enabled for this project');
    },
  }),
];
