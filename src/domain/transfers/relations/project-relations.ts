/** The relations of a project, in the order in which they are read: what others name comes first. */
import {
  badgesAs,
  commentChildren,
  created,
  labels,
  membersAs,
  milestones,
  timelogsOf,
  times,
  workChildren,
} from './planning-relations.ts';
import {
  type Attribute,
  attribute,
  boolean,
  choice,
  date,
  integer,
  type JsonObject,
  longText,
  number,
  type Relation,
  ref,
  required,
  sha,
  text,
  time,
} from './relation.ts';

const accessLevels = (name: string, action: string, parent: string): Relation => ({
  name,
  table: 'protected_ref_access',
  parent,
  constants: { action },
  without: 'grants',
  attributes: [required('access_level', integer(0, 60)), created],
});

/** Names of branches or tags, with `*` for any part. */
const refPattern = text(255, /^[^\p{Cc}\s~^:?[\\]+$/u);

const protectedBranches: Relation = {
  name: 'protected_branches',
  table: 'protected_branches',
  attributes: [
    required('name', refPattern),
    required('allow_force_push', boolean, { otherwise: false }),
    required('code_owner_approval_required', boolean, { otherwise: false }),
    ...times,
  ],
  children: [
    accessLevels('push_access_levels', 'push', 'protected_branch_id'),
    accessLevels('merge_access_levels', 'merge', 'protected_branch_id'),
    accessLevels('unprotect_access_levels', 'unprotect', 'protected_branch_id'),
  ],
};

const protectedTags: Relation = {
  name: 'protected_tags',
  table: 'protected_tags',
  attributes: [required('name', refPattern), ...times],
  children: [accessLevels('create_access_levels', 'create', 'protected_tag_id')],
};

const people = (name: string, table: string, parent: string, more: readonly Attribute[] = []): Relation => ({
  name,
  table,
  parent,
  once: true,
  order: 'user_id',
  attributes: [required('user_id', { of: 'user' }), ...more],
});

const milestone = attribute('milestone', { of: 'milestone' }, { column: 'milestone_id' });
const author = required('author_id', { of: 'author' });
const authorName = attribute('author', { of: 'computed', as: 'author' });

const issues: Relation = {
  name: 'issues',
  table: 'issues',
  numbered: 'issue',
  attributes: [
    required('iid', number),
    required('title', text(255, /\S/)),
    attribute('description', longText),
    author,
    authorName,
    required('state', choice(['opened', 'closed']), { otherwise: 'opened' }),
    attribute('closed_at', time),
    attribute('closed_by_id', { of: 'author' }),
    required(
      'issue_type',
      choice(['issue', 'incident', 'test_case', 'requirement', 'task', 'ticket'], 'issue'),
      {
        otherwise: 'issue',
      },
    ),
    required('severity', choice(['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'], 'UNKNOWN'), {
      otherwise: 'UNKNOWN',
    }),
    required('confidential', boolean, { otherwise: false }),
    attribute('discussion_locked', boolean),
    milestone,
    attribute('start_date', date),
    attribute('due_date', date),
    attribute('weight', integer()),
    attribute('health_status', choice(['on_track', 'needs_attention', 'at_risk'])),
    required('relative_position', integer(-2_147_483_648), { otherwise: 0 }),
    required('time_estimate', integer(), { otherwise: 0 }),
    attribute('last_edited_at', time),
    ...times,
  ],
  children: [
    ...workChildren('issue_id'),
    people('issue_assignees', 'issue_assignees', 'issue_id'),
    timelogsOf('issue_id'),
  ],
  from(line) {
    const kind = line.work_item_type as JsonObject | null | undefined;
    return { ...line, issue_type: line.issue_type ?? kind?.base_type };
  },
  complete(row) {
    if (row.state === 'opened') Object.assign(row, { closed_at: null, closed_by_id: null });
  },
};

const issueLinks: Relation = {
  name: 'issue_links',
  table: 'issue_links',
  between: true,
  once: true,
  attributes: [
    required('source', { of: 'issue' }, { column: 'source_id' }),
    required('target', { of: 'issue' }, { column: 'target_id' }),
    required('link_type', choice(['relates_to', 'blocks'])),
    ...times,
  ],
};

const versions: Relation = {
  name: 'merge_request_diff',
  table: 'merge_request_versions',
  parent: 'merge_request_id',
  single: true,
  attributes: [
    required('base_commit_sha', sha, { column: 'base_sha' }),
    required('start_commit_sha', sha, { column: 'start_sha' }),
    required('head_commit_sha', sha, { column: 'head_sha' }),
    required('files_count', integer(), { column: 'files', otherwise: 0 }),
    required('overflows', boolean, { otherwise: false }),
    attribute('patch_id', text(64, /^[0-9a-f]+$/)),
    attribute('merge_request_diff_commits', { of: 'computed', as: 'commits' }),
    created,
  ],
};

const commitsOf = (line: JsonObject): unknown => {
  const diff = line.merge_request_diff as JsonObject | null | undefined;
  const commits = diff?.merge_request_diff_commits;
  if (!Array.isArray(commits)) return [];
  return commits.map((commit: JsonObject, place) => ({ ...commit, place }));
};

const draft = /^\s*(?:\[draft\]|draft:|\(draft\))/i;

const mergeRequests: Relation = {
  name: 'merge_requests',
  table: 'merge_requests',
  numbered: 'merge_request',
  attributes: [
    required('iid', number),
    required('source_branch', ref),
    required('target_branch', ref),
    attribute('source_project_id', { of: 'computed', as: 'source_project' }),
    attribute('target_project_id', { of: 'computed', as: 'target_project' }),
    required('title', text(255, /\S/)),
    attribute('description', longText),
    author,
    authorName,
    required('state', choice(['opened', 'closed', 'merged', 'locked']), { otherwise: 'opened' }),
    required('merge_status', choice(['can_be_merged', 'cannot_be_merged'], 'unchecked'), {
      otherwise: 'unchecked',
    }),
    attribute('diff_head_sha', sha, { column: 'head_sha' }),
    attribute('merge_commit_sha', sha),
    attribute('squash_commit_sha', sha),
    attribute('merge_user_id', { of: 'author' }),
    attribute('merged_at', time),
    attribute('closed_by_id', { of: 'author' }),
    attribute('closed_at', time),
    required('squash', boolean, { otherwise: false }),
    attribute('force_remove_source_branch', boolean),
    attribute('should_remove_source_branch', boolean),
    attribute('discussion_locked', boolean),
    milestone,
    required('time_estimate', integer(), { otherwise: 0 }),
    attribute('approvals_before_merge', integer(0, 100)),
    attribute('prepared_at', time),
    attribute('last_edited_at', time),
    ...times,
  ],
  children: [
    ...workChildren('merge_request_id'),
    versions,
    {
      name: 'merge_request_commits',
      table: 'merge_request_commits',
      parent: 'merge_request_id',
      readOnly: true,
      order: 'place',
      once: true,
      attributes: [required('place', integer()), required('sha', sha)],
    },
    people('merge_request_assignees', 'merge_request_assignees', 'merge_request_id'),
    people('merge_request_reviewers', 'merge_request_reviewers', 'merge_request_id', [
      required(
        'state',
        choice(
          ['unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started'],
          'unreviewed',
        ),
        { otherwise: 'unreviewed' },
      ),
      created,
    ]),
    {
      name: 'merge_requests_closing_issues',
      table: 'merge_request_closing_issues',
      parent: 'merge_request_id',
      once: true,
      order: 'issue_id',
      without: 'closing',
      attributes: [required('issue', { of: 'issue' }, { column: 'issue_id' })],
    },
    { ...people('approvals', 'merge_request_approvals', 'merge_request_id', [created]), order: 'id' },
    timelogsOf('merge_request_id'),
  ],
  from(line) {
    const diff = line.merge_request_diff as JsonObject | null | undefined;
    return {
      ...line,
      diff_head_sha: line.diff_head_sha ?? line.source_branch_sha ?? diff?.head_commit_sha,
      merge_request_commits: commitsOf(line),
    };
  },
  complete(row, line, owner) {
    // Branches of other projects are not in the archive.
    const isOwn = line.source_project_id !== undefined && line.source_project_id === line.target_project_id;
    row.source_project_id = isOwn ? owner : null;
    row.draft = draft.test(String(row.title));
    row.commits_count = Array.isArray(line.merge_request_commits) ? line.merge_request_commits.length : 0;
    if (row.state === 'locked') row.state = 'opened';
    // It is judged by what is here.
    if (row.state === 'opened') row.merge_status = 'unchecked';
    if (row.state !== 'merged') Object.assign(row, { merged_at: null, merge_user_id: null });
    if (row.state !== 'closed') Object.assign(row, { closed_at: null, closed_by_id: null });
  },
};

/** What is over. */
const ended: readonly string[] = ['success', 'failed', 'canceled', 'skipped'];
/** Nothing that came in an archive runs, waits for a runner, or can be started. */
const status = required('status', choice(ended, 'canceled'));

const kinds: Record<string, string> = {
  'Ci::Build': 'job',
  'Ci::Bridge': 'bridge',
  GenericCommitStatus: 'status',
};

/** The jobs of a pipeline's stages, whichever list of a stage they are in. */
function jobsOf(line: JsonObject): unknown {
  if (!Array.isArray(line.stages)) return [];
  return (line.stages as JsonObject[]).flatMap((stage, index) =>
    ['statuses', 'builds', 'bridges', 'generic_commit_statuses'].flatMap((list) =>
      Array.isArray(stage?.[list])
        ? (stage[list] as JsonObject[]).map((job) => ({
            ...job,
            kind: kinds[String(job?.type)] ?? 'job',
            stage: stage.name,
            stage_index: stage.position ?? index,
          }))
        : [],
    ),
  );
}

const pipelines: Relation = {
  name: 'ci_pipelines',
  table: 'pipelines',
  attributes: [
    required('iid', number),
    required('sha', sha),
    required('ref', ref),
    required('before_sha', sha, { otherwise: '0'.repeat(40) }),
    required('tag', boolean, { otherwise: false }),
    required('source', text(64, /^[a-z_]+$/), { otherwise: 'unknown' }),
    status,
    required('protected', boolean, { otherwise: false }),
    attribute('user_id', { of: 'author' }),
    attribute('name', text()),
    attribute('yaml_errors', longText),
    attribute('failure_reason', text(64, /^[a-z_]+$/)),
    attribute('started_at', time),
    attribute('finished_at', time),
    attribute('duration', integer()),
    attribute('merge_request', { of: 'merge_request' }, { column: 'merge_request_id' }),
    attribute('stages', { of: 'computed', as: 'stages' }),
    ...times,
  ],
  children: [
    {
      name: 'jobs',
      table: 'ci_jobs',
      parent: 'pipeline_id',
      owned: true,
      readOnly: true,
      attributes: [
        required('name', text(255, /\S/)),
        status,
        required('kind', choice(['job', 'bridge', 'status'])),
        required('stage', text(255)),
        required('stage_index', integer(-1)),
        attribute('target_url', text(255, /^https?:\/\/\S+$/)),
        attribute('description', text(255)),
        required('allow_failure', boolean, { otherwise: false }),
        required('user_id', { of: 'author' }),
        required('retried', boolean, { otherwise: false }),
        required('protected', boolean, { otherwise: false }),
        attribute('failure_reason', text(64, /^[a-z_]+$/)),
        attribute('started_at', time),
        attribute('finished_at', time),
        attribute('queued_at', time),
        ...times,
      ],
    },
  ],
  from: (line) => ({ ...line, jobs: jobsOf(line) }),
};

const schedules: Relation = {
  name: 'pipeline_schedules',
  table: 'pipeline_schedules',
  attributes: [
    required('description', text(255, /\S/)),
    required('ref', ref),
    required('cron', text(255, /\S/)),
    required('cron_timezone', text(64), { otherwise: 'UTC' }),
    required('owner_id', { of: 'author' }),
    ...times,
  ],
  complete(row) {
    // Whoever imports says when they begin.
    Object.assign(row, { active: false, inputs: {}, next_run_at: row.updated_at });
  },
};

const releases: Relation = {
  name: 'releases',
  table: 'releases',
  attributes: [
    required('tag', ref),
    attribute('name', text()),
    attribute('description', longText),
    attribute('sha', sha),
    author,
    required('released_at', time, { otherwise: 'now' }),
    ...times,
  ],
  children: [
    {
      name: 'links',
      table: 'release_links',
      parent: 'release_id',
      attributes: [
        required('name', text(255, /\S/)),
        required('url', text(2_048, /^(?:https?|ftp):\/\/\S+$/)),
        attribute('filepath', text(128, /^\/[\w./-]*$/)),
        required('link_type', choice(['other', 'runbook', 'image', 'package'], 'other'), {
          otherwise: 'other',
        }),
        ...times,
      ],
    },
    {
      name: 'milestone_releases',
      table: 'release_milestones',
      parent: 'release_id',
      once: true,
      order: 'milestone_id',
      attributes: [required('milestone', { of: 'milestone' }, { column: 'milestone_id' })],
    },
  ],
};

const visibilities = [0, 10, 20];

const snippets: Relation = {
  name: 'snippets',
  table: 'snippets',
  attributes: [
    required('title', text(255, /\S/)),
    attribute('description', longText),
    required('visibility_level', integer(0, 20), { column: 'visibility', otherwise: 0 }),
    required('files', { of: 'names', maximum: 255 }, { otherwise: 'none' }),
    required('default_branch', ref, { otherwise: 'main' }),
    attribute('bundle', { of: 'computed', as: 'bundle' }),
    author,
    ...times,
  ],
  children: commentChildren('snippet_id'),
  complete(row, line) {
    if (!visibilities.includes(Number(row.visibility))) row.visibility = 0;
    row.bundle = typeof line.bundle === 'string' ? line.bundle : null;
  },
};

export const projectRelations: readonly Relation[] = [
  {
    ...labels,
    children: [
      {
        name: 'priorities',
        table: 'label_priorities',
        parent: 'label_id',
        owned: true,
        order: 'label_id',
        once: true,
        attributes: [required('priority', integer())],
      },
    ],
  },
  milestones,
  membersAs('project_members'),
  badgesAs('project_badges'),
  protectedBranches,
  protectedTags,
  issues,
  issueLinks,
  mergeRequests,
  pipelines,
  schedules,
  releases,
  snippets,
];
