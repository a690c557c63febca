/** Makes pipelines of merge requests (facts for CI: When pipelines are created). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Log } from '../../../platform/log.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import {
  type CreationServices,
  createPipeline,
  createUnattended,
  type PipelineRequest,
} from '../../ci/index.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import { guardRefs, projectUrl } from '../../repositories/index.ts';
import { isApproved } from '../approvals/loaded.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import { presentBasic } from '../records/merge-request-records.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { loadMergeRequestRelations } from '../records/relation-queries.ts';
import { mergeRequestVariables } from './variables.ts';

export const MAKE_PIPELINE = 'merge_requests.make_pipeline';

type Making = { services: CreationServices; actor: Actor };
type Projects = { source: AuthorizedProject; target: AuthorizedProject };

/** The projects of both branches, with the user's rights; undefined where one is gone or hidden from them. */
async function findProjects(
  { services, actor }: Making,
  row: MergeRequestRow,
): Promise<Projects | undefined> {
  if (row.source_project_id === null) return undefined;
  const mode = { admin_mode: actor.adminMode };
  const target = await findUserOfProject(services, row.project_id, actor.id, mode);
  const source =
    row.source_project_id === row.project_id
      ? target
      : await findUserOfProject(services, row.source_project_id, actor.id, mode);
  return source && target && { source: source.project, target: target.project };
}

/** The variables that jobs have; none where the author or the project is gone. */
async function readVariables(
  { services, actor }: Making,
  { source, target }: Projects,
  row: MergeRequestRow,
) {
  const { db } = services.database;
  const settings = await services.settings.read();
  const relations = await loadMergeRequestRelations({ db, services, settings, actor }, [row], {
    single: true,
  });
  const record = presentBasic({ services, settings }, relations, row, {});
  const version = relations.single?.version;
  if (!record || !version) return [];
  const [ofSource, ofTarget] = await Promise.all(
    [source, target].map((project) => guardRefs(db, project, actor, settings)),
  );
  const side = (project: AuthorizedProject, guard: typeof ofSource, branch: string) => ({
    id: project.id,
    fullPath: project.fullPath,
    url: projectUrl(services.baseUrl(), project),
    isProtected: guard?.isProtected(branch) ?? false,
  });
  return mergeRequestVariables({
    record,
    version,
    source: side(source, ofSource, row.source_branch),
    target: side(target, ofTarget, row.target_branch),
    isApproved: services.config.tier === 'free' ? undefined : isApproved(relations.approvals.get(row.id)),
  });
}

const requestOf = (making: Making, projects: Projects, row: MergeRequestRow): PipelineRequest => ({
  source: 'merge_request_event',
  ref: row.source_branch,
  mergeRequest: {
    id: row.id,
    iid: row.iid,
    sourceProjectId: projects.source.id,
    targetProjectId: projects.target.id,
    targetBranch: row.target_branch,
    headSha: row.head_sha ?? '',
    variables: () => readVariables(making, projects, row),
  },
});

/** Whether there is anything that a pipeline could run. */
const isRunnable = ({ state, head_sha, commits_count }: MergeRequestRow): boolean =>
  state === 'opened' && head_sha !== null && commits_count > 0;

/** In the source's project; a member of the target's who asks for it runs a fork's there. */
function homeOf({ source, target }: Projects): AuthorizedProject | undefined {
  const takesForks =
    source.id === target.id ||
    projectSettings(target.row).ci_allow_fork_pipelines_to_run_in_parent_project === true;
  return [...(takesForks ? [target] : []), source].find((project) => project.may('run_pipelines'));
}

/**
 * Makes a pipeline on request, and says in which project; undefined where the user may run none, and for a merge request
 * that has nothing to run. 400 as other pipelines.
 */
export async function makeRequestedPipeline(
  making: Making,
  row: MergeRequestRow,
): Promise<{ id: number; home: AuthorizedProject } | undefined> {
  const projects = isRunnable(row) ? await findProjects(making, row) : undefined;
  const home = projects && homeOf(projects);
  if (!home) return undefined;
  const pipeline = await createPipeline({ ...making, subject: home }, requestOf(making, projects, row));
  return pipeline && { id: pipeline.id, home };
}

/** Beside what else follows the facts of a project: it need not wait for what a file comes to. */
export const pipelineListeners: Listener[] = [
  ...['merge_request_created', 'merge_request_reopened', 'merge_request_pushed'].map(
    (fact): Listener => ({
      fact,
      task: MAKE_PIPELINE,
      queue: 'pipelines',
      // What a job pushes starts no pipeline, which might push again.
      when: ({ by_job }) => by_job !== true,
    }),
  ),
  {
    fact: 'merge_request_updated',
    task: MAKE_PIPELINE,
    queue: 'pipelines',
    when: ({ changes }) => typeof changes === 'object' && changes !== null && 'target_branch' in changes,
  },
];

/** After a fact, in the project of the source branch, as the one who opened it or pushed; or, later, for who asked for it. */
export const makePipeline =
  (services: CreationServices & { log: Log }): Task =>
  async (payload) => {
    const { fact_id, merge_request_id, user_id } = payload as {
      fact_id?: number;
      merge_request_id: number;
      user_id: number;
    };
    const row = await selectMergeRequest(services.database.db, merge_request_id);
    if (!row || !isRunnable(row)) return;
    const user = await findUserOfProject(services, row.project_id, user_id, payload);
    if (!user) return;
    const making = { services, actor: user.actor };
    const projects = await findProjects(making, row);
    const home = projects && (fact_id === undefined ? homeOf(projects) : projects.source);
    if (!projects || !home?.may('run_pipelines')) return;
    await createUnattended(
      { services, actor: user.actor, subject: home },
      { ...requestOf(making, projects, row), ...(fact_id !== undefined && { factId: fact_id }) },
    );
  };
