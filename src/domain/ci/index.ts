/** Pipelines of projects, what they run with, and what other programs say of commits. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { hookSamples, hookSources } from '../hooks/index.ts';
import { notificationFacts, notificationSubjects } from '../notifications/index.ts';
import { lastPipelines } from '../repositories/index.ts';
import { artifactRoutes } from './artifacts/file-routes.ts';
import { artifactEndpoints } from './artifacts/routes.ts';
import { runnerArtifactEndpoints } from './artifacts/runner-routes.ts';
import { EXPIRE_ARTIFACTS, expireArtifacts } from './artifacts/sweep.ts';
import { badgeRoutes } from './badges/pages.ts';
import { recoverBridges } from './bridges/follow-actions.ts';
import { bridgeListeners, bridgeTasks } from './bridges/tasks.ts';
import type { CreationServices } from './creation/compile-request.ts';
import { createConfigEndpoints } from './creation/create-config-routes.ts';
import { FOLLOW_PUSH, followPush } from './creation/follow-push.ts';
import { creationEndpoints } from './creation/routes.ts';
import { deploymentEndpoints } from './environments/deployment-routes.ts';
import { deletesBranches, FOLLOW_DELETIONS, followDeletions } from './environments/follow-deletions.ts';
import { environmentEndpoints } from './environments/routes.ts';
import { sweepEnvironments } from './environments/stop-actions.ts';
import { takeBack } from './execution/begin-actions.ts';
import { createJobQueue } from './execution/job-queue.ts';
import { executionEndpoints } from './execution/routes.ts';
import { failStuck, startDelayed } from './execution/sweep-actions.ts';
import { freezePeriodEndpoints } from './freeze-periods/routes.ts';
import { jobTokenEndpoints } from './job-token-scope/routes.ts';
import { jobEndpoints } from './jobs/routes.ts';
import { runnerJobEndpoints } from './jobs/runner-routes.ts';
import { lintEndpoints } from './lint/routes.ts';
import { presentPipelineBasic } from './pipelines/present.ts';
import { selectLastPipeline } from './pipelines/queries.ts';
import { reassign } from './pipelines/reassign-actions.ts';
import { pipelineEndpoints } from './pipelines/routes.ts';
import { protectedEnvironmentEndpoints } from './protected-environments/routes.ts';
import { deploymentHooks } from './registrations/deployment-hooks.ts';
import { ciHooks, ciSamples } from './registrations/hook-events.ts';
import { pipelineFact, pipelineSubject } from './registrations/notifications.ts';
import { reportEndpoints } from './reports/routes.ts';
import { assignFree } from './resource-groups/actions.ts';
import { resourceGroupEndpoints } from './resource-groups/routes.ts';
import { ownRunnerEndpoints } from './runners/own-routes.ts';
import { runnerEndpoints } from './runners/routes.ts';
import { WORKER_PATTERN } from './schedules/cron.ts';
import { scheduleEndpoints } from './schedules/routes.ts';
import { RUN, runSchedule, TAKE_DUE, takeDue } from './schedules/run-actions.ts';
import { secureFileEndpoints } from './secure-files/routes.ts';
import { statusEndpoints } from './statuses/routes.ts';
import { ARCHIVE_TRACES, archiveTraces } from './traces/archive-actions.ts';
import { triggerEndpoints } from './triggers/routes.ts';
import { variableEndpoints } from './variables/routes.ts';

export { selectExposedArchives } from './artifacts/queries.ts';
export { archiveTreeEndpoint } from './artifacts/routes.ts';
export type { CreationServices, PipelineRequest } from './creation/compile-request.ts';
export { createPipeline } from './creation/create-actions.ts';
export { openMergeRequests } from './creation/open-merge-requests.ts';
export { createUnattended } from './creation/unattended.ts';
export { selectDeployedRange } from './environments/queries.ts';
export { OneDeployment } from './environments/schema.ts';
export { isDebugTrace } from './execution/queries.ts';
export { configurationTemplates } from './file/includes/templates.ts';
export { isHash, type Value as YamlValue } from './file/reading/value.ts';
export { readYaml } from './file/reading/yaml.ts';
export { selectJobOfToken } from './job-token-scope/queries.ts';
export { countByStage } from './jobs/queries.ts';
export { jobEndpoint, pipelineJobsEndpoint } from './jobs/routes.ts';
export type { Job } from './jobs/schema.ts';
export { presentPipelineBasic } from './pipelines/present.ts';
export type { PipelineRow } from './pipelines/queries.ts';
export { pipelineEndpoint, pipelinesEndpoint, showPipeline } from './pipelines/routes.ts';
export { Pipeline } from './pipelines/schema.ts';
export { type FileCoverage, readPipelineCoverage, selectCoverageReports } from './reports/read-coverage.ts';
export { type StatusRow, selectStatusesOf } from './statuses/queries.ts';
export { fileOf as liveTraceFile, liveFolders, liveIn, openLive } from './traces/live-traces.ts';
export { traceText } from './traces/trace-text.ts';
export { readTraceEnd } from './traces/traces.ts';

const START_DELAYED = 'ci.start_delayed';
const TAKE_BACK = 'ci.take_back';
const FAIL_STUCK = 'ci.fail_stuck';
const SWEEP_ENVIRONMENTS = 'ci.sweep_environments';
const ASSIGN_RESOURCES = 'ci.assign_resources';

export const ciCapability = (
  services: CreationServices &
    Needs<'authenticator' | 'blobs' | 'disk' | 'limiter' | 'log' | 'park' | 'wake'>,
): Capability => ({
  name: 'ci',
  endpoints: [
    ...creationEndpoints,
    ...createConfigEndpoints,
    ...lintEndpoints,
    ...pipelineEndpoints,
    ...jobEndpoints,
    ...executionEndpoints(createJobQueue(services)),
    ...jobTokenEndpoints,
    ...runnerJobEndpoints,
    ...runnerArtifactEndpoints,
    ...artifactEndpoints,
    ...reportEndpoints,
    ...statusEndpoints,
    ...variableEndpoints,
    ...triggerEndpoints,
    ...scheduleEndpoints,
    ...ownRunnerEndpoints,
    ...runnerEndpoints,
    ...environmentEndpoints,
    ...deploymentEndpoints,
    ...resourceGroupEndpoints,
    ...protectedEnvironmentEndpoints,
    ...freezePeriodEndpoints,
    ...secureFileEndpoints,
  ],
  routes: [...artifactRoutes(services), ...badgeRoutes(services)],
  tasks: {
    ...bridgeTasks(services),
    [FOLLOW_PUSH]: followPush(services),
    [FOLLOW_DELETIONS]: followDeletions(services),
    [START_DELAYED]: () => startDelayed(services.database.background),
    [TAKE_BACK]: () => takeBack(services.database.background),
    [FAIL_STUCK]: async () => {
      await failStuck(services.database.background);
      await recoverBridges(services.database.background);
    },
    [ARCHIVE_TRACES]: (payload) => archiveTraces(services, payload),
    [TAKE_DUE]: takeDue(services),
    [RUN]: runSchedule(services),
    [ASSIGN_RESOURCES]: () => assignFree(services.database.background),
    [SWEEP_ENVIRONMENTS]: () => sweepEnvironments(services.database.background),
    [EXPIRE_ARTIFACTS]: () => expireArtifacts(services),
  },
  schedules: [
    { task: START_DELAYED, pattern: '* * * * *' },
    { task: TAKE_BACK, pattern: '* * * * *' },
    { task: FAIL_STUCK, pattern: '11,41 * * * *' },
    { task: ARCHIVE_TRACES, pattern: '*/5 * * * *' },
    { task: TAKE_DUE, pattern: WORKER_PATTERN },
    { task: ASSIGN_RESOURCES, pattern: '* * * * *' },
    { task: SWEEP_ENVIRONMENTS, pattern: '* * * * *' },
    { task: EXPIRE_ARTIFACTS, pattern: '*/7 * * * *' },
  ],
  listeners: [
    // Beside the others of the project: mails and webhooks need not wait for what a file comes to.
    {
      fact: 'repository_pushed',
      task: FOLLOW_PUSH,
      queue: 'pipelines',
      when: ({ user_id, by_job }) => user_id !== null && by_job !== true,
    },
    { fact: 'repository_pushed', task: FOLLOW_DELETIONS, queue: 'pipelines', when: deletesBranches },
    ...bridgeListeners(services),
  ],
  registrations: [
    hookSources.add(...ciHooks, deploymentHooks),
    hookSamples.add(...ciSamples),
    notificationFacts.add(pipelineFact),
    notificationSubjects.add(pipelineSubject),
    lastPipelines.add(async ({ database, baseUrl }, project, sha) => {
      const row = await selectLastPipeline(database.db, project, sha);
      return row && presentPipelineBasic(baseUrl(), project, row);
    }),
  ],
  // They go with their project, group or owner, by foreign key; runners stay behind their projects, as orphans.
  tables: [
    ...[
      'pipelines',
      'pipeline_variables',
      'ci_jobs',
      'ci_artifacts',
      'ci_traces',
      'ci_variables',
      'trigger_tokens',
    ],
    ...['pipeline_schedules', 'pipeline_schedule_variables'],
    ...['runners', 'runner_projects', 'runner_managers', 'runner_registration_tokens'],
    ...[
      'environments',
      'deployments',
      'deployment_approvals',
      'resource_groups',
      'protected_environments',
      'protected_environment_access',
      'freeze_periods',
      'job_token_allowlist',
      'secure_files',
    ],
  ],
  unique: {
    pipeline_schedule_variables_schedule_id_key_key: { property: 'key' },
    environments_name: { property: 'name' },
    secure_files_name: { property: 'name' },
    environments_slug: { property: 'slug' },
  },
  reassign,
});
