/** Closes issues after merges, and after pushes to default branches, in the name of who merged or pushed. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import { PUBLIC } from '../../../kernel/policy/roles.ts';
import { Failure } from '../../../platform/failure.ts';
import { commitsBetween, listHistory } from '../../../platform/git/history/history.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { type ActorContext, usersByIds } from '../../conversation/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { closeVia, findNamedIssues } from '../../work-items/index.ts';
import { closingReferences } from '../texts/closing-grammar.ts';
import { selectClosing, selectMergedCommits } from './queries.ts';

export const CLOSE_FOR_MERGED = 'merge_requests.close_issues';
export const CLOSE_FOR_COMMITS = 'merge_requests.close_issues_by_commits';

/** The newest commits of a push that close issues: the first push of a long history closes few. */
const MAX_COMMITS = 100;

export type ClosingServices = ActorContext['services'];
type Closer = { actor: Actor; project: AuthorizedProject };

/** The user with the rights in the project; undefined for one who is blocked or may not read it any more. */
async function findCloser(
  { database: { background, points } }: ClosingServices,
  projectId: number,
  userId: number,
): Promise<Closer | undefined> {
  const [person] = await usersByIds(background, [userId]);
  if (!person) return undefined;
  const actor = toActor(person, { via: 'password' });
  try {
    return { actor, project: await authorizeProject(points, actor, 'read_project', projectId) };
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}

/** The task of `merge_request_merged`; run again, it closes nothing twice. */
export const closeForMerged =
  (services: ClosingServices): Task =>
  async (payload) => {
    const { merge_request_id, user_id } = payload as { merge_request_id: number; user_id: number };
    const db = services.database.background;
    const closing = await selectClosing(db, merge_request_id);
    const closer = closing && (await findCloser(services, closing.project_id, user_id));
    if (!closer) return;
    const { actor, project } = closer;
    for (const issueId of closing.issues) {
      await closeVia({ db, services, actor }, issueId, (home) => ({
        cause: { mergeRequestId: merge_request_id },
        reference: `merge request ${home.id === project.id ? '' : project.fullPath}!${closing.iid}`,
      }));
    }
  };

/** Pushed commits, oldest first; none where their messages are too long together. */
async function readPushed(git: GitFolder, { before, after }: RefUpdate): Promise<Commit[]> {
  try {
    if (before !== NO_OBJECT) return await commitsBetween(git, git, before, after, MAX_COMMITS);
    return (await listHistory(git, after, {}, { offset: 0, limit: MAX_COMMITS })).reverse();
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unprocessable') return [];
    throw error;
  }
}

async function closeForCommit(services: ClosingServices, closer: Closer, commit: Commit): Promise<void> {
  const { actor, project } = closer;
  const { background: db, points } = services.database;
  const named = closingReferences(services.baseUrl(), [commit.message]);
  for (const issueId of await findNamedIssues({ db, points }, actor, project, named)) {
    await closeVia({ db, services, actor }, issueId, (home) => ({
      cause: { commit: commit.oid },
      // Readers of the issue may not know the other project.
      reference: `commit ${home.id === project.id || project.row.visibility < PUBLIC ? '' : `${project.fullPath}@`}${commit.oid}`,
    }));
  }
}

/** The task of `repository_pushed`: what merge requests bring is closed by them instead. */
export const closeForCommits =
  (services: ClosingServices): Task =>
  async (payload) => {
    const { project_id, user_id, updates } = payload as unknown as {
      project_id: number;
      user_id: number | null;
      updates: RefUpdate[];
    };
    const closer = user_id === null ? undefined : await findCloser(services, project_id, user_id);
    if (!closer) return;
    const { id, row } = closer.project;
    const main = fullRef('branch', row.default_branch ?? '');
    const update = updates.find(({ ref, after }) => ref === main && after !== NO_OBJECT);
    if (!update) return;
    const read = (git: GitFolder) => readPushed(git, update);
    const pushed =
      (await services.repositories.read(projectRepository(id), row.repository_storage, read)) ?? [];
    if (pushed.length === 0) return;
    const merged = await selectMergedCommits(
      services.database.background,
      id,
      pushed.map(({ oid }) => oid),
    );
    for (const commit of pushed) if (!merged.has(commit.oid)) await closeForCommit(services, closer, commit);
  };
