/** Audit events as records. */
import type { AuditEventRow } from './queries.ts';
import { type AuditEvent, INSTANCE_TYPE } from './schema.ts';

/** The public name of a stored entity type. */
const publicType = (type: string): string => (type === 'InstanceScope' ? INSTANCE_TYPE : type);

/** The stored name of the entity type in a request. */
export const storedType = (type: string): string => (type === INSTANCE_TYPE ? 'InstanceScope' : type);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const presentAuditEvent = (row: AuditEventRow): AuditEvent => ({
  id: row.id,
  author_id: row.author_id,
  entity_id: row.entity_id,
  entity_type: publicType(row.entity_type),
  event_name: row.event_name,
  details: isObject(row.details) ? row.details : {},
  created_at: row.created_at.toISOString(),
});
