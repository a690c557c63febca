/** States of Terraform: what it knows of what it has made, kept in projects and locked while it works. */
import type { Capability } from '../../kernel/capability.ts';
import { stateEndpoints } from './routes.ts';

export const terraformStatesCapability = (): Capability => ({
  name: 'terraform-states',
  endpoints: stateEndpoints,
  // They go with their project, by foreign key.
  tables: ['terraform_states', 'terraform_state_versions'],
});
