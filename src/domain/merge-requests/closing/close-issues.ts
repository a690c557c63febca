/** Closes issues after merges, and after pushes to default branches, in the name of who merged or pushed. */
import { PUBLIC } from '../../../kernel/policy/roles.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { type ActorContext, findUserOfProject, type UserOfProject } from '../../conversation/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { closeVia, findNamedIssues } from '../../work-items/index.ts';
import { closingReferences } from '../texts/closing-grammar.ts';
import { readPushed } from './pushed-commits.ts';
import { selectClosing, selectMergedCommits } from './queries.ts';

export const CLOSE_FOR_MERGED = 'merge_requests.close_issues';
export const CLOSE_FOR_COMMITS = 'merge_requests.close_issues_by_commits';

export type ClosingServices = ActorContext['services'];
/** The task of `merge_request_merged`; run again, it closes nothing twice. */
export const closeForMerged =
  (services: ClosingServices): Task =>
  async (payload) => {
    const { merge_request_id, user_id } = payload as { merge_request_id: number; user_id: number };
    const db = services.database.background;
    const closing = await selectClosing(db, merge_request_id);
    const closer = closing && (await findUserOfProject(services, closing.project_id, user_id, payload));
    if (!closer) return;
    const { actor, project } = closer;
    for (const issueId of closing.issues) {
      await closeVia({ db, services, actor }, issueId, (home) => ({
        cause: { mergeRequestId: merge_request_id },
        reference: `merge request ${home.id === project.id ? '' : project.fullPath}!${closing.iid}`,
      }));
    }
  };

async function closeForCommit(
  services: ClosingServices,
  closer: UserOfProject,
  commit: Commit,
): Promise<void> {
  const { actor, project } = closer;
  const { background: db, points } = services.database;
  const named = closingReferences(services.baseUrl(), [commit.message]);
  for (const { id = 0 } of await findNamedIssues(
    { db, points },
    actor,
    { project, group: undefined },
    named,
  )) {
    await closeVia({ db, services, actor }, id, (home) => ({
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
    const closer =
      user_id === null ? undefined : await findUserOfProject(services, project_id, user_id, payload);
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
