/** Endpoints of audit events of the instance, a group and a project (spec: Pagination, keyset resources). */
import Type from 'typebox';
import { type Access, onGroup, onInstance, onProject } from '../../kernel/access/access.ts';
import type { Actor } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing } from '../../kernel/api/endpoint.ts';
import { badRequest } from '../../platform/failure.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import type { KeysetRule } from '../../platform/pagination/pagination.ts';
import { presentAuditEvent, storedType } from './present.ts';
import {
  type AuditScope,
  groupScope,
  instanceScope,
  projectScope,
  selectAuditEvent,
  selectAuditEvents,
} from './queries.ts';
import { AuditEvent, auditEventId, entity, period } from './schema.ts';

const page: KeysetRule = {
  type: 'AuditEvent',
  orderBy: { id: 'integer' },
  sort: ['desc'],
  anonymous: false,
  signedIn: true,
  default: { orderBy: 'id', sort: 'desc' },
  link: 'cursor',
};
const tier = 'premium';

/** The list and the single event of one kind of entity. */
const eventsOf = <Subject>(
  of: 'group' | 'project',
  access: Access<Subject, Actor>,
  scopeOf: (subject: Subject, actor: Actor) => AuditScope,
): Endpoint[] => [
  listing({
    method: 'GET',
    path: `/${of}s/:id/audit_events`,
    summary: `Audit events of a ${of}, newest first.`,
    access,
    tier,
    page,
    input: Type.Object(period),
    item: AuditEvent,
    handle: async ({ db, subject, actor, input, page }) =>
      mapPage(await selectAuditEvents(db, scopeOf(subject, actor), input, page), presentAuditEvent),
  }),
  endpoint({
    method: 'GET',
    path: `/${of}s/:id/audit_events/:audit_event_id`,
    summary: `One audit event of a ${of}.`,
    access,
    tier,
    input: Type.Object(auditEventId),
    reply: AuditEvent,
    handle: async ({ db, subject, actor, input }) =>
      presentAuditEvent(
        found(await selectAuditEvent(db, scopeOf(subject, actor), input.audit_event_id), 'Audit Event'),
      ),
  }),
];

export const auditEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/audit_events',
    summary: 'Audit events of the whole instance, newest first.',
    access: onInstance,
    tier,
    page,
    input: Type.Object({ ...entity, ...period }),
    item: AuditEvent,
    handle: async ({ db, subject, input, page }) => {
      const { entity_type, entity_id } = input;
      if (entity_type === undefined && entity_id !== undefined) throw badRequest('"entity_type" not given');
      const scope = instanceScope(subject, {
        ...(entity_type !== undefined && { entityType: storedType(entity_type) }),
        ...(entity_id !== undefined && { entityId: entity_id }),
      });
      return mapPage(await selectAuditEvents(db, scope, input, page), presentAuditEvent);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/audit_events/:id',
    summary: 'One audit event.',
    access: onInstance,
    tier,
    input: Type.Object({ id: Type.Integer() }),
    reply: AuditEvent,
    handle: async ({ db, subject, input }) =>
      presentAuditEvent(
        found(await selectAuditEvent(db, instanceScope(subject, {}), input.id), 'Audit Event'),
      ),
  }),
  ...eventsOf('group', onGroup('read_group_audit_events'), groupScope),
  ...eventsOf('project', onProject('read_project_audit_events'), projectScope),
];
