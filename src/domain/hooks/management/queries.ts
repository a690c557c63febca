/** Reads webhooks of a project, a group or the instance. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { AuthorizedInstance } from '../../../kernel/access/find.ts';
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { HooksTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { ALWAYS, type HookParentKind } from './kinds.ts';

export type HookRow = Selectable<HooksTable>;

/** What a hook belongs to: the instance has no id. */
export type HookParent = ResourceParent | AuthorizedInstance;

export const isInstance = (parent: HookParent): parent is AuthorizedInstance => !('id' in parent);

export function kindOf(parent: HookParent): HookParentKind {
  if (isInstance(parent)) return 'instance';
  return isProject(parent) ? 'project' : 'group';
}

/** The condition on the parent's own hooks. */
export function ownHooks(parent: HookParent) {
  if (isInstance(parent)) return sql<SqlBool>`(hooks.project_id is null and hooks.namespace_id is null)`;
  return isProject(parent)
    ? sql<SqlBool>`hooks.project_id = ${parent.id}`
    : sql<SqlBool>`hooks.namespace_id = ${parent.id}`;
}

/** One page, oldest first. */
export const selectHooks = (db: Db, parent: HookParent, page: PageRequest): Promise<Page<HookRow>> =>
  selectPage(
    db,
    db.selectFrom('hooks').selectAll().where(ownHooks(parent)),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'hooks.id' },
  );

const oneHook = (db: Db, parent: HookParent, id: number) =>
  db.selectFrom('hooks').selectAll().where(ownHooks(parent)).where('id', '=', id);

export const selectHook = (db: Db, parent: HookParent, id: number): Promise<HookRow | undefined> =>
  oneHook(db, parent, id).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockHook = (tx: Db, parent: HookParent, id: number): Promise<HookRow | undefined> =>
  oneHook(tx, parent, id).forUpdate().executeTakeFirst();

export async function countHooks(tx: Db, parent: HookParent): Promise<number> {
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
