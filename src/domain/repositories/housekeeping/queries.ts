/** Repositories that need repacking or measuring. */
import { sql } from 'kysely';
import type { Author } from '../../../kernel/actor.ts';
import type { ContainerKind } from '../../../kernel/repository-store.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { PushData } from '../pushes/pushes.ts';
import { containerTables } from '../store/containers.ts';

/** Writes after which a repository is repacked: each leaves a pack or some loose objects. */
export const WRITES_TO_REPACK = 50;

/** Milliseconds between two repacks of one repository, also where the first one failed. */
const REPACK_INTERVAL_MS = 600_000;

/** Milliseconds between two repacks of a whole repository into one pack. */
export const WHOLE_REPACK_INTERVAL_MS = 14 * 86_400_000;

export type RepositoryRow = {
  id: number;
  container: ContainerKind;
  container_id: number;
  wiki: boolean;
  writes: number;
  packed_at: Date | null;
};

const columns = ['id', 'container', 'container_id', 'wiki', 'writes', 'packed_at'] as const;

const repositories = (db: Db) => db.selectFrom('repositories').select(columns).$castTo<RepositoryRow>();

export const toRepack = (db: Db) =>
  repositories(db)
    .where('writes', '>=', WRITES_TO_REPACK)
    .where((eb) =>
      eb.or([
        eb('tended_at', 'is', null),
        eb('tended_at', '<', new Date(now().getTime() - REPACK_INTERVAL_MS)),
      ]),
    )
    .orderBy('writes', 'desc')
    .limit(MAX_REPOSITORIES_PER_RUN);

export const toMeasure = (db: Db) =>
  repositories(db)
    .where('writes', '>', 0)
    .whereRef('writes', '<>', 'measured_writes')
    .orderBy('id')
    .limit(MAX_REPOSITORIES_PER_RUN);

/** A project's own repository and its wiki's, those that there are. */
export const selectOfProject = (db: Db, projectId: number): Promise<RepositoryRow[]> =>
  repositories(db).where('container', '=', 'project').where('container_id', '=', projectId).execute();

const MAX_REPOSITORIES_PER_RUN = 500;

/** Young repositories of projects that count as empty, and that nobody uses now. */
export async function selectEmptyProjects(db: Db, limit: number): Promise<{ id: number }[]> {
  const { rows } = await sql<{ id: number }>`
    select p.id from repositories r join projects p on r.container = 'project' and p.id = r.container_id
    where not r.wiki and p.empty_repo and not p.deleting and r.created_at > now() - interval '1 day'
      and not exists (select from repository_uses u where u.container = 'project' and u.container_id = p.id)
    order by r.id desc limit ${limit}`.execute(db);
  return rows;
}

/** Whether the container is there and not to move. */
export async function staysInPlace(db: Db, { container, container_id: id }: RepositoryRow): Promise<boolean> {
  const { rows } = await sql`
    select from ${sql.table(containerTables[container])}
    where id = ${id} and not repository_read_only`.execute(db);
  return rows.length > 0;
}

/** Events that are looked through for a push: a project in which more happened meanwhile may have one twice. */
const MAX_EVENTS = 10_000;

/** The user as a pusher; undefined where the account is gone. */
export const selectPusher = (db: Db, id: number): Promise<Author | undefined> =>
  db.selectFrom('users').select(['id', 'username', 'name']).where('id', '=', id).executeTakeFirst();

/** What events tell of pushes to the project since then. */
export async function selectPushedSince(db: Db, projectId: number, since: Date): Promise<PushData[]> {
  const rows = await db
    .selectFrom('activity_events')
    .select(sql<PushData>`details -> 'push_data'`.as('data'))
    .where('project_id', '=', projectId)
    .where('created_at', '>=', since)
    .where('action', '=', 'pushed')
    .orderBy('created_at')
    .orderBy('id')
    .limit(MAX_EVENTS)
    .execute();
  return rows.map(({ data }) => data);
}
