/** Removes the content of repositories that were deleted. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

/** False where there is no such repository, or it is not deleted. */
export async function beginRemoval(db: Db, id: number): Promise<boolean> {
  const { rows } = await sql`
    update container_repositories set status = 'delete_ongoing' where id = ${id} and status is not null returning 1`.execute(
    db,
  );
  return rows.length > 0;
}

const BATCH = 500;

/** In this order: nothing refers to what goes. */
const steps = (id: number): RawBuilder<{ sha256: Buffer | null }>[] => [
  sql`delete from container_tags where id in (
    select id from container_tags where repository_id = ${id} limit ${BATCH}) returning null::bytea as sha256`,
  sql`delete from container_manifest_children where (manifest_id, child_id) in (
    select c.manifest_id, c.child_id from container_manifest_children c
    join container_manifests m on m.id = c.manifest_id where m.repository_id = ${id} limit ${BATCH})
    returning null::bytea as sha256`,
  sql`delete from container_manifests where id in (
    select id from container_manifests where repository_id = ${id} limit ${BATCH}) returning sha256`,
  sql`delete from container_blobs where repository_id = ${id} and digest in (
    select digest from container_blobs where repository_id = ${id} limit ${BATCH}) returning sha256`,
];

/** The SHA-256 of what went, batch by batch. */
export async function* removeContent(db: Db, id: number): AsyncGenerator<Buffer[]> {
  for (const step of steps(id)) {
    let gone = BATCH;
    while (gone === BATCH) {
      const { rows } = await step.execute(db);
      yield rows.flatMap(({ sha256 }) => sha256 ?? []);
      gone = rows.length;
    }
  }
}

/** With what a push that had begun before has left there. */
export async function endRemoval(db: Db, id: number): Promise<void> {
  await db.deleteFrom('container_repositories').where('id', '=', id).execute();
}

export async function selectRemoved(db: Db): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from container_repositories where status is not null order by id`.execute(db);
  return rows.map(({ id }) => id);
}
