/** Links between epics: of one epic, and of a group. */
import { type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type Condition, groupsInScope, timeConditions } from './filter-queries.ts';
import { visibleEpics } from './records/visibility-queries.ts';

/** The epics that an epic is linked to and the caller sees, with their links. */
export function selectRelated(db: Db, caller: Caller, id: number, page: PageRequest) {
  const query = db
    .selectFrom('epics')
    .innerJoin('related_epic_links', (join) =>
      join.on(sql<SqlBool>`epics.id in (source_id, target_id) and epics.id <> ${id}`),
    )
    .where((where) => where.or([where('source_id', '=', id), where('target_id', '=', id)]))
    .where(visibleEpics(caller))
    .selectAll('epics')
    .select([
      'related_epic_links.id as link_id',
      'source_id',
      'link_type',
      'related_epic_links.created_at as link_created_at',
      'related_epic_links.updated_at as link_updated_at',
    ]);
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'related_epic_links.id' });
}

/** The link of an epic by its id. */
export const selectRelation = (db: Db, epicId: number, id: number) =>
  db
    .selectFrom('related_epic_links')
    .selectAll()
    .where('id', '=', id)
    .where((where) => where.or([where('source_id', '=', epicId), where('target_id', '=', epicId)]))
    .executeTakeFirst();

/** The links of a group's epics, where the caller sees both ends. */
export function selectRelations(
  db: Db,
  actor: Caller,
  subject: AuthorizedGroup,
  input: Parameters<typeof timeConditions>[0],
  page: PageRequest,
) {
  const one = (side: 'source_id' | 'target_id', condition: Condition): Condition => sql`exists (
    select from epics where epics.id = ${sql.ref(`related_epic_links.${side}`)} and ${condition})`;
  const ours: Condition = sql`namespace_id in (select n.id from namespaces n where ${groupsInScope(subject, {})})`;
  let query = db
    .selectFrom('related_epic_links')
    .selectAll()
    .where(one('source_id', visibleEpics(actor)))
    .where(one('target_id', visibleEpics(actor)))
    .where(sql<SqlBool>`(${one('source_id', ours)} or ${one('target_id', ours)})`);
  for (const condition of timeConditions(input)) query = query.where(condition);
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'related_epic_links.id' });
}
