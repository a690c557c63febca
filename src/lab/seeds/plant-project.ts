/** One project of a seed with all that is in it. */
import type { Api } from './api.ts';
import { DEFAULT_BRANCH, type History, planHistory } from './history.ts';
import {
  creatorOf,
  differences,
  given,
  levels,
  type Planting,
  plantMembers,
  plantPlanning,
  within,
} from './planting.ts';
import type { Path } from './read-document.ts';
import { fullPathOf, lastPart, parentPath } from './references.ts';
import type { SeedIssue, SeedMergeRequest, SeedProject } from './schema.ts';
import { reserveMergeRequest, setTokenValue } from './secret-actions.ts';
import { tokenWithDigest } from './secret-queries.ts';
import { Diverged, objectsOf, writeHistory } from './write-history.ts';

type ProjectRecord = { id: number; empty_repo: boolean; default_branch: string | null } & Record<
  string,
  unknown
>;

/** The project with its members, labels and milestones; the rest follows. */
export async function makeProject(planting: Planting, project: SeedProject, path: Path): Promise<Here> {
  const { persons } = planting;
  const fullPath = fullPathOf(project);
  const above = parentPath(fullPath);
  const inGroup = planting.groupIds.get(above.toLowerCase());
  // A person's own projects are made by nobody else.
  const creator = inGroup === undefined ? above : creatorOf(planting, project.members, above);
  const api = await persons.as(creator);
  const { description, visibility, default_branch = DEFAULT_BRANCH } = project;
  const wished = { name: project.name ?? lastPart(fullPath), description, visibility };
  const there = await api.find<ProjectRecord>('GET /projects/:id', { id: fullPath });
  const changed = there && differences(there, wished);
  if (there && changed) await api.change('PUT /projects/:id', { id: there.id, ...changed });
  const record =
    there ??
    (await api.change<ProjectRecord>(
      'POST /projects',
      given({
        ...wished,
        path: lastPart(fullPath),
        namespace_id: inGroup,
        visibility: visibility ?? 'private',
        default_branch,
      }),
    ));
  const { id } = record;
  const isNew = there === undefined;
  await plantMembers(planting, api, '/projects/:id', id, project.members);
  await plantPlanning(api, '/projects/:id', id, project, isNew);

  return { planting, project, path, id, isNew, api, isEmpty: isNew || record.empty_repo };
}

/** Commits, branches and tags. */
export async function plantHistory({ planting, project, path, id, isEmpty }: Here): Promise<Planned> {
  const { app, seed, signer } = planting;
  const { history } = planHistory(project, path);
  const objects = await objectsOf(history, signer);
  const branch = project.default_branch ?? DEFAULT_BRANCH;
  try {
    await writeHistory(app.services, { id, empty: isEmpty }, branch, objects);
  } catch (error) {
    if (error instanceof Diverged) throw seed.complain(path, error.message);
    throw error;
  }
  return { history, commits: objects.commits };
}

/** All that is about the history, or beside it. */
export async function fillProject(here: Here, planned: Planned): Promise<void> {
  const { project, id, api, isEmpty } = here;
  const { default_branch } = project;
  if (!isEmpty && default_branch !== undefined) {
    const record = await api.find<ProjectRecord>('GET /projects/:id', { id });
    if (record?.default_branch !== default_branch)
      await api.change('PUT /projects/:id', { id, default_branch });
  }
  const names = await namesOf(here);
  await plantIssues(here, names);
  await plantMergeRequests(here, names);
  await plantPipelines(here, planned);
  await plantTokens(here);
  await mergeMergeRequests(here);
}

/** What the document says of the history, and the ids of its commits. */
type Planned = { history: History; commits: readonly string[] };

/** A project while it is planted, and the API as whoever makes it. */
export type Here = {
  planting: Planting;
  project: SeedProject;
  path: Path;
  id: number;
  isNew: boolean;
  /** Nothing was pushed to it. */
  isEmpty: boolean;
  api: Api;
};

type Names = { milestones: ReadonlyMap<string, number> };

/** Ids of milestones that issues and merge requests name. */
async function namesOf({ api, id, project }: Here): Promise<Names> {
  const all = [...(project.issues ?? []), ...(project.merge_requests ?? [])];
  if (all.every(({ milestone }) => milestone === undefined)) return { milestones: new Map() };
  const milestones = await api.all<{ id: number; title: string }>('GET /projects/:id/milestones', {
    id,
    include_ancestors: true,
  });
  return { milestones: new Map(milestones.map(({ id, title }) => [title, id])) };
}

type NoteableRecord = {
  iid: number;
  title: string;
  state: string;
  labels: string[];
  milestone: { id: number } | null;
  assignees: { id: number }[];
  reviewers?: { id: number }[];
} & Record<string, unknown>;

