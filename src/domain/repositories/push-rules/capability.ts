/** Push rules: what commits, names of branches and files of a project must be like. */
import type { Capability } from '../../../kernel/capability.ts';
import { pushRuleEndpoints } from './routes.ts';

export const pushRulesCapability = (): Capability => ({
  name: 'push-rules',
  // They go with their project or group.
  tables: ['push_rules'],
  endpoints: pushRuleEndpoints,
});
