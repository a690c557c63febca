/** A running instance as a seed: what planted elsewhere is the same world, as far as seeds describe it. */
import { stringify } from 'yaml';
import { type Api, personsOf, type SeedApp } from './api.ts';
import { DEFAULT_BRANCH } from './history.ts';
import { levels, ROOT } from './planting.ts';
import { newRoom, type ReadHistory, type Room, readHistory } from './read-history.ts';
import type {
  Role,
  SeedApplication,
  SeedDocument,
  SeedGroup,
  SeedIssue,
  SeedMergeRequest,
  SeedPipeline,
  SeedProject,
  SeedUser,
} from './schema.ts';
import { applicationDetails, tokenDigests } from './secret-queries.ts';

/** What all parts read by. */
type Reading = { app: SeedApp; api: Api; usernames: ReadonlySet<string>; room: Room };

/** Without passwords, which nobody can read; tokens and secrets by their SHA-256. */
export async function writeSeed(app: SeedApp): Promise<SeedDocument> {
  const api = await personsOf(app).as(ROOT);
  type Listed = { id: number };
  const users = await api.all<UserRecord>('GET /users', {
    humans: true,
    exclude_internal: true,
    order_by: 'id',
    sort: 'asc',
  });
  const usernames = new Set(users.map(({ username }) => username));
  const reading: Reading = { app, api, usernames, room: newRoom() };
  const groups = await api.all<Listed>('GET /groups', { all_available: true, order_by: 'id', sort: 'asc' });
  const projects = await api.all<Listed>('GET /projects', { order_by: 'id', sort: 'asc' });
  return filled({
    users: (await inOrder(users, (user) => userOf(reading, user))).filter(
      ({ username, tokens }) => username !== ROOT || tokens !== undefined,
    ),
    groups: await inOrder(groups, ({ id }) => groupOf(reading, id)),
    projects: await inOrder(projects, ({ id }) => projectOf(reading, id)),
    applications: await applicationsOf(reading),
  });
}

/** The document as YAML. */
export const seedText = (document: SeedDocument): string =>
  stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });

