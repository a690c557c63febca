/** A project as a seed says it: its history, and what is planned, reviewed and run in it. */
import { ROOT } from './planting.ts';
import { type ReadHistory, readHistory } from './read-history.ts';
import type { SeedIssue, SeedMergeRequest, SeedPipeline, SeedProject } from './schema.ts';
import {
  filled,
  inOrder,
  membersOf,
  one,
  planningOf,
  type Reading,
  type TokenRecord,
  tokensOf,
  usualOf,
} from './writing.ts';

type ProjectRecord = {
  id: number;
  name: string;
  path_with_namespace: string;
  description: string | null;
  visibility: SeedProject['visibility'];
  default_branch: string | null;
  repository_storage: string;
  namespace: { kind: string; full_path: string };
};

export async function projectOf(reading: Reading, id: number): Promise<SeedProject> {
  const { app, api } = reading;
  const record = await one<ProjectRecord>(reading, 'GET /projects/:id', { id });
  const { name, path_with_namespace: path, description, visibility, default_branch } = record;
  const mergeRequests = await api.all<MergeRequestRecord>('GET /projects/:id/merge_requests', {
    id,
    state: 'all',
    scope: 'all',
  });
  const merges = new Set(
    mergeRequests.flatMap(({ state, merge_commit_sha }) =>
      state === 'merged' ? (merge_commit_sha ?? []) : [],
    ),
  );
  const history = await readHistory(app.services, record, merges, reading.room);
  const members = await membersOf(reading, '/projects/:id', id);
  if (members && record.namespace.kind === 'user') delete members[record.namespace.full_path];
  const tokens = await api.all<TokenRecord>('GET /projects/:id/access_tokens', { id, state: 'active' });
  return filled<SeedProject>(
    {
      path,
      name,
      description,
      visibility,
      default_branch,
      members: members && Object.keys(members).length > 0 ? members : undefined,
      ...(await planningOf(reading, '/projects/:id', id)),
      ...history.described,
      issues: await issuesOf(reading, id),
      merge_requests: await mergeRequestsOf(reading, id, mergeRequests, history.described),
      pipelines: await pipelinesOf(reading, id, history),
      tokens: await tokensOf(app, tokens),
    },
    usualOf(path),
  );
}

type NoteableRecord = {
  iid: number;
  title: string;
  description: string | null;
  author: { username: string };
  labels: string[];
  milestone: { title: string } | null;
  assignees: { username: string }[];
  user_notes_count: number;
};

const usernameIn = ({ usernames }: Reading, { username }: { username: string }): string =>
  usernames.has(username) ? username : ROOT;

async function noteableOf(
  reading: Reading,
  id: number,
  kind: 'issues' | 'merge_requests',
  record: NoteableRecord,
) {
  const { iid, title, description, author, labels, milestone, assignees, user_notes_count } = record;
  return {
    title,
    iid,
    description,
    author: usernameIn(reading, author),
    labels: labels.toSorted(),
    milestone: milestone?.title,
    assignees: assignees.map((each) => usernameIn(reading, each)).sort(),
    comments: user_notes_count > 0 ? await commentsOf(reading, id, kind, iid) : [],
  };
}

type NoteRecord = {
  id: number;
  body: string;
  system: boolean;
  internal: boolean;
  created_at: string;
  author: { username: string };
};

async function commentsOf(reading: Reading, id: number, kind: string, noteable_id: number) {
  const notes = await reading.api.all<NoteRecord>(`GET /projects/:id/${kind}/:noteable_id/notes`, {
    id,
    noteable_id,
    sort: 'asc',
  });
  return notes
    .filter(({ system }) => !system)
    .map((note) =>
      filled<NonNullable<SeedIssue['comments']>[number]>(
        {
          body: note.body,
          author: usernameIn(reading, note.author),
          created_at: note.created_at,
          internal: note.internal,
        },
        { author: ROOT, internal: false },
      ),
    );
}

const byNumber = (left: { iid: number }, right: { iid: number }): number => left.iid - right.iid;

