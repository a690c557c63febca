/** Gives a runner its next job, with all that it needs to run it. */
import { reachProject } from '../../../kernel/access/find.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { digest, randomHex } from '../../../platform/secret.ts';
import { readRepository } from '../../repositories/index.ts';
import { type CreationServices, configPathOf } from '../creation/compile-request.ts';
import { keepAddress } from '../environments/of-job-actions.ts';
import { sourceOf, variableLookup } from '../file/expansion.ts';
import type { PlannedJob } from '../file/plan.ts';
import { signTokens } from '../identity-tokens/sign.ts';
import { sentSecrets } from '../identity-tokens/vault-secrets.ts';
import { JOB_TOKEN_PREFIX } from '../job-token-scope/authenticate-job.ts';
import type { JobRow } from '../processing/process-actions.ts';
import type { Manager } from '../runners/authenticate.ts';
import type { AuthenticRunner } from '../runners/authenticate-queries.ts';
import { beginJob } from './begin-actions.ts';
import { cacheKeys } from './cache-keys.ts';
import { claimJob } from './claim-actions.ts';
import { finishJob, markDebugTrace } from './finish-actions.ts';
import { dotenvOf, readSources } from './job-sources.ts';
import { jobPayload } from './payload.ts';
import { selectPipelineOf } from './queries.ts';
import { readDependencies } from './read-dependencies.ts';
import { isDebugged, isSupported } from './rules.ts';

/** By one request: one that waits for thousands of jobs to fail is held up too long. */
const MAX_LOOKED_AT = 20;

/**
 * What the runner is told of its job; `nothing_waits` that it may take, or none of those that were looked at could be handed out.
 * Such a job fails, and the next one is looked at; where that is a fault of ours, it runs once more.
 */
export async function giveJob(
  services: CreationServices & Needs<'authenticator' | 'wake'>,
  runner: AuthenticRunner,
  manager: Manager,
): Promise<Record<string, unknown> | 'nothing_waits' | 'more_may_wait'> {
  const { db } = services.database;
  for (let looked = 0; looked < MAX_LOOKED_AT; looked++) {
    const token = `${JOB_TOKEN_PREFIX}${randomHex(20)}`;
    const claimed = await claimJob(db, {
      runner,
      managerId: manager.id,
      cancelGracefully: manager.features.cancel_gracefully === true,
      prepares: manager.features.two_phase_job_commit === true,
      digest: digest(token),
    });
    if (!claimed) return 'nothing_waits';
    services.wake();
    const drop = async (failure_reason: string): Promise<void> => {
      const begun = claimed.status === 'pending' ? await beginJob(db, claimed) : claimed;
      if (begun) await finishJob(db, begun, { state: 'failed', failure_reason });
      services.wake();
    };
    // One that is prepared first begins soon.
    const job = { ...claimed, started_at: claimed.started_at ?? now() };
    const payload = await payloadOf(services, { runner, manager }, job, token).catch(
      async (fault: unknown) => {
        await drop('scheduler_failure');
        throw fault;
      },
    );
    if (typeof payload !== 'string') return payload;
    await drop(payload);
  }
  return 'more_may_wait';
}

/** All that a runner needs to run the job, or why it cannot. */
async function payloadOf(
  services: CreationServices & Needs<'authenticator'>,
  { runner, manager }: { runner: AuthenticRunner; manager: Manager },
  job: JobRow,
  token: string,
): Promise<Record<string, unknown> | string> {
  const { db, points } = services.database;
  const [pipeline, project] = await Promise.all([
    selectPipelineOf(points, job),
    reachProject(points, job.project_id),
  ]);
  // The column holds what the compiler planned.
  const planned = job.options as unknown as PlannedJob;
  if (!isSupported(planned, manager.features)) return 'runner_unsupported';
  const atCommit =
    project &&
    pipeline &&
    (await readRepository(services, project, async (git) => {
      const commit = await findCommit(git, pipeline.sha);
      return commit && { commit, cacheKeys: await cacheKeys(git, commit, planned.cache) };
    }));
  if (!project || !pipeline || !atCommit) return 'data_integrity_failure';
  const { commit } = atCommit;
  const of = { job, planned, pipeline, project, commit };
  const sources = await readSources(services, of);
  const dependencies = await readDependencies(services, of, sources, token);
  if (!dependencies) return 'missing_dependency_failure';
  const settings = projectSettings(project.row);
  const known = [...sources.predefined, ...planned.variables, ...sources.overriding];
  const identities = await signTokens(
    services,
    { ...of, configPath: configPathOf(project), user: sources.user, environment: sources.environment },
    known,
  );
  if (!identities) return 'data_integrity_failure';
  const secrets = sentSecrets(planned.secrets, identities, variableLookup(sourceOf(known)));
  if (!secrets) return 'secrets_provider_not_found';
  const payload = jobPayload({
    baseUrl: services.baseUrl(),
    job,
    planned,
    pipeline,
    token,
    project: {
      id: project.id,
      name: project.row.path,
      fullPath: project.fullPath,
      namespaceId: project.row.namespace_id,
      rootId: project.row.ancestor_ids[0] ?? project.row.namespace_id,
      gitDepth: settings.ci_default_git_depth ?? 0,
      fetches: settings.build_git_strategy === 'fetch',
      separatedCaches: settings.ci_separated_caches,
    },
    runner: {
      id: runner.id,
      description: runner.description,
      tags: runner.tag_list,
      isShared: runner.runner_type === 'instance_type',
    },
    ...sources,
    handedOn: dotenvOf(services, dependencies),
    cacheKeys: atCommit.cacheKeys,
    dependencies,
    identities,
    secrets,
  });
  if (!payload) return 'data_integrity_failure';
  if (isDebugged(payload.variables)) await markDebugTrace(db, job);
  const address = payload.variables.find(({ key }) => key === 'CI_ENVIRONMENT_URL');
  if (sources.environment && planned.environment?.url && address) await keepAddress(db, job, address.value);
  return payload;
}
