/** The ref that holds what merging would make. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { endpoint } from '../../../kernel/api/endpoint.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { updateMergeRef } from './merge-ref.ts';

export const mergeRefEndpoint = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/merge_ref',
  summary: 'The commit that merging would make; it is made where the branches have changed.',
  also: [422],
  access: onProject('read_merge_requests'),
  input: OneMergeRequest,
  reply: Type.Object({ commit_id: Type.String() }),
  handle: async ({ db, services, subject, input }) => {
    const row = await findMergeRequest(db, subject, input.merge_request_iid);
    return { commit_id: await updateMergeRef(services, subject, row) };
  },
});