/** What issues and merge requests both have, as the API takes it. */
const commonFields = ({ planting }: Here, { milestones }: Names, each: SeedIssue | SeedMergeRequest) => ({
  title: each.title,
  description: each.description,
  labels: each.labels,
  milestone_id: each.milestone === undefined ? undefined : milestones.get(each.milestone),
  assignee_ids: each.assignees?.map((name) => planting.users.get(name.toLowerCase()) ?? 0),
});

/** A record with its fields as requests have them. */
const requested = (record: NoteableRecord) => ({
  ...record,
  labels: record.labels.toSorted(),
  milestone_id: record.milestone?.id,
  assignee_ids: record.assignees.map(({ id }) => id).sort(ascending),
  reviewer_ids: record.reviewers?.map(({ id }) => id).sort(ascending),
});
const ascending = (left: number, right: number): number => left - right;

/** Lists in one order, to be compared. */
const sorted = (fields: Record<string, unknown>) => ({
  ...fields,
  labels: (fields.labels as string[] | undefined)?.toSorted(),
  assignee_ids: (fields.assignee_ids as number[] | undefined)?.toSorted(ascending),
  ...('reviewer_ids' in fields && {
    reviewer_ids: (fields.reviewer_ids as number[] | undefined)?.toSorted(ascending),
  }),
});

async function plantIssues(here: Here, names: Names): Promise<void> {
  const { project, planting, path, id, isNew, api } = here;
  const { issues = [] } = project;
  if (issues.length === 0) return;
  const known = isNew
    ? []
    : await api.all<NoteableRecord>('GET /projects/:id/issues', { id, state: 'all', scope: 'all' });
  for (const [index, issue] of issues.entries())
    await within(planting.seed, [...path, 'issues', index], async () => {
      const {
        iid,
        title,
        state = 'opened',
        type,
        confidential,
        due_date,
        created_at,
        author = 'root',
      } = issue;
      const by = await planting.persons.as(author);
      const wished = { ...commonFields(here, names, issue), confidential, due_date };
      const there = known.find((each) => (iid === undefined ? each.title === title : each.iid === iid));
      const made =
        there ??
        (await by.change<NoteableRecord>('POST /projects/:id/issues', {
          id,
          ...given({ iid, ...wished, issue_type: type, created_at }),
        }));
      const state_event = made.state === state ? undefined : state === 'closed' ? 'close' : 'reopen';
      const changed = {
        ...(there && differences(requested(there), sorted(wished))),
        ...given({ state_event }),
      };
      if (Object.keys(changed).length > 0)
        await by.change('PUT /projects/:id/issues/:issue_iid', { id, issue_iid: made.iid, ...changed });
      await plantComments(here, 'issues', made.iid, issue.comments, !there);
    });
}

type NoteRecord = { body: string; system: boolean; author: { username: string } };

/** One that somebody has written in the same words is there. */
async function plantComments(
  { planting, id, api }: Here,
  kind: 'issues' | 'merge_requests',
  noteable_id: number,
  comments: SeedIssue['comments'] = [],
  isNew: boolean,
): Promise<void> {
  if (comments.length === 0) return;
  const place = `/projects/:id/${kind}/:noteable_id/notes`;
  const written = isNew ? [] : await api.all<NoteRecord>(`GET ${place}`, { id, noteable_id });
  const left = written.filter(({ system }) => !system);
  for (const { body, author = 'root', created_at, internal } of comments) {
    const same = left.findIndex(
      (note) => note.body === body && note.author.username.toLowerCase() === author.toLowerCase(),
    );
    if (same >= 0) left.splice(same, 1);
    else {
      const by = await planting.persons.as(author);
      await by.change(`POST ${place}`, { id, noteable_id, ...given({ body, created_at, internal }) });
    }
  }
}

