/**
 * What others are told of projects and groups: selected when it is told, and kept in the facts of those that go, by the same
 * columns.
 */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { OWNER } from '../policy/roles.ts';

/** Times are texts in JSON. */
type Snapshot = {
  id: number;
  name: string;
  path: string;
  full_path: string;
  created_at: string;
  updated_at: string;
};
export type ProjectSnapshot = Snapshot & {
  visibility: number;
  namespace_id: number;
  /** Undefined for personal projects. */
  group_name: string | null;
  /** The owners of its group and those around it; of a personal project the user, and who else owns it. */
  owner_ids: number[];
};
export type GroupSnapshot = Snapshot & {
  parent: Pick<Snapshot, 'id' | 'name' | 'path' | 'full_path'> | null;
};

/** Over a project `p` and its namespace `n`. */
export const projectSnapshot = (): RawBuilder<ProjectSnapshot> => sql`jsonb_build_object(
  'id', p.id, 'name', p.name, 'path', p.path, 'full_path', n.full_path || '/' || p.path, 'created_at', p.created_at,
  'updated_at', p.updated_at, 'visibility', p.visibility, 'namespace_id', n.id,
  'group_name', case when n.kind = 'group' then n.name end,
  'owner_ids', to_jsonb(array(
    select n.owner_id where n.owner_id is not null
    union select m.user_id from members m
    where m.access_level = ${OWNER} and (m.expires_at is null or m.expires_at > ${now()}::timestamptz)
      and case when n.kind = 'group' then m.namespace_id = any(n.ancestor_ids) else m.project_id = p.id end order by 1)))`;

/** Over a group `n`. */
export const groupSnapshot = (): RawBuilder<GroupSnapshot> => sql`jsonb_build_object(
  'id', n.id, 'name', n.name, 'path', n.path, 'full_path', n.full_path, 'created_at', n.created_at,
  'updated_at', n.updated_at, 'parent', (
    select jsonb_build_object('id', a.id, 'name', a.name, 'path', a.path, 'full_path', a.full_path)
    from namespaces a where a.id = n.parent_id))`;

export async function selectProjectSnapshot(db: Db, id: number): Promise<ProjectSnapshot | undefined> {
  const { rows } = await sql<{ told: ProjectSnapshot }>`
    select ${projectSnapshot()} as told from projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${id} and not p.deleting`.execute(db);
  return rows[0]?.told;
}

export async function selectGroupSnapshot(db: Db, id: number): Promise<GroupSnapshot | undefined> {
  const { rows } = await sql<{ told: GroupSnapshot }>`
    select ${groupSnapshot()} as told from namespaces n where n.id = ${id} and n.kind = 'group' and not n.deleting`.execute(
    db,
  );
  return rows[0]?.told;
}
