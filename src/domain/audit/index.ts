/** Reading the audit events that every change leaves behind. */
import type { Capability } from '../../core/capability.ts';
import { auditEndpoints } from './routes.ts';

/** The events outlive what they are about: `tables` names none, so that nothing erases them. */
export const auditCapability = (): Capability => ({ name: 'audit', endpoints: auditEndpoints, tables: [] });
