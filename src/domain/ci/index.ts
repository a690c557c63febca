/** What pipelines run with: variables of projects, groups and the instance. */
import type { Capability } from '../../kernel/capability.ts';
import { variableEndpoints } from './variables/routes.ts';

export const ciCapability = (): Capability => ({
  name: 'ci',
  endpoints: variableEndpoints,
  // They go with their project or group, by foreign key.
  tables: ['ci_variables'],
});