async function issuesOf(reading: Reading, id: number): Promise<SeedIssue[]> {
  type Record = NoteableRecord & {
    state: 'opened' | 'closed';
    issue_type: string;
    confidential: boolean;
    due_date: string | null;
    created_at: string;
  };
  const issues = await reading.api.all<Record>('GET /projects/:id/issues', {
    id,
    state: 'all',
    scope: 'all',
  });
  const types = ['issue', 'incident', 'task'] as const;
  return inOrder(issues.sort(byNumber), async (issue) => {
    const { state, issue_type, confidential, due_date, created_at } = issue;
    const { comments, ...common } = await noteableOf(reading, id, 'issues', issue);
    const type = types.find((each) => each === issue_type);
    return filled<SeedIssue>(
      { ...common, state, type, confidential, due_date, created_at, comments },
      { author: ROOT, state: 'opened', type: 'issue', confidential: false },
    );
  });
}

type MergeRequestRecord = NoteableRecord & {
  state: 'opened' | 'closed' | 'merged';
  source_branch: string;
  target_branch: string;
  source_project_id: number | null;
  reviewers: { username: string }[];
  merge_commit_sha: string | null;
};

/** Without those whose branches are gone, and those whose merges are not the last of their branches: no planting makes them. */
async function mergeRequestsOf(
  reading: Reading,
  id: number,
  all: readonly MergeRequestRecord[],
  { commits = [], branches = {} }: Pick<SeedProject, 'commits' | 'branches'>,
): Promise<SeedMergeRequest[]> {
  const isThere = ({
    state,
    source_branch,
    target_branch,
    source_project_id,
  }: MergeRequestRecord): boolean => {
    const [source, target] = [branches[source_branch], branches[target_branch]];
    if (source_project_id !== id || source === undefined || target === undefined) return false;
    return state !== 'merged' || !isBehind(commits, source, target);
  };
  return inOrder(all.filter(isThere).sort(byNumber), async (record) => {
    const { comments, ...common } = await noteableOf(reading, id, 'merge_requests', record);
    const { source_branch, target_branch, reviewers, state } = record;
    return filled<SeedMergeRequest>(
      {
        ...common,
        source_branch,
        target_branch,
        reviewers: reviewers.map((each) => usernameIn(reading, each)).sort(),
        state,
        comments,
      },
      { author: ROOT, state: 'opened' },
    );
  });
}

/** Whether the first commit is the second, or one of its ancestors. */
function isBehind(commits: NonNullable<SeedProject['commits']>, first: string, second: string): boolean {
  const parents = new Map(commits.map(({ id = '', parents = [] }) => [id, parents]));
  const seen = new Set<string>();
  const left = [second];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (id === first) return true;
    if (!seen.has(id)) left.push(...(parents.get(id) ?? []));
    seen.add(id);
  }
  return false;
}

/** States that only jobs of the program's own have, as other programs could tell them. */
const statuses: Readonly<Record<string, Status>> = {
  pending: 'pending',
  running: 'running',
  success: 'success',
  failed: 'failed',
  canceled: 'canceled',
  canceling: 'canceled',
  skipped: 'skipped',
  manual: 'skipped',
};
type Status = NonNullable<SeedPipeline['jobs']>[string];

/** The last one of each branch or tag and commit. */
async function pipelinesOf({ api }: Reading, id: number, history: ReadHistory): Promise<SeedPipeline[]> {
  type Record = { id: number; sha: string; ref: string };
  const all = await api.all<Record>('GET /projects/:id/pipelines', { id, order_by: 'id', sort: 'asc' });
  const last = new Map(all.map((pipeline) => [`${pipeline.ref} ${pipeline.sha}`, pipeline]));
  const described = await inOrder([...last.values()], async ({ id: pipeline_id, sha, ref }) => {
    const commit = history.ids.get(sha);
    const isThere =
      history.described.branches?.[ref] !== undefined || history.described.tags?.[ref] !== undefined;
    if (commit === undefined || !isThere) return [];
    type Job = { id: number; name: string; status: string };
    const jobs = await api.all<Job>('GET /projects/:id/repository/commits/:sha/statuses', {
      id,
      sha,
      pipeline_id,
    });
    const named = jobs.map(({ name, status }) => [name, statuses[status] ?? 'pending'] as const);
    return named.length > 0 ? [{ ref, commit, jobs: Object.fromEntries(named) }] : [];
  });
  return described.flat();
}
