/** Reads deploy keys: a project's, all, and those that a caller may enable. */
import { type Selectable, sql } from 'kysely';
import {
  CALLER,
  callerCte,
  directProjectLevel,
  namespaceLevel,
  sharedProjectLevel,
  TODAY,
} from '../../kernel/access/membership-queries.ts';
import type { Actor } from '../../kernel/actor.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../kernel/namespaces/rows.ts';
import { MAINTAINER } from '../../kernel/policy/roles.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { DeployKeysTable } from '../../platform/db/rows.ts';
import { type PageRequest, selectPage } from '../../platform/pagination/page.ts';

export type DeployKeyRow = Selectable<DeployKeysTable>;
export type ProjectKeyRow = DeployKeyRow & { can_push: boolean };

const oldestFirst = { by: 'id', sort: 'asc' } as const;
const columns = { id: 'deploy_keys.id' };

const keysOf = (db: Db, projectId: number) =>
  db
    .selectFrom('deploy_keys')
    .innerJoin('deploy_keys_projects', 'deploy_keys_projects.deploy_key_id', 'deploy_keys.id')
    .selectAll('deploy_keys')
    .select('deploy_keys_projects.can_push')
    .where('deploy_keys_projects.project_id', '=', projectId);

export const selectProjectKeys = (db: Db, projectId: number, page: PageRequest) =>
  selectPage(db, keysOf(db, projectId), page, oldestFirst, columns);

/** The project's key. */
export const selectProjectKey = (db: Db, projectId: number, id: number): Promise<ProjectKeyRow | undefined> =>
  keysOf(db, projectId).where('deploy_keys.id', '=', id).executeTakeFirst();

/** The project's key, locked until the commit. */
export const lockProjectKey = (tx: Db, projectId: number, id: number): Promise<ProjectKeyRow | undefined> =>
  keysOf(tx, projectId).where('deploy_keys.id', '=', id).forUpdate().executeTakeFirst();

/** All keys, or only public ones. */
export function selectAllKeys(db: Db, isPublic: boolean | undefined, page: PageRequest) {
  const all = db.selectFrom('deploy_keys').selectAll();
  return selectPage(db, isPublic ? all.where('public', '=', true) : all, page, oldestFirst, columns);
}

/** The level of a user, given as an expression, on a project `p` in a namespace `n`. */
const levelOf = (user: string, today: string) =>
  sql.raw(`greatest(${directProjectLevel(user, today)}, ${namespaceLevel(user, today, 'contents')},
    ${sharedProjectLevel(user, today)})`);

/** Keys of projects that both users maintain. */
export function selectCommonKeys(db: Db, actor: Pick<Actor, 'id'>, userId: number, page: PageRequest) {
  const today = now().toISOString().slice(0, 10);
  const common = sql<boolean>`exists (
    select from (select ${actor.id}::bigint as one, ${userId}::bigint as other, ${today}::date as today) asked,
      deploy_keys_projects d join projects p on p.id = d.project_id join namespaces n on n.id = p.namespace_id
    where d.deploy_key_id = deploy_keys.id and not p.deleting
      and ${levelOf('asked.one', 'asked.today')} >= ${MAINTAINER}
      and ${levelOf('asked.other', 'asked.today')} >= ${MAINTAINER})`;
  return selectPage(db, db.selectFrom('deploy_keys').selectAll().where(common), page, oldestFirst, columns);
}

/**
 * A key by id or fingerprint, locked, if the actor may enable it: public, or in a project that they maintain.
 */
export async function lockEnabledKey(
  tx: Db,
  actor: Actor,
  named: { id: number } | { fingerprint: string },
): Promise<DeployKeyRow | undefined> {
  const where =
    'id' in named ? sql`k.id = ${named.id}` : sql`k.fingerprint_sha256 = ${named.fingerprint}::text`;
  const { rows } = await sql<DeployKeyRow>`
    with ${callerCte(actor)}
    select k.* from deploy_keys k where ${where} and (k.public or ${actor.admin} or exists (
      select from deploy_keys_projects d join projects p on p.id = d.project_id join namespaces n on n.id = p.namespace_id
      where d.deploy_key_id = k.id and not p.deleting and ${levelOf(CALLER, TODAY)} >= ${MAINTAINER}))
    for key share of k`.execute(tx);
  return rows[0];
}

/** The projects that have the keys. */
export async function selectHolders(
  db: Db,
  keyIds: readonly number[],
): Promise<(ProjectRow & { key_id: number; can_push: boolean })[]> {
  if (keyIds.length === 0) return [];
  const { rows } = await sql<ProjectRow & { key_id: number; can_push: boolean }>`
    select ${sql.raw(projectColumns)}, d.deploy_key_id as key_id, d.can_push
    from ${sql.raw(projectTables)} join deploy_keys_projects d on d.project_id = p.id
    where not p.deleting and d.deploy_key_id = any(${[...keyIds]}::bigint[]) order by p.id`.execute(db);
  return rows;
}