async function plantMergeRequests(here: Here, names: Names): Promise<void> {
  const { project, planting, path, id, isNew, api } = here;
  const { merge_requests = [], default_branch = DEFAULT_BRANCH } = project;
  if (merge_requests.length === 0) return;
  const known = isNew
    ? []
    : await api.all<NoteableRecord>('GET /projects/:id/merge_requests', { id, state: 'all', scope: 'all' });
  // In the order of their numbers, of which only the next one can be had.
  const inOrder = [...merge_requests.entries()].sort(
    ([, left], [, right]) =>
      (left.iid ?? Number.POSITIVE_INFINITY) - (right.iid ?? Number.POSITIVE_INFINITY) || 0,
  );
  for (const [index, each] of inOrder)
    await within(planting.seed, [...path, 'merge_requests', index], async () => {
      const {
        iid,
        title,
        source_branch,
        target_branch = default_branch,
        state = 'opened',
        author = 'root',
      } = each;
      const by = await planting.persons.as(author);
      const reviewer_ids = each.reviewers?.map((name) => planting.users.get(name.toLowerCase()) ?? 0);
      const wished = { ...commonFields(here, names, each), target_branch, reviewer_ids };
      const there = known.find((one) => (iid === undefined ? one.title === title : one.iid === iid));
      if (there && there.source_branch !== source_branch)
        throw planting.seed.complain(
          [...path, 'merge_requests', index],
          `merge request !${there.iid} is of another branch`,
        );
      if (there?.state === 'merged' && state !== 'merged')
        throw planting.seed.complain(
          [...path, 'merge_requests', index],
          `merge request !${there.iid} is merged already`,
        );
      const { db } = planting.app.services.database;
      if (!there && iid !== undefined && !(await reserveMergeRequest(db, id, iid)))
        throw planting.seed.complain(
          [...path, 'merge_requests', index],
          `another merge request has, or had, the number ${iid} or a higher one`,
        );
      const made =
        there ??
        (await by.change<NoteableRecord>('POST /projects/:id/merge_requests', {
          id,
          source_branch,
          ...given(wished),
        }));
      const open = state === 'closed' ? 'closed' : 'opened';
      const isDone = made.state === 'merged' || made.state === open;
      const state_event = isDone ? undefined : open === 'closed' ? 'close' : 'reopen';
      const changed = {
        ...(there && differences(requested(there), sorted(wished))),
        ...given({ state_event }),
      };
      if (Object.keys(changed).length > 0)
        await by.change('PUT /projects/:id/merge_requests/:merge_request_iid', {
          id,
          merge_request_iid: made.iid,
          ...changed,
        });
      await plantComments(here, 'merge_requests', made.iid, each.comments, !there);
    });
}

/** Last of all: it changes the branches that others are about. */
async function mergeMergeRequests({ project, planting, path, id, api }: Here): Promise<void> {
  const merged = [...(project.merge_requests ?? []).entries()].filter(([, { state }]) => state === 'merged');
  if (merged.length === 0) return;
  const known = await api.all<NoteableRecord>('GET /projects/:id/merge_requests', {
    id,
    state: 'opened',
    scope: 'all',
  });
  for (const [index, { iid, title }] of merged) {
    const there = known.find((one) => (iid === undefined ? one.title === title : one.iid === iid));
    if (there)
      await within(planting.seed, [...path, 'merge_requests', index], () =>
        api.change('PUT /projects/:id/merge_requests/:merge_request_iid/merge', {
          id,
          merge_request_iid: there.iid,
        }),
      );
  }
}

/** A pipeline is there where one is of the ref and commit; statuses of its jobs follow the document. */
async function plantPipelines(
  { project, planting, path, id, api }: Here,
  { history, commits }: Planned,
): Promise<void> {
  for (const [index, pipeline] of (project.pipelines ?? []).entries())
    await within(planting.seed, [...path, 'pipelines', index], async () => {
      const { ref = project.default_branch ?? DEFAULT_BRANCH, commit, jobs } = pipeline;
      const planned =
        commit === undefined
          ? (history.branches.get(ref) ?? history.tags.get(ref)?.commit)
          : history.ids.get(commit);
      const sha = commits[planned ?? -1] ?? '';
      if (!jobs) {
        const [there] = await api.all('GET /projects/:id/pipelines', { id, ref, sha });
        if (!there) await api.change('POST /projects/:id/pipeline', { id, ref });
        return;
      }
      type Status = { name: string; status: string };
      const known = await api.all<Status>('GET /projects/:id/repository/commits/:sha/statuses', {
        id,
        sha,
        ref,
      });
      for (const [name, state] of Object.entries(jobs))
        if (known.find((status) => status.name === name)?.status !== state)
          await api.change('POST /projects/:id/statuses/:sha', { id, sha, ref, name, state });
    });
}

async function plantTokens({ project, planting, path, id, api }: Here): Promise<void> {
  const { db } = planting.app.services.database;
  for (const [index, token] of (project.tokens ?? []).entries())
    await within(planting.seed, [...path, 'tokens', index], async () => {
      const known = await tokenWithDigest(db, token);
      if (known?.project_id === id && known.name === token.name) return;
      if (known) throw planting.seed.complain([...path, 'tokens', index], 'another token has this value');
      const { name, scopes = ['api'], role = 'maintainer', expires_at } = token;
      const made = await api.change<{ id: number }>('POST /projects/:id/access_tokens', {
        id,
        ...given({ name, scopes, access_level: levels[role], expires_at }),
      });
      await setTokenValue(db, made.id, token);
    });
}
