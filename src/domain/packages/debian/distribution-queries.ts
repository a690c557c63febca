/** Distributions of a project or of a group. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { DebianDistributionsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type DistributionRow = Selectable<DebianDistributionsTable>;

/** Whose a distribution is. */
export type Owner = { project_id: number } | { namespace_id: number };

const ownedBy = (owner: Owner) =>
  'project_id' in owner
    ? sql<SqlBool>`debian_distributions.project_id = ${owner.project_id}`
    : sql<SqlBool>`debian_distributions.namespace_id = ${owner.namespace_id}`;

const distributionsOf = (db: Db, owner: Owner) =>
  db.selectFrom('debian_distributions').selectAll().where(ownedBy(owner));

export function selectDistributions(
  db: Db,
  owner: Owner,
  { codename, suite }: { codename?: string; suite?: string },
  page: PageRequest,
): Promise<Page<DistributionRow>> {
  let query = distributionsOf(db, owner);
  if (codename !== undefined) query = query.where('codename', '=', codename);
  if (suite !== undefined) query = query.where('suite', '=', suite);
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'debian_distributions.id' });
}

export const selectDistribution = (
  db: Db,
  owner: Owner,
  codename: string,
): Promise<DistributionRow | undefined> =>
  distributionsOf(db, owner).where('codename', '=', codename).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockDistribution = (
  tx: Db,
  owner: Owner,
  codename: string,
): Promise<DistributionRow | undefined> =>
  distributionsOf(tx, owner).where('codename', '=', codename).forUpdate().executeTakeFirst();

/** By what programs call it: its codename, or else its suite. */
export const selectNamed = (db: Db, owner: Owner, name: string): Promise<DistributionRow | undefined> =>
  distributionsOf(db, owner)
    .where((eb) => eb.or([eb('codename', '=', name), eb('suite', '=', name)]))
    .orderBy(sql`codename <> ${name}`)
    .limit(1)
    .executeTakeFirst();

/** How many there are, and the others one of whose names is among these. */
export async function selectNamesakes(
  tx: Db,
  owner: Owner,
  { codename, suite }: { codename: string; suite: string | null },
): Promise<{ count: number; codename_taken: boolean; suite_taken: boolean }> {
  const { rows } = await sql<{ count: number; codename_taken: boolean; suite_taken: boolean }>`
    select count(*)::integer as count,
      coalesce(bool_or(codename <> ${codename} and suite = ${codename}), false) as codename_taken,
      coalesce(bool_or(codename <> ${codename} and codename = ${suite}::text), false) as suite_taken
    from debian_distributions where ${ownedBy(owner)}`.execute(tx);
  return rows[0] ?? { count: 0, codename_taken: false, suite_taken: false };
}
