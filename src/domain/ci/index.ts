/** What pipelines run with: variables of projects, groups and the instance, and tokens that start them. */
import type { Capability } from '../../kernel/capability.ts';
import { triggerEndpoints } from './triggers/routes.ts';
import { variableEndpoints } from './variables/routes.ts';

export const ciCapability = (): Capability => ({
  name: 'ci',
  endpoints: [...variableEndpoints, ...triggerEndpoints],
  // They go with their project, group or owner, by foreign key.
  tables: ['ci_variables', 'trigger_tokens'],
});
