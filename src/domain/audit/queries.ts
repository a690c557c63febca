/** Audit events of one entity, or of all. */
import type { Selectable } from 'kysely';
import type { AuthorizedGroup, AuthorizedInstance, AuthorizedProject } from '../../kernel/access/find.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Db } from '../../platform/db/database.ts';
import type { AuditEventsTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import type { Period } from './schema.ts';

export type AuditEventRow = Selectable<AuditEventsTable>;

/** Filters of audit events: all, or one entity type or entity, and one author where others are hidden. */
export type AuditScope = { entityType?: string; entityId?: number; authorId?: number };

/** The whole instance, or the part that an administrator requested. */
export const instanceScope = (
  _instance: AuthorizedInstance,
  part: { entityType?: string; entityId?: number },
): AuditScope => part;

/** Maintainers see all events of a project, other members their own (facts: Roles and visibility). */
export const projectScope = (project: AuthorizedProject, actor: Actor): AuditScope => ({
  entityType: 'Project',
  entityId: project.id,
  ...(!project.may('read_all_project_audit_events') && { authorId: actor.id }),
});

/** Owners see all events of a group, other members their own (facts: Roles and visibility). */
export const groupScope = (group: AuthorizedGroup, actor: Actor): AuditScope => ({
  entityType: 'Group',
  entityId: group.id,
  ...(!group.may('read_all_group_audit_events') && { authorId: actor.id }),
});

function selectScope(db: Db, scope: AuditScope) {
  let query = db.selectFrom('audit_events').selectAll();
  if (scope.entityType !== undefined) query = query.where('entity_type', '=', scope.entityType);
  if (scope.entityId !== undefined) query = query.where('entity_id', '=', scope.entityId);
  if (scope.authorId !== undefined) query = query.where('author_id', '=', scope.authorId);
  return query;
}

/** One page, newest first: ids grow with time. */
export function selectAuditEvents(
  db: Db,
  scope: AuditScope,
  period: Period,
  page: PageRequest,
): Promise<Page<AuditEventRow>> {
  let query = selectScope(db, scope);
  if (period.created_after !== undefined) {
    query = query.where('created_at', '>=', new Date(period.created_after));
  }
  if (period.created_before !== undefined) {
    query = query.where('created_at', '<=', new Date(period.created_before));
  }
  return selectPage(db, query, page, { by: 'id', sort: 'desc' }, { id: 'audit_events.id' });
}

export const selectAuditEvent = (db: Db, scope: AuditScope, id: number): Promise<AuditEventRow | undefined> =>
  selectScope(db, scope).where('id', '=', id).executeTakeFirst();
