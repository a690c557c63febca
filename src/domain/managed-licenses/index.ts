/** Managed licences: which licences of what a project uses are allowed and denied. Nothing scans for them. */
import type { Capability } from '../../kernel/capability.ts';
import { managedLicenseEndpoints } from './routes.ts';

export const managedLicensesCapability = (): Capability => ({
  name: 'managed-licenses',
  endpoints: managedLicenseEndpoints,
  // They go with their project, by foreign key.
  tables: ['managed_licenses'],
  unique: { managed_licenses_name: { property: 'name' } },
});
