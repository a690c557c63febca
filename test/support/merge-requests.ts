/** Projects with branches, and merge requests between them, over the API. */
import type { Called, Site, TestApp } from './app.ts';
import { bodyOf, type MadeProject, type MadeUser, makeMembers, makeProject, makeUser } from './factories.ts';
import { until } from './waiting.ts';

/** Commits files to a branch, which begins at `start` where it is new; the commit's id. */
export async function commitTo(
  site: Pick<Site, 'root'>,
  projectId: number,
  branch: string,
  files: Readonly<Record<string, string | null>>,
  { start = 'main', message = `Change ${branch}` }: { start?: string; message?: string } = {},
): Promise<string> {
  const path = `/projects/${projectId}/repository`;
  const known = await site.root(`GET ${path}/branches/${encodeURIComponent(branch)}`);
  const isThere = async (file: string) =>
    (
      await site.root(`HEAD ${path}/files/${encodeURIComponent(file)}`, {
        query: `ref=${encodeURIComponent(known.status === 200 ? branch : start)}`,
      })
    ).status === 200;
  const actions = await Promise.all(
    Object.entries(files).map(async ([file_path, content]) => ({
      action: content === null ? 'delete' : (await isThere(file_path)) ? 'update' : 'create',
      file_path,
      content: content ?? undefined,
    })),
  );
  const body = {
    branch,
    ...(known.status !== 200 && branch !== 'main' && { start_branch: start }),
    commit_message: message,
    actions,
  };
  return bodyOf(await site.root(`POST ${path}/commits`, { body }), 201).id;
}

/** A project whose `main` has a file. */
export async function makeReviewedProject(
  app: TestApp,
  attributes: Record<string, unknown> = {},
): Promise<MadeProject> {
  const project = await makeProject(app, attributes);
  await commitTo(app, project.id, 'main', { 'a.txt': 'one\n' }, { message: 'First' });
  return project;
}

/** The record of a new merge request of root's, from a branch that adds a file to main; `attributes` as of the POST. */
export async function makeMergeRequest(
  app: Pick<Site, 'root'>,
  projectId: number,
  branch: string,
  attributes: Record<string, unknown> = {},
): Promise<Called['body']> {
  await commitTo(app, projectId, branch, { [`${branch}.txt`]: `${branch}\n` });
  const body = { title: `Merge ${branch}`, source_branch: branch, target_branch: 'main', ...attributes };
  return bodyOf(await app.root(`POST /projects/${projectId}/merge_requests`, { body }), 201);
}

/** Who sees the merge requests of projects: by what the project's settings are. */
export const readersBySettings: readonly [settings: Record<string, string>, readers: readonly Reader[]][] = [
  [{ visibility: 'private' }, ['reporter']],
  [{ visibility: 'public' }, ['stranger', 'guest', 'reporter']],
  [{ visibility: 'public', merge_requests_access_level: 'private' }, ['reporter']],
  [{ visibility: 'public', repository_access_level: 'private' }, ['reporter']],
  [{ visibility: 'public', merge_requests_access_level: 'disabled' }, []],
  [{ visibility: 'public', repository_access_level: 'disabled' }, []],
];
type Reader = 'stranger' | 'guest' | 'reporter';

export type ReaderWorld = {
  project: MadeProject;
  mergeRequest: Called['body'];
  readers: Record<Reader, MadeUser>;
  /** Gives the project these settings. */
  configure(): Promise<void>;
};

/** A project with a merge request and its readers, which has not these settings yet but for its visibility. */
export async function makeReaderWorld(
  app: TestApp,
  settings: Record<string, string>,
  attributes: Record<string, unknown> = {},
): Promise<ReaderWorld> {
  const project = await makeReviewedProject(app, { visibility: settings.visibility });
  const members = await makeMembers(app, `projects/${project.id}`, 'guest', 'reporter');
  return {
    project,
    mergeRequest: await makeMergeRequest(app, project.id, 'topic', attributes),
    readers: { stranger: await makeUser(app), ...members },
    async configure() {
      bodyOf(await app.root(`PUT /projects/${project.id}`, { body: settings }), 200);
    },
  };
}

/** Those of the readers for whom this is true, in their order. */
export async function readersWho(
  { readers }: Pick<ReaderWorld, 'readers'>,
  holds: (reader: MadeUser) => Promise<boolean>,
): Promise<Reader[]> {
  const found: Reader[] = [];
  for (const name of ['stranger', 'guest', 'reporter'] as const)
    if (await holds(readers[name])) found.push(name);
  return found;
}

/** Waits until what merge requests and issues do about all announced facts is done. */
export async function waitForFollowing(app: TestApp): Promise<void> {
  const { sql } = app.app.services.database;
  await until(async () => {
    app.app.services.wake();
    const [row] = await sql<{ waiting: number }[]>`
      select (select count(*) from outbox)::integer + (select count(*) from graphile_worker.jobs
        where task_identifier similar to '(merge_requests|issues|epics|snippets).%')::integer as waiting`;
    return row?.waiting === 0;
  }, 'pushes and merges were not followed');
}

/** Twenty lines, of which some are replaced by their numbers. */
export const numberedLines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 20 }, (_, at) => `${changed[at + 1] ?? `line ${at + 1}`}\n`).join('');

/** A project with a merge request that changes line 5 of `a.txt`, and its record; worlds of one message may share commits. */
export async function makeReviewWorld(
  app: TestApp,
  attributes: Record<string, unknown> = {},
  message = 'First',
): Promise<{ project: MadeProject; mergeRequest: Called['body']; path: string }> {
  const project = await makeProject(app, attributes);
  const { id } = project;
  await commitTo(app, id, 'main', { 'a.txt': numberedLines(), 'other.txt': 'other\n' }, { message });
  await commitTo(app, id, 'topic', { 'a.txt': numberedLines({ 5: 'five' }) });
  const body = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const made = bodyOf(await app.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  return { project, mergeRequest: made, path: `/projects/${id}/merge_requests/${made.iid}` };
}

/** A position in the text of the latest version's `a.txt`. */
export const positionIn = (
  { mergeRequest }: { mergeRequest: Called['body'] },
  lines: Record<string, unknown>,
): Record<string, unknown> => ({
  ...mergeRequest.diff_refs,
  position_type: 'text',
  old_path: 'a.txt',
  new_path: 'a.txt',
  ...lines,
});
