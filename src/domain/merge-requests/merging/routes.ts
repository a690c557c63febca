/** Merging, and merging as soon as the checks pass. */

import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, Reply } from '../../../kernel/api/endpoint.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import type { MergeConditions } from '../mergeability/checks.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { MergeRequestRecord } from '../records/merge-request-records.ts';
import { mayMerge } from '../records/merge-rights.ts';
import { presentOne } from '../records/present-one.ts';
import { endAutoMerge } from '../writing/auto-merge-actions.ts';
import { refuseCancel } from './decide-merge.ts';
import { mergeMergeRequest } from './merge.ts';
import { rebaseMergeRequest } from './rebase.ts';
import { MergeInput } from './schema.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';

export const mergeEndpoints: Endpoint[] = [
  endpoint({
    method: 'PUT',
    path: `${path}/merge`,
    summary: 'Merges a merge request, or lets it be merged as soon as its checks pass.',
    access: onProject('create_merge_requests'),
    also: [405, 409, 422],
    input: MergeInput,
    reply: MergeRequestRecord,
    handle: async (context) => {
      const { subject, input } = context;
      const { auto_merge, merge_when_pipeline_succeeds } = input;
      const row = await mergeMergeRequest(context, subject, input.merge_request_iid, {
        mergeMessage: input.merge_commit_message,
        squashMessage: input.squash_commit_message,
        shouldRemoveSourceBranch: input.should_remove_source_branch,
        auto: auto_merge ?? merge_when_pipeline_succeeds ?? false,
        sha: input.sha,
        squash: input.squash ?? false,
      });
      return presentOne(context, subject, row);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/cancel_merge_when_pipeline_succeeds`,
    summary: 'Ends the waiting for an automatic merge.',
    access: onProject('create_merge_requests'),
    also: [405, 406],
    input: OneMergeRequest,
    reply: MergeRequestRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const may = await mayMerge(context, subject, row.target_branch);
      const refusal = refuseCancel(
        { mayMerge: may, isAuthor: row.author_id === actor.id },
        { state: row.state as MergeConditions['state'], isAutoMerge: row.auto_merge !== null },
      );
      if (refusal) throw refusal;
      const note = mergeRequestNotes.autoMergeCanceled();
      return presentOne(context, subject, await endAutoMerge(db, actor, subject, row.id, note));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/rebase`,
    summary: 'Makes the commits of the source branch again upon the target branch.',
    access: onProject('create_merge_requests'),
    also: [202, 409, 422],
    input: Type.Object({
      ...OneMergeRequest.properties,
      skip_ci: Type.Optional(Type.Boolean({ description: 'Skips the pipeline of the branch.' })),
    }),
    reply: Type.Object({ rebase_in_progress: Type.Boolean() }),
    handle: async (context) => {
      const { db, subject, input } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      await rebaseMergeRequest(context, subject, row, input.skip_ci);
      return new Reply(202, { rebase_in_progress: true });
    },
  }),
];
