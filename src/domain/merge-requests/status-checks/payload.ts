/** What external status checks are sent: the webhook of merge requests (facts-merge-requests: 10.5, 10.6). Pure. */
import { type ProjectRow, projectFullPath } from '../../../kernel/namespaces/rows.ts';
import { type Surroundings, type UserBasic, uploadUrl } from '../../../kernel/users/records.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { LabelRow } from '../../planning/index.ts';
import { presentCommit } from '../../repositories/index.ts';
import type { MergeRequestBasicRecord } from '../records/merge-request-records.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** What happened to the merge request. */
export const payloadActions = ['open', 'reopen', 'update'] as const;
export type PayloadAction = (typeof payloadActions)[number];

export type PayloadSource = {
  action: PayloadAction;
  /** The head before a push. */
  before: string | undefined;
  row: MergeRequestRow;
  record: MergeRequestBasicRecord;
  labels: readonly LabelRow[];
  project: ProjectRow;
  /** Undefined where the source is gone, or is a private fork: its name is none of the target's business. */
  source: ProjectRow | undefined;
  commit: Commit | undefined;
  sender: UserBasic;
};

const states = { opened: 1, closed: 2, merged: 3, locked: 4 } as const;

/** `2013-12-03 17:23:34 UTC` */
const timeOf = (time: Date | null): string | null =>
  time?.toISOString().replace(/^(.{10})T(.{8}).*$/, '$1 $2 UTC') ?? null;

const person = ({ id, name, username, avatar_url, public_email }: UserBasic) => ({
  id,
  name,
  username,
  avatar_url,
  email: public_email || '[REDACTED]',
});

function projectPart(around: Surroundings, row: ProjectRow) {
  const path = projectFullPath(row);
  const url = `${around.baseUrl}/${path}`;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    web_url: url,
    avatar_url: uploadUrl(around, 'project', row.id, row.avatar) ?? null,
    git_http_url: `${url}.git`,
    namespace: row.namespace_name,
    visibility_level: row.visibility,
    path_with_namespace: path,
    default_branch: row.default_branch,
    homepage: url,
    url: `${url}.git`,
    http_url: `${url}.git`,
  };
}

const labelPart = (row: LabelRow) => ({
  id: row.id,
  title: row.name,
  color: row.color,
  project_id: row.project_id,
  created_at: timeOf(row.created_at),
  updated_at: timeOf(row.updated_at),
  template: false,
  description: row.description,
  type: row.project_id === null ? 'GroupLabel' : 'ProjectLabel',
  group_id: row.namespace_id,
});

function commitPart(projectUrl: string, commit: Commit) {
  const { id, message, title, authored_date, web_url, author_name, author_email } = presentCommit(
    projectUrl,
    commit,
  );
  const author = { name: author_name, email: author_email };
  return { id, message, title, timestamp: authored_date, url: web_url, author };
}

/** The payload without the check that it is for. */
export function payloadOf(
  around: Surroundings,
  { action, before, row, record, labels, project, source, commit, sender }: PayloadSource,
) {
  const target = projectPart(around, project);
  const labelParts = labels.map(labelPart);
  const { assignees, reviewers, time_stats: time } = record;
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: person(sender),
    project: target,
    object_attributes: {
      id: row.id,
      iid: row.iid,
      title: row.title,
      description: row.description,
      state: row.state,
      state_id: states[record.state],
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
      head_pipeline_id: null,
      time_estimate: time.time_estimate,
      total_time_spent: time.total_time_spent,
      human_time_estimate: time.human_time_estimate,
      human_total_time_spent: time.human_total_time_spent,
      created_at: timeOf(row.created_at),
      updated_at: timeOf(row.updated_at),
      prepared_at: timeOf(row.prepared_at),
      last_edited_at: timeOf(row.last_edited_at),
      labels: labelParts,
      last_commit: commit ? commitPart(target.web_url, commit) : null,
      source: source ? projectPart(around, source) : null,
      target,
      url: record.web_url,
      action,
      ...(before !== undefined && { oldrev: before }),
    },
    labels: labelParts,
    changes: {},
    repository: {
      name: project.name,
      url: target.git_http_url,
      description: project.description,
      homepage: target.homepage,
    },
    ...(assignees.length > 0 && { assignees: assignees.map(person) }),
    ...(reviewers.length > 0 && { reviewers: reviewers.map(person) }),
  };
}
