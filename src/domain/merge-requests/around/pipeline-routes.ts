/** The pipelines of a merge request. There are none yet, and none is made. */

import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { Failure } from '../../../platform/failure.ts';
import { countedPage, PipelineBasic } from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid/pipelines';

export const mergeRequestPipelineEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Pipelines of a merge request.',
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: PipelineBasic,
    handle: async ({ db, subject, input, page }) => {
      await findMergeRequest(db, subject, input.merge_request_iid);
      return countedPage(page, [], 0);
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Starts a pipeline for a merge request: 405 where there is none to start.',
    access: onProject('update_merge_requests'),
    also: [405],
    input: Type.Object({ ...OneMergeRequest.properties, async: Type.Optional(Type.Boolean()) }),
    reply: noContent,
    handle: async ({ db, subject, input }) => {
      await findMergeRequest(db, subject, input.merge_request_iid);
      throw new Failure('method_not_allowed', '405 Method Not Allowed');
    },
  }),
];
