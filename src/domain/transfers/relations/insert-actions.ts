/** Inserts records that were read: one statement for the rows of a relation, and one for each relation inside it. */
import { sql } from 'kysely';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { Owner } from './export-queries.ts';
import type { ReadRecord } from './read-line.ts';
import type { NewRow, Relation } from './relation.ts';

/** New ids of a table. */
async function reserveIds(tx: Db, table: string, count: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence(${table}, 'id')) as id from generate_series(1, ${count}::integer)`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

const columnsOf = (rows: readonly NewRow[]): string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row))),
];

/** Rows of one statement: a text of megabytes is parsed by the database at once. */
const ROWS_AT_ONCE = 1_000;

async function insertRows(tx: Db, { table, once }: Relation, rows: readonly NewRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE);
    const columns = columnsOf(some);
    const names = sql.join(columns.map((name) => sql.ref(name)));
    await sql`
      insert into ${sql.table(table)} (${names}) overriding system value
      select ${names} from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(some)}::text::json)
      ${sql.raw(once ? 'on conflict do nothing' : '')}`.execute(tx);
  }
}

/** Which of the ids have a row: what was there already took the place of the others. */
async function kept(tx: Db, table: string, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.table(table)} where id = any(${ids}::bigint[])`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

/** Inserts the records with all that is inside them; returns their ids, in their order, where the table has such. */
export async function insertRecords(
  tx: Db,
  owner: Owner,
  relation: Relation,
  records: readonly ReadRecord[],
  parents?: readonly number[],
): Promise<number[]> {
  if (records.length === 0) return [];
  const isNamed = relation.order === undefined || relation.order === 'id';
  const ids = isNamed ? await reserveIds(tx, relation.table, records.length) : [];
  const rows = records.map(({ row }, index) => ({
    ...row,
    ...(isNamed && { id: ids[index] }),
    ...(parents && relation.parent && { [relation.parent]: parents[index] }),
    ...((relation.owned || (!parents && !relation.between)) && { [owner.column]: owner.id }),
  }));
  await insertRows(tx, relation, rows);
  const present = relation.once && relation.children ? await kept(tx, relation.table, ids) : undefined;
  for (const child of relation.children ?? []) {
    const inside: ReadRecord[] = [];
    const around: number[] = [];
    for (const [index, { children }] of records.entries()) {
      const id = ids[index];
      if (id === undefined || (present && !present.has(id))) continue;
      for (const record of children.find((each) => each.relation === child)?.records ?? []) {
        inside.push(record);
        around.push(id);
      }
    }
    await insertRecords(tx, owner, child, inside, around);
  }
  return ids;
}

/** The ids of labels or milestones by their titles: those of the project or group, and of the groups around it. */
export async function selectNamed(
  db: Db,
  table: 'labels' | 'milestones',
  { column, id }: Owner,
  titles: readonly string[],
): Promise<Map<string, number>> {
  const title = table === 'labels' ? 'name' : 'title';
  const around =
    column === 'project_id'
      ? sql`select n.ancestor_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id}`
      : sql`select n.ancestor_ids from namespaces n where n.id = ${id}`;
  const { rows } = await sql<{ id: number; title: string }>`
    select t.id, t.${sql.ref(title)} as title from ${sql.table(table)} t
    where t.${sql.ref(title)} = any(${titles}::text[])
      and (t.${sql.ref(column)} = ${id} or t.namespace_id = any((${around})::bigint[]))
    -- The nearest is the last, and stays.
    order by (t.${sql.ref(column)} = ${id}) is true, t.namespace_id`.execute(db);
  return new Map(rows.map((row) => [row.title, row.id]));
}

/** A number for a milestone that the archive has only beside what names it. */
export async function nextMilestoneIid(db: Db, { column, id }: Owner): Promise<number> {
  const { rows } = await sql<{ iid: number }>`
    select coalesce(max(iid), 0) + 1 as iid from milestones where ${sql.ref(column)} = ${id}`.execute(db);
  return rows[0]?.iid ?? 1;
}

/** The ids of records by their numbers. */
export async function selectNumbered(
  db: Db,
  table: 'issues' | 'merge_requests' | 'epics',
  { column, id }: Owner,
): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; iid: number }>`
    select id, iid from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(db);
  return new Map(rows.map((row) => [row.iid, row.id]));
}

/** Users by the addresses that they publish; only active people. */
export async function selectByPublicMail(db: Db, addresses: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: number; address: string }>`
    select id, lower(public_email) as address from users
    where lower(public_email) = any(${addresses}::text[]) and kind = 'human' and state = 'active' and deletion is null`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.address, row.id]));
}

/** Puts epics inside of others. */
export async function connectEpics(tx: Db, pairs: readonly { id: number; parent: number }[]): Promise<void> {
  if (pairs.length > 0)
    await sql`
      update epics e set parent_id = pair.parent
      from json_to_recordset(${JSON.stringify(pairs)}::text::json) as pair (id bigint, parent bigint) where e.id = pair.id`.execute(
      tx,
    );
}

const ownTables = {
  project_id: [
    ...[
      'issues',
      'merge_requests',
      'pipelines',
      'pipeline_schedules',
      'releases',
      'snippets',
      'badges',
      'labels',
    ],
    ...['milestones', 'protected_branches', 'protected_tags', 'uploads', 'lfs_objects'],
  ],
  namespace_id: ['epics', 'badges', 'labels', 'milestones'],
} as const;

/** Removes what an import brings: what a killed one left behind its last step, and what is overwritten. */
export async function clearOwner(tx: Db, { column, id }: Owner): Promise<void> {
  for (const table of ownTables[column])
    await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(ahead(tx));
}

/** The counts of a project, which its writers keep: by its rows. Numbers go on behind the last. */
export async function countProject(tx: Db, id: number): Promise<void> {
  await sql`
    insert into project_counters (project_id, issues, milestones, open_issues, open_confidential_issues, merge_requests,
      open_merge_requests, pipelines)
    select ${id}, coalesce((select max(iid) from issues where project_id = ${id}), 0),
      coalesce((select max(iid) from milestones where project_id = ${id}), 0), i.opened, i.confidential,
      coalesce((select max(iid) from merge_requests where project_id = ${id}), 0),
      (select count(*) from merge_requests where project_id = ${id} and state = 'opened'),
      coalesce((select max(iid) from pipelines where project_id = ${id}), 0)
    from (select count(*) as opened, count(*) filter (where confidential) as confidential
      from issues where project_id = ${id} and state = 'opened') i
    on conflict (project_id) do update set issues = greatest(project_counters.issues, excluded.issues),
      milestones = greatest(project_counters.milestones, excluded.milestones), open_issues = excluded.open_issues,
      open_confidential_issues = excluded.open_confidential_issues,
      merge_requests = greatest(project_counters.merge_requests, excluded.merge_requests),
      open_merge_requests = excluded.open_merge_requests,
      pipelines = greatest(project_counters.pipelines, excluded.pipelines)`.execute(ahead(tx));
}

export async function countGroup(tx: Db, id: number): Promise<void> {
  await sql`
    insert into group_counters (namespace_id, epics, milestones)
    select ${id}, coalesce((select max(iid) from epics where namespace_id = ${id}), 0),
      coalesce((select max(iid) from milestones where namespace_id = ${id}), 0)
    on conflict (namespace_id) do update set epics = greatest(group_counters.epics, excluded.epics),
      milestones = greatest(group_counters.milestones, excluded.milestones)`.execute(ahead(tx));
}
