/** Starts the pipelines of bridges whose turn it is, after the commit: of each one, however often it is tried. */

import { type AuthorizedProject, selectProjectAt } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { isOutside } from '../../../platform/db/errors.ts';
import { Failure } from '../../../platform/failure.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import type { Log } from '../../../platform/log.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import { readRepository } from '../../repositories/index.ts';
import { readArchivedText } from '../artifacts/archived-text.ts';
import {
  type CreationServices,
  type Creator,
  mayRunRef,
  type PipelineRequest,
} from '../creation/compile-request.ts';
import { createPipeline, FullHierarchy } from '../creation/create-actions.ts';
import { isBusy } from '../creation/unattended.ts';
import { dependsOn } from '../execution/dependencies.ts';
import { dotenvOf, readSources } from '../execution/job-sources.ts';
import { ownVariables } from '../execution/payload.ts';
import { selectPipelineOf } from '../execution/queries.ts';
import type { ContextVariable } from '../file/context.ts';
import type { PlannedJob, PlannedTrigger } from '../file/plan.ts';
import { refOfPipeline } from '../pipelines/refs.ts';
import { selectAncestry } from '../processing/hierarchy-queries.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';
import { begin, failBridge, subscribe } from './follow-actions.ts';
import { selectBridge, selectFinished, selectFollowed, selectUpstreamPipeline } from './queries.ts';
import { handedOn, hierarchyRefusal, requestOfMergeRequest } from './rules.ts';

export type BridgeServices = CreationServices & { log: Log } & Needs<'blobs' | 'wake'>;

type Bridge = { job: JobRow; trigger: PlannedTrigger; planned: PlannedJob; pipeline: PipelineRow };

/** Starts what the bridge is for, where it still waits for that; where it cannot, the bridge fails. */
export async function startBridge(services: BridgeServices, id: number): Promise<void> {
  const { db } = services.database;
  const job = await selectBridge(db, id);
  if (job?.status !== 'pending') return;
  // The column holds what the compiler planned.
  const planned = job.options as unknown as PlannedJob;
  const { trigger } = planned;
  if (!trigger) return failBridge(db, id, 'data_integrity_failure');
  const pipeline = await selectPipelineOf(services.database.points, job);
  if (!pipeline) return;
  const bridge = { job, trigger, planned, pipeline };
  const refusal = (await selectFollowed(db, job))
    ? undefined
    : await startPipeline(services, bridge).catch((error: unknown) => refusalOf(services, bridge, error));
  return refusal === undefined ? begin(db, id) : failBridge(db, id, refusal);
}

/** What would fail again is the failure of the bridge; what is busy, and faults of the database and the machine, are tried again. */
function refusalOf({ log }: BridgeServices, { job }: Bridge, error: unknown): string {
  const isTriedAgain = error instanceof Failure ? isBusy(error) : isOutside(error);
  if (isTriedAgain) throw error;
  if (error instanceof FullHierarchy) return 'reached_max_pipeline_hierarchy_size';
  const text = 'a bridge started no pipeline';
  if (error instanceof Failure) log.info(text, { job_id: job.id, error: error.message });
  else log.error(text, error, { job_id: job.id });
  return 'downstream_pipeline_creation_failed';
}

/** The reason for which the bridge fails; undefined where there is a pipeline for it to follow. */
async function startPipeline(services: BridgeServices, bridge: Bridge): Promise<string | undefined> {
  const { job, trigger, pipeline } = bridge;
  const { db } = services.database;
  const user = await findUserOfProject(services, job.project_id, job.user_id);
  if (!user?.project.may('run_pipelines')) return 'insufficient_bridge_permissions';
  const { target } = trigger;
  const subject =
    target.kind === 'child'
      ? user.project
      : await selectProjectAt(services.database.points, user.actor, 'read_project', target.project);
  if (target.kind === 'upstream') return follow(services, bridge, subject);
  if (!subject) return 'downstream_bridge_project_not_found';
  if (target.kind === 'project' && subject.id === job.project_id) return 'invalid_bridge_trigger';
  const refusal = hierarchyRefusal(target.kind, await selectAncestry(db, pipeline.id));
  if (refusal !== undefined) return refusal;

  const creator: Creator = { services, actor: user.actor, subject };
  const request = await requestOf(services, bridge, user.project, subject);
  if (!request) return 'data_integrity_failure';
  if (!subject.may('run_pipelines') || !(await mayRunRef(creator, request)))
    return 'insufficient_bridge_permissions';
  await createPipeline(creator, request);
  return undefined;
}

async function follow(
  { database: { db } }: BridgeServices,
  { job }: Bridge,
  upstream: AuthorizedProject | undefined,
): Promise<string | undefined> {
  if (!upstream) return 'upstream_bridge_project_not_found';
  const followed = upstream.may('read_pipelines') && (await selectUpstreamPipeline(db, upstream));
  if (!followed) return 'insufficient_upstream_permissions';
  await subscribe(db, job.id, followed.id);
  return undefined;
}

/** Undefined where the commit of the pipeline is gone, or its variables are too long. */
async function requestOf(
  services: BridgeServices,
  bridge: Bridge,
  own: AuthorizedProject,
  subject: AuthorizedProject,
): Promise<PipelineRequest | undefined> {
  const { job, trigger, planned, pipeline } = bridge;
  const { target, forward, inputs } = trigger;
  const commit = await readRepository(services, own, (git) => findCommit(git, pipeline.sha));
  if (!commit) return undefined;
  const sources = await readSources(services, { job, planned, pipeline, project: own, commit });
  const ofJob = ownVariables({
    baseUrl: services.baseUrl(),
    job,
    planned,
    pipeline,
    environment: undefined,
    project: own,
  });
  const known: ContextVariable[] = [
    ...sources.predefined,
    ...ofJob,
    ...planned.variables,
    ...dotenvOf(services, sources.left.filter(dependsOn(job, planned))),
    ...sources.overriding,
  ];
  const variables = handedOn(forward, planned.variables, sources.given, known);
  if (!variables) return undefined;
  const shared = {
    variables,
    bridge: { job_id: job.id, pipeline_id: pipeline.id, project_id: pipeline.project_id },
    ...(Object.keys(inputs).length > 0 && { inputs }),
  };
  if (target.kind === 'child')
    return {
      ...shared,
      source: 'parent_pipeline',
      ...refOfParent(pipeline),
      beforeSha: pipeline.before_sha,
      configuration: {
        // Every text in JSON is one in YAML.
        text: JSON.stringify({ include: target.include }),
        artifact: (name, path) => readArtifact(services, pipeline, own, name, path),
      },
    };
  return {
    ...shared,
    source: 'pipeline',
    ref: (target.kind === 'project' && target.branch) || (subject.row.default_branch ?? ''),
  };
}

/** A child is of the commit of its parent. */
function refOfParent(pipeline: PipelineRow): Pick<PipelineRequest, 'ref' | 'tag' | 'sha' | 'mergeRequest'> {
  const { ref } = refOfPipeline(pipeline);
  const mergeRequest = requestOfMergeRequest(pipeline);
  return mergeRequest ? { ref, mergeRequest } : { ref, tag: pipeline.tag, sha: pipeline.sha };
}

/** A file that a job of the parent made. */
async function readArtifact(
  services: BridgeServices,
  pipeline: PipelineRow,
  project: AuthorizedProject,
  name: string,
  path: string,
): Promise<string | undefined> {
  const job = await selectFinished(services.database.db, pipeline, name);
  return job && readArchivedText(services, project, job.id, path);
}
