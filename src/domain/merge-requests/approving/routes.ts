/** Approvals of merge requests: shown, given, taken back. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, noContent } from '../../../kernel/api/endpoint.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { approve, resetApprovals, unapprove } from './actions.ts';
import { presentApprovals, presentState } from './present.ts';
import { findApprovals } from './queries.ts';
import { ApprovalsRecord, ApproveInput, SettingsOfOne, StateRecord } from './schema.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid';
const reading = onProject('read_merge_requests');
// Who opens merge requests is a reader with an account; the handlers ask for the rest.
const writing = onProject('create_merge_requests');

export const approvalEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: `${path}/approvals`,
    summary: 'Who approved a merge request, and from premium up which approvals it needs.',
    access: reading,
    input: OneMergeRequest,
    reply: ApprovalsRecord,
    handle: async (context) => {
      const { db, subject, input } = context;
      return presentApprovals(context, subject, await findMergeRequest(db, subject, input.merge_request_iid));
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/approval_state`,
    summary: 'The approval rules that hold for a merge request, and how far each is met.',
    tier: 'premium',
    access: reading,
    input: OneMergeRequest,
    reply: StateRecord,
    handle: async (context) => {
      const { subject, input } = context;
      return presentState(context, await findApprovals(context, subject, input.merge_request_iid));
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/approval_settings`,
    summary: 'The approval rules that hold for a merge request, or would with another target branch.',
    tier: 'premium',
    deprecated: { use: `${path}/approval_state` },
    access: reading,
    input: Type.Object({
      ...OneMergeRequest.properties,
      target_branch: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'The branch that rules are for, instead of its own.' }),
      ),
    }),
    reply: SettingsOfOne,
    handle: async (context) => {
      const { subject, input } = context;
      const { merge_request_iid: iid, target_branch: branch } = input;
      const state = await presentState(context, await findApprovals(context, subject, iid, branch));
      const rules = state.rules.map((rule) => ({ ...rule, approvers: rule.eligible_approvers }));
      return { ...state, rules };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/approve`,
    summary: 'Approves a merge request; 401 for who approved it already, or whose approval does not count.',
    access: writing,
    also: [409],
    input: ApproveInput,
    reply: ApprovalsRecord,
    handle: async (context) => {
      const { subject, input } = context;
      const row = await approve(context, subject, {
        iid: input.merge_request_iid,
        sha: input.sha,
        password: input.approval_password,
        publishesReview: input.publish_review ?? false,
      });
      return presentApprovals(context, subject, row);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/unapprove`,
    summary: "Takes the caller's approval of a merge request back.",
    access: writing,
    input: OneMergeRequest,
    reply: ApprovalsRecord,
    handle: async (context) => {
      const { subject, input } = context;
      return presentApprovals(context, subject, await unapprove(context, subject, input.merge_request_iid));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/reset_approvals`,
    summary:
      'Removes all approvals of a merge request: bots with access tokens of the project or its groups do it.',
    access: writing,
    input: OneMergeRequest,
    status: 202,
    reply: noContent,
    handle: async (context) => {
      await resetApprovals(context, context.subject, context.input.merge_request_iid);
      return null;
    },
  }),
];