async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Without what says nothing: what is undefined or null, empty, or a usual value. */
function filled<T extends object>(
  values: { [Key in keyof T]: T[Key] | null | undefined },
  usual: object = {},
): T {
  const said = Object.entries(values).filter(([key, value]) => {
    if (value === undefined || value === null || value === '') return false;
    if (Array.isArray(value) && value.length === 0) return false;
    return (usual as Record<string, unknown>)[key] !== value;
  });
  return Object.fromEntries(said) as T; // the type says which of them may be absent
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

type UserRecord = {
  id: number;
  username: string;
  name: string;
  email: string;
  bio: string | null;
  state: string;
  is_admin: boolean;
  external: boolean;
};
type TokenRecord = {
  id: number;
  name: string;
  scopes: string[];
  expires_at: string | null;
  access_level?: number;
};

/** The one of the first start, which each instance has. */
const ROOT_TOKEN = 'root token';

async function userOf({ app, api }: Reading, user: UserRecord): Promise<SeedUser> {
  const { id, username, name, email, bio, state, is_admin: admin, external } = user;
  const all = await api.all<TokenRecord>('GET /personal_access_tokens', { user_id: id, state: 'active' });
  const tokens = all.filter((token) => username !== ROOT || token.name !== ROOT_TOKEN);
  const described = { tokens: await tokensOf(app, tokens) };
  // Of root the rest is each instance's own.
  if (username === ROOT) return filled<SeedUser>({ username, ...described });
  const isBlocked = state.includes('blocked') || state === 'banned';
  const usual = {
    name: username,
    email: `${username}@example.com`,
    admin: false,
    external: false,
    state: 'active',
  };
  return filled<SeedUser>(
    { username, name, email, bio, admin, external, state: isBlocked ? 'blocked' : 'active', ...described },
    usual,
  );
}

async function tokensOf<T extends { name: string }>(
  app: SeedApp,
  tokens: readonly TokenRecord[],
): Promise<T[]> {
  const digests = await tokenDigests(
    app.services.database.db,
    tokens.map(({ id }) => id),
  );
  return tokens
    .toSorted((left, right) => left.id - right.id)
    .map(({ id, name, scopes, expires_at, access_level }) =>
      filled<T>({ name, sha256: digests.get(id), role: roleOf(access_level), scopes, expires_at } as never),
    );
}

const roleOf = (level: number | undefined): Role | undefined =>
  (Object.keys(levels) as Role[]).find((role) => levels[role] === level);

type GroupRecord = {
  id: number;
  name: string;
  full_path: string;
  description: string | null;
  visibility: SeedGroup['visibility'];
};

async function groupOf(reading: Reading, id: number): Promise<SeedGroup> {
  const {
    name,
    full_path: path,
    description,
    visibility,
  } = await one<GroupRecord>(reading, 'GET /groups/:id', { id, with_projects: false });
  const planning = await planningOf(reading, '/groups/:id', id);
  return filled<SeedGroup>(
    {
      path,
      name,
      description,
      visibility,
      members: await membersOf(reading, '/groups/:id', id),
      ...planning,
    },
    usualOf(path),
  );
}

const usualOf = (path: string) => ({
  name: lastOf(path),
  visibility: 'private',
  default_branch: DEFAULT_BRANCH,
});

async function one<T>({ api }: Reading, name: string, parameters: Record<string, unknown>): Promise<T> {
  const found = await api.find<T>(name, parameters);
  if (!found) throw new Error(`nothing at ${name} any more`);
  return found;
}

async function membersOf({ api, usernames }: Reading, place: string, id: number) {
  const members = await api.all<{ username: string; access_level: number }>(`GET ${place}/members`, { id });
  const described = members.flatMap(({ username, access_level }) => {
    const role = roleOf(access_level);
    return role && usernames.has(username) ? [[username, role] as const] : [];
  });
  return described.length > 0 ? Object.fromEntries(described.sort()) : undefined;
}

async function planningOf(
  { api }: Reading,
  place: string,
  id: number,
): Promise<Pick<SeedGroup, 'labels' | 'milestones'>> {
  type Label = { name: string; color: string; description: string | null };
  const labels = await api.all<Label & { is_project_label?: boolean }>(`GET ${place}/labels`, {
    id,
    include_ancestor_groups: false,
  });
  type Milestone = {
    id: number;
    title: string;
    description: string | null;
    start_date: string | null;
    due_date: string | null;
    state: 'active' | 'closed';
  };
  const milestones = await api.all<Milestone>(`GET ${place}/milestones`, { id });
  return {
    labels: labels.map(({ name, color, description }) =>
      filled<NonNullable<SeedGroup['labels']>[number]>({ name, color, description }),
    ),
    milestones: milestones
      .sort((left, right) => left.id - right.id)
      .map(({ title, description, start_date, due_date, state }) =>
        filled<NonNullable<SeedGroup['milestones']>[number]>(
          { title, description, start_date, due_date, state },
          { state: 'active' },
        ),
      ),
  };
}

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

async function projectOf(reading: Reading, id: number): Promise<SeedProject> {
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

async function applicationsOf({ app, api }: Reading): Promise<SeedApplication[]> {
  type Record = {
    id: number;
    application_id: string;
    application_name: string;
    callback_url: string;
    confidential: boolean;
  };
  const records = await api.all<Record>('GET /applications', {});
  const details = new Map((await applicationDetails(app.services.database.db)).map((row) => [row.id, row]));
  return records.flatMap(({ id, application_id, application_name: name, callback_url, confidential }) => {
    const { scopes, dynamic, sha256 } = details.get(id) ?? {};
    if (dynamic) return [];
    const redirect_uris = callback_url.split('\n');
    return filled<SeedApplication>(
      { name, id: application_id, sha256, redirect_uris, scopes, confidential },
      { confidential: true },
    );
  });
}
