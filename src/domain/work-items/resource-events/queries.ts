/** Events of issues and epics, and the labels that they name. */

import { type Selectable, sql } from 'kysely';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ResourceEventsTable } from '../../../platform/db/rows.ts';

export type EventTarget = { kind: 'issue' | 'epic'; id: number };

/** With the state of its issue or epic at that time, and the user, who is null when deleted meanwhile. */
export type EventRow = Selectable<ResourceEventsTable> & { state: string; user: UserBasicRow | null };

/** Events of one kind, each with the current state of its issue or epic. */
export const eventsOf = (db: Db, target: EventTarget, kind: string) => {
  const column = target.kind === 'issue' ? ('issue_id' as const) : ('epic_id' as const);
  return db
    .selectFrom('resource_events')
    .selectAll()
    .select(
      sql<string>`coalesce((select case s.action when 'closed' then 'closed' else 'opened' end from resource_events s
        where s.${sql.ref(column)} = resource_events.${sql.ref(column)} and s.kind = 'state' and s.id < resource_events.id
        order by s.id desc limit 1), 'opened')`.as('state'),
    )
    .select(sql.raw<UserBasicRow | null>(userBasicJson('resource_events.user_id')).as('user'))
    .where(column, '=', target.id)
    .where('kind', '=', kind);
};

export const selectLabels = (db: Db, ids: readonly number[]) =>
  db.selectFrom('labels').selectAll().where('id', 'in', ids).execute();
