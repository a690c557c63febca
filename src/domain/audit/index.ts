/** Endpoints of audit events. */
import type { Capability } from '../../kernel/capability.ts';
import { auditEndpoints } from './routes.ts';

/** Audit events outlive their entities: `tables` is empty, so that erasing skips them. */
export const auditCapability = (): Capability => ({
  name: 'audit',
  endpoints: auditEndpoints,
  tables: ['audit_events'],
});
