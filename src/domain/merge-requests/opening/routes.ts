/** Opening, showing, changing and deleting merge requests. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, noContent } from '../../../kernel/api/endpoint.ts';
import { forbidden } from '../../../platform/failure.ts';
import { requireUpdate } from '../changes/change-rights.ts';
import { requestedOf } from '../changes/requested.ts';
import { BODY_LIMIT, CreateMergeRequest, OneMergeRequest, UpdateMergeRequest } from '../changes/schema.ts';
import { findMergeRequest, findWithCommits } from '../records/find-queries.ts';
import { MergeRequestRecord } from '../records/merge-request-records.ts';
import { presentOne } from '../records/present-one.ts';
import { deleteMergeRequest } from '../writing/update-actions.ts';
import { openMergeRequest } from './open-merge-request.ts';
import { readWished } from './read-wished.ts';
import { updateMergeRequest } from './update-merge-request.ts';

const path = '/projects/:id/merge_requests';
const pathOfOne = `${path}/:merge_request_iid` as const;

export const mergeRequestEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'One merge request into a project.',
  access: onProject('read_merge_requests'),
  also: [422],
  input: Type.Object({
    ...OneMergeRequest.properties,
    render_html: Type.Optional(Type.Boolean({ description: 'Title and description as HTML, too.' })),
    include_diverged_commits_count: Type.Optional(
      Type.Boolean({ description: 'The number of commits that only the target branch has, too.' }),
    ),
    include_rebase_in_progress: Type.Optional(Type.Boolean()),
  }),
  reply: MergeRequestRecord,
  handle: async (context) => {
    const { db, subject, input } = context;
    const row = await findMergeRequest(db, subject, input.merge_request_iid);
    const wished = await readWished(context, subject, row, input);
    return presentOne(context, subject, row, ({ single }) => ({
      ...wished,
      first_contribution: single?.isFirstContribution ?? false,
      ...(input.include_rebase_in_progress && { rebase_in_progress: false }),
    }));
  },
});

export const mergeRequestOpeningEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    summary:
      'Opens a merge request from a branch of the project. What the caller may not set is passed over.',
    access: onProject('push_code'),
    also: [409, 422],
    bodyLimit: BODY_LIMIT,
    input: CreateMergeRequest,
    reply: MergeRequestRecord,
    handle: async (context) => {
      const { services, actor, subject: source, input } = context;
      const { title, source_branch, target_branch, target_project_id = source.id, ...sent } = input;
      const target =
        target_project_id === source.id
          ? source
          : await authorizeProject(
              services.database.points,
              actor,
              'create_merge_requests',
              target_project_id,
            );
      if (!target.may('create_merge_requests')) throw forbidden();
      const row = await openMergeRequest(context, {
        source,
        sourceProjectId: source.id,
        sourceBranch: source_branch,
        target,
        targetBranch: target_branch,
        title,
        requested: requestedOf(sent),
      });
      return presentOne(context, target, row);
    },
  }),
  mergeRequestEndpoint,
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes, closes or reopens a merge request. What the caller may not set is passed over.',
    access: onProject('create_merge_requests'),
    also: [409, 422],
    bodyLimit: BODY_LIMIT,
    input: UpdateMergeRequest,
    reply: MergeRequestRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { merge_request_iid, ...sent } = input;
      const changesTexts = sent.title !== undefined || sent.description !== undefined;
      const found = changesTexts
        ? await findWithCommits(db, subject, merge_request_iid)
        : { row: await findMergeRequest(db, subject, merge_request_iid), commits: [] };
      requireUpdate(subject, actor, found.row);
      const row = await updateMergeRequest(context, subject, found, requestedOf(sent));
      return presentOne(context, subject, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Removes a merge request: owners may.',
    access: onProject('delete_merge_requests'),
    input: OneMergeRequest,
    reply: noContent,
    handle: async (context) => {
      const { db, subject, input, unmodified } = context;
      const { id } = await findMergeRequest(db, subject, input.merge_request_iid);
      await deleteMergeRequest(context, subject, id, ({ updated_at }) => unmodified(updated_at));
      return null;
    },
  }),
];
