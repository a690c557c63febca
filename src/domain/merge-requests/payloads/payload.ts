/** What hooks and external status checks are sent of a merge request (facts-merge-requests: 10.6). Pure. */
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import type { Surroundings, UserBasic } from '../../../kernel/users/records.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import {
  type Changed,
  hookCommit,
  hookLabel,
  hookProject,
  hookRepository,
  hookText,
  hookTime,
  hookTimeOrNull,
  hookUser,
  type LabelPartRow,
  stateIds,
} from '../../hooks/index.ts';
import type { MergeRequestBasicRecord } from '../records/merge-request-records.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** What happened to the merge request. */
export const payloadActions = [
  'open',
  'reopen',
  'update',
  'close',
  'merge',
  'approved',
  'approval',
  'unapproved',
  'unapproval',
] as const;
export type PayloadAction = (typeof payloadActions)[number];

export type PayloadSource = {
  action: PayloadAction;
  /** The head before a push. */
  before: string | undefined;
  /** What the program did by itself; undefined where the sender did it. */
  systemAction: string | undefined;
  row: MergeRequestRow;
  record: MergeRequestBasicRecord;
  labels: readonly LabelPartRow[];
  project: ProjectRow;
  /** Whether the author has had none merged in the project before it. */
  isFirstContribution: boolean;
  headPipelineId: number | null;
  /** How far the reviewers are, by their ids. */
  reviewerStates: ReadonlyMap<number, string>;
  /** Undefined where the source is gone, or is a private fork: its name is none of the target's business. */
  source: ProjectRow | undefined;
  commit: Commit | undefined;
  sender: UserBasic;
  changes: Changed;
};

/** The attributes, without what happened; comments show them, too. */
export function attributesOf(
  around: Surroundings,
  {
    row,
    record,
    labels,
    project,
    source,
    commit,
    isFirstContribution,
    headPipelineId,
  }: Omit<PayloadSource, 'action' | 'before' | 'systemAction' | 'sender' | 'changes' | 'reviewerStates'>,
) {
  const target = hookProject(around, project);
  const { assignees, reviewers, time_stats: time } = record;
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    description: hookText(around, project, row.description),
    state: row.state,
    state_id: stateIds[record.state],
    draft: row.draft,
    work_in_progress: row.draft,
    author_id: row.author_id,
    assignee_id: assignees[0]?.id ?? null,
    assignee_ids: assignees.map(({ id }) => id),
    reviewer_ids: reviewers.map(({ id }) => id),
    source_branch: row.source_branch,
    source_project_id: row.source_project_id,
    target_branch: row.target_branch,
    target_project_id: row.project_id,
    milestone_id: row.milestone_id,
    merge_status: record.merge_status,
    detailed_merge_status: record.detailed_merge_status,
    blocking_discussions_resolved: record.blocking_discussions_resolved,
    merge_when_pipeline_succeeds: record.merge_when_pipeline_succeeds,
    merge_commit_sha: row.merge_commit_sha,
    merge_error: row.merge_error,
    merge_user_id: row.merge_user_id,
    merge_params: {
      force_remove_source_branch: row.force_remove_source_branch,
      should_remove_source_branch: row.should_remove_source_branch,
    },
    head_pipeline_id: headPipelineId,
    time_estimate: time.time_estimate,
    total_time_spent: time.total_time_spent,
    human_time_estimate: time.human_time_estimate,
    human_total_time_spent: time.human_total_time_spent,
    time_change: 0,
    human_time_change: null,
    created_at: hookTime(row.created_at),
    updated_at: hookTime(row.updated_at),
    prepared_at: hookTimeOrNull(row.prepared_at),
    last_edited_at: hookTimeOrNull(row.last_edited_at),
    last_edited_by_id: null,
    updated_by_id: null,
    first_contribution: isFirstContribution,
    labels: labels.map(hookLabel),
    last_commit: commit ? hookCommit(target.web_url, commit) : null,
    source: source ? hookProject(around, source) : null,
    target,
    url: record.web_url,
  };
}

/** The payload; status checks add the check that it is for. */
export function payloadOf(around: Surroundings, shown: PayloadSource) {
  const { action, before, systemAction, labels, record, project, sender, changes, reviewerStates } = shown;
  const target = hookProject(around, project);
  const { assignees, reviewers } = record;
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: hookUser(sender),
    project: target,
    object_attributes: {
      ...attributesOf(around, shown),
      system: systemAction !== undefined,
      ...(systemAction !== undefined && { system_action: systemAction }),
      action,
      ...(before !== undefined && { oldrev: before }),
    },
    labels: labels.map(hookLabel),
    changes,
    repository: hookRepository(target),
    ...(assignees.length > 0 && { assignees: assignees.map(hookUser) }),
    ...(reviewers.length > 0 && {
      reviewers: reviewers.map((user) => ({
        ...hookUser(user),
        state: reviewerStates.get(user.id) ?? 'unreviewed',
      })),
    }),
  };
}
