/** Pipelines of projects, what they run with, and what other programs say of commits. */
import type { Capability } from '../../kernel/capability.ts';
import { lastPipelines } from '../repositories/index.ts';
import { presentPipelineBasic } from './pipelines/present.ts';
import { selectLastPipeline } from './pipelines/queries.ts';
import { reassign } from './pipelines/reassign-actions.ts';
import { statusEndpoints } from './statuses/routes.ts';
import { triggerEndpoints } from './triggers/routes.ts';
import { variableEndpoints } from './variables/routes.ts';

export { selectPipeline } from './pipelines/queries.ts';
export { commitStatusesEndpoint } from './statuses/routes.ts';
export type { CommitStatus } from './statuses/schema.ts';

export const ciCapability = (): Capability => ({
  name: 'ci',
  endpoints: [...statusEndpoints, ...variableEndpoints, ...triggerEndpoints],
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
