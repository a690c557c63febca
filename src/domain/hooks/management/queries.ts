/** Reads webhooks of a project, a group or the instance. */
import { type Selectable, sql } from 'kysely';
import { ownedBy } from '../../../kernel/access/own-row-queries.ts';
import type { ParentOrInstance } from '../../../kernel/access/resource-parents.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { HooksTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { ALWAYS } from './kinds.ts';

export type HookRow = Selectable<HooksTable>;

/** The condition on the parent's own hooks. */
const ownHooks = (parent: ParentOrInstance) => ownedBy('hooks', parent);

/** One page, oldest first. */
export const selectHooks = (db: Db, parent: ParentOrInstance, page: PageRequest): Promise<Page<HookRow>> =>
  selectPage(
    db,
    db.selectFrom('hooks').selectAll().where(ownHooks(parent)),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'hooks.id' },
  );

const oneHook = (db: Db, parent: ParentOrInstance, id: number) =>
  db.selectFrom('hooks').selectAll().where(ownHooks(parent)).where('id', '=', id);

export const selectHook = (db: Db, parent: ParentOrInstance, id: number): Promise<HookRow | undefined> =>
  oneHook(db, parent, id).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockHook = (tx: Db, parent: ParentOrInstance, id: number): Promise<HookRow | undefined> =>
  oneHook(tx, parent, id).forUpdate().executeTakeFirst();

export async function countHooks(tx: Db, parent: ParentOrInstance): Promise<number> {
  const { count } = await tx
    .selectFrom('hooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(ownHooks(parent))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The flags that any hook has, and ALWAYS where the instance has a hook. */
export async function selectListenedFlags(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ flag: string }>`
    select distinct unnest(events) as flag from hooks
    union select ${ALWAYS} where exists (select from hooks where project_id is null and namespace_id is null)`.execute(
    db,
  );
  return new Set(rows.map(({ flag }) => flag));
}
