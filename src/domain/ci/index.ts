/** Pipelines of projects, what they run with, and what other programs say of commits. */
import type { Capability } from '../../kernel/capability.ts';
import { lastPipelines } from '../repositories/index.ts';
import { jobEndpoints } from './jobs/routes.ts';
import { presentPipelineBasic } from './pipelines/present.ts';
import { selectLastPipeline } from './pipelines/queries.ts';
import { reassign } from './pipelines/reassign-actions.ts';
import { pipelineEndpoints } from './pipelines/routes.ts';
import { statusEndpoints } from './statuses/routes.ts';
import { triggerEndpoints } from './triggers/routes.ts';
import { variableEndpoints } from './variables/routes.ts';

export { jobEndpoint, pipelineJobsEndpoint } from './jobs/routes.ts';
export type { Job } from './jobs/schema.ts';
export { pipelineEndpoint, pipelinesEndpoint } from './pipelines/routes.ts';
export { type StatusRow, selectStatusesOf } from './statuses/queries.ts';

export const ciCapability = (): Capability => ({
  name: 'ci',
  endpoints: [
    ...pipelineEndpoints,
    ...jobEndpoints,
    ...statusEndpoints,
    ...variableEndpoints,
    ...triggerEndpoints,
  ],
  registrations: [
    lastPipelines.add(async ({ database, baseUrl }, project, sha) => {
      const row = await selectLastPipeline(database.db, project, sha);
      return row && presentPipelineBasic(baseUrl(), project, row);
    }),
  ],
  // They go with their project, group or owner, by foreign key.
  tables: ['pipelines', 'ci_jobs', 'ci_variables', 'trigger_tokens'],
  reassign,
});
