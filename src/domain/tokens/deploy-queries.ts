/** Statements over deploy tokens. */
import { type Selectable, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { DeployTokensTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';

export type DeployTokenRow = Omit<Selectable<DeployTokensTable>, 'digest'>;

/** The column and the id of the project or group of the tokens. */
export type DeployTokenParent = { column: 'project_id' | 'namespace_id'; id: number };

const columns = [
  'id',
  'project_id',
  'namespace_id',
  'name',
  'username',
  'scopes',
  'created_by_id',
  'expires_at',
  'revoked_at',
  'created_at',
  'updated_at',
] as const;

/**
 * One page of the project's or group's deploy tokens, or of all; `active` narrows to valid or to invalid
 * ones.
 */
export function listDeployTokens(
  db: Db,
  place: DeployTokenParent | undefined,
  active: boolean | undefined,
  page: PageRequest,
): Promise<Page<DeployTokenRow>> {
  let query = db.selectFrom('deploy_tokens').select(columns);
  if (place) query = query.where(place.column, '=', place.id);
  const works = sql<boolean>`(revoked_at is null and (expires_at is null or expires_at > ${now()}))`;
  if (active === true) query = query.where(works);
  if (active === false) query = query.where(sql<boolean>`not ${works}`);
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'id' });
}

/** The project's or group's deploy token with this id, or undefined. */
export const selectDeployToken = (
  db: Db,
  place: DeployTokenParent,
  id: number,
): Promise<DeployTokenRow | undefined> =>
  db
    .selectFrom('deploy_tokens')
    .select(columns)
    .where(place.column, '=', place.id)
    .where('id', '=', id)
    .executeTakeFirst();
