/** Statements over direct transfers. */
import { type Selectable, sql } from 'kysely';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import { actorColumnsBehindRequests } from '../../../kernel/identity/admin-mode-queries.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { BulkImportEntitiesTable, BulkImportsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

type Counted = { has_failures: boolean };
export type BulkImportRow = Selectable<BulkImportsTable> & Counted;
export type EntityRow = Selectable<BulkImportEntitiesTable> & Counted;
export type Failure = {
  id: number;
  entity_id: number;
  relation: string;
  message: string;
  correlation_id: string;
};

/** What was not imported of the project or group that was made, or why nothing was. */
const hasFailures = sql<boolean>`(bulk_import_entities.error is not null or exists (
  select from imports i join import_failures f on f.import_id = i.id
  where i.project_id = bulk_import_entities.project_id or i.namespace_id = bulk_import_entities.namespace_id))`;

const own = (db: Db, userId: number) =>
  db
    .selectFrom('bulk_imports')
    .selectAll()
    .select(
      sql<boolean>`exists (select from bulk_import_entities where bulk_import_id = bulk_imports.id and ${hasFailures})`.as(
        'has_failures',
      ),
    )
    .where('user_id', '=', userId);

export function selectBulkImports(
  db: Db,
  userId: number,
  { sort = 'desc', status }: { sort?: 'asc' | 'desc' | undefined; status?: string | undefined },
  page: PageRequest,
): Promise<Page<BulkImportRow>> {
  const all = own(db, userId);
  const chosen = status === undefined ? all : all.where('status', '=', status);
  return selectPage(db, chosen, page, { by: 'id', sort }, { id: 'bulk_imports.id' });
}

export const selectBulkImport = (db: Db, userId: number, id: number): Promise<BulkImportRow | undefined> =>
  own(db, userId).where('id', '=', id).executeTakeFirst();

const entities = (db: Db, userId: number) =>
  db
    .selectFrom('bulk_import_entities')
    .selectAll()
    .select(hasFailures.as('has_failures'))
    .where((eb) =>
      eb('bulk_import_id', 'in', eb.selectFrom('bulk_imports').select('id').where('user_id', '=', userId)),
    );

export function selectEntities(
  db: Db,
  userId: number,
  { id, status }: { id?: number | undefined; status?: string | undefined },
  page: PageRequest,
): Promise<Page<EntityRow>> {
  let chosen = entities(db, userId);
  if (id !== undefined) chosen = chosen.where('bulk_import_id', '=', id);
  if (status !== undefined) chosen = chosen.where('status', '=', status);
  return selectPage(db, chosen, page, { by: 'id', sort: 'asc' }, { id: 'bulk_import_entities.id' });
}

export const selectEntity = (
  db: Db,
  userId: number,
  { import_id, entity_id }: { import_id: number; entity_id: number },
): Promise<EntityRow | undefined> =>
  entities(db, userId).where('bulk_import_id', '=', import_id).where('id', '=', entity_id).executeTakeFirst();

/** Failures of these entities, a hundred of each at most. */
export async function selectEntityFailures(db: Db, ids: readonly number[]): Promise<Failure[]> {
  const { rows } = await sql<Failure>`
    select f.id, e.id as entity_id, f.relation, f.message, i.correlation_id
    from bulk_import_entities e
    join imports i on i.project_id = e.project_id or i.namespace_id = e.namespace_id
    cross join lateral (select * from import_failures f where f.import_id = i.id order by f.id limit 100) f
    where e.id = any(${ids}::bigint[]) order by f.id`.execute(db);
  return rows;
}

/** An entity that is not over, with what its source is called with. */
export type RunningEntity = Selectable<BulkImportEntitiesTable> & {
  user_id: number;
  admin_mode: boolean;
  source_url: string;
  token_sealed: string;
};

export async function selectRunning(db: Db, id: number): Promise<RunningEntity | undefined> {
  const { rows } = await sql<RunningEntity>`
    select e.*, b.user_id, b.admin_mode, b.source_url, b.token_sealed
    from bulk_import_entities e join bulk_imports b on b.id = e.bulk_import_id
    where e.id = ${id} and e.status in ('created', 'started') and b.status in ('created', 'started')
      and b.token_sealed is not null`.execute(db);
  return rows[0];
}

/** How the import that the entity made ended; undefined while it runs. */
export async function selectEnd(
  db: Db,
  { project_id, namespace_id }: Pick<RunningEntity, 'project_id' | 'namespace_id'>,
): Promise<{ status: string; error: string | null } | undefined> {
  const { rows } = await sql<{ status: string; error: string | null }>`
    select status, error from imports
    where (project_id = ${project_id} or namespace_id = ${namespace_id}) and status in ('finished', 'failed')
    order by id desc limit 1`.execute(db);
  return rows[0];
}

export async function selectPathOf(db: Db, namespaceId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('namespaces')
    .select('full_path')
    .where('id', '=', namespaceId)
    .executeTakeFirst();
  return row?.full_path;
}

/** In whose name it goes on; undefined for one who is blocked or gone. */
export async function selectActor(
  db: Db,
  { user_id, admin_mode }: Pick<RunningEntity, 'user_id' | 'admin_mode'>,
): Promise<Actor | undefined> {
  const user = await db
    .selectFrom('users')
    .select(actorColumnsBehindRequests(admin_mode))
    .where('id', '=', user_id)
    .where('state', '=', 'active')
    .executeTakeFirst();
  const mode = admin_mode && ({ adminMode: true } as const);
  return user && toActor({ ...(user as Parameters<typeof toActor>[0]), ...mode }, { via: 'password' });
}
