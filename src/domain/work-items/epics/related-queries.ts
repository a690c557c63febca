/** Links between epics: of one epic, and of a group; and the epics of a new one. */
import { type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type Condition, groupsInScope, timeConditions } from './filter-queries.ts';
import type { LinkRow } from './queries.ts';
import type { EpicRow } from './records/epic-rows.ts';
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

/** The epics at both ends of the link of this id, each with the link. */
export async function selectRelation(db: Db, id: number): Promise<{ link: LinkRow; epic: EpicRow }[]> {
  const { rows } = await sql<EpicRow & { link: LinkRow }>`
    select epics.*, to_jsonb(k) as link from related_epic_links k join epics on epics.id in (k.source_id, k.target_id)
    where k.id = ${id}`.execute(db);
  return rows.map(({ link, ...epic }) => {
    // A time is a text in JSON.
    const times = { created_at: new Date(link.created_at), updated_at: new Date(link.updated_at) };
    return { link: { ...link, ...times }, epic };
  });
}

/** The epics of a group that have these numbers. */
export const selectByNumbers = (db: Db, groupId: number, numbers: readonly number[]): Promise<EpicRow[]> =>
  db
    .selectFrom('epics')
    .selectAll()
    .where('namespace_id', '=', groupId)
    .where('iid', 'in', [...numbers])
    .execute();

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
