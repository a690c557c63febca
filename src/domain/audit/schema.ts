/** Records of audit events, and filters of their lists. */
import Type, { type Static } from 'typebox';
import { dateTime, integerId, stringEnum } from '../../platform/http/parameters/schema.ts';

export const AuditEvent = Type.Object({
  id: Type.Integer(),
  author_id: Type.Integer({ description: '-1 when the system itself acted.' }),
  entity_id: Type.Integer(),
  entity_type: Type.String(),
  event_name: Type.String(),
  details: Type.Object(
    {},
    { additionalProperties: true, description: 'Who, on what, and what changed from and to.' },
  ),
  created_at: dateTime(),
});
export type AuditEvent = Static<typeof AuditEvent>;

export const period = {
  created_after: Type.Optional(dateTime({ description: 'Only events of this time or later.' })),
  created_before: Type.Optional(dateTime({ description: 'Only events of this time or earlier.' })),
};
export type Period = { created_after?: string | undefined; created_before?: string | undefined };

/** The public name of the instance's entity type. */
export const INSTANCE_TYPE = 'Gitlab::Audit::InstanceScope';

export const entity = {
  entity_type: Type.Optional(
    stringEnum(['Project', 'User', 'Group', INSTANCE_TYPE, 'InstanceScope'], {
      description: 'Only events on objects of this type.',
    }),
  ),
  entity_id: Type.Optional(integerId({ description: 'Only events on this object; with entity_type.' })),
};

export const auditEventId = { audit_event_id: Type.Integer() };
