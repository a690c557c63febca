/** Custom attributes of users, groups and projects: the same four endpoints for each, for administrators. */
import type { Capability } from '../../../kernel/capability.ts';
import { customAttributeEndpoints } from './routes.ts';

export const customAttributesCapability = (): Capability => ({
  name: 'custom-attributes',
  tables: ['custom_attributes'],
  endpoints: customAttributeEndpoints,
  // Rows go with their owners, by foreign key.
});
