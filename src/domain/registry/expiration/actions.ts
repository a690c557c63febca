/** Finds the projects whose expiration policy is due, and writes that it ran. */
import { sql } from 'kysely';
import { type ContainerExpirationPolicy, nextRun } from '../../../kernel/namespaces/expiration-policy.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

export type DueProject = { id: number; policy: ContainerExpirationPolicy };

/** The project that is due longest, which no other process works on, locked until the transaction ends. */
export async function lockDue(tx: Db): Promise<DueProject | undefined> {
  const { rows } = await sql<DueProject>`
    select id, settings -> 'container_expiration_policy' as policy from projects
    where (settings -> 'container_expiration_policy' -> 'enabled') = 'true'
      and (settings -> 'container_expiration_policy' ->> 'next_run_at') collate "C" <= ${now().toISOString()}
      and not deleting and not archived
      and coalesce(settings ->> 'container_registry_access_level', 'enabled') <> 'disabled'
    order by (settings -> 'container_expiration_policy' ->> 'next_run_at') collate "C", id
    limit 1 for no key update skip locked`.execute(tx);
  return rows[0];
}

const BATCH = 500;

/** Repositories of a project, after an id. */
export async function selectCleanedIds(tx: Db, projectId: number, after: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from container_repositories
    where project_id = ${projectId} and id > ${after} and status is null order by id limit ${BATCH}`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

/** The next run is a cadence from now. */
export async function beginPolicy(tx: Db, { id, policy }: DueProject): Promise<void> {
  const time = now();
  await sql`
    update container_repositories set cleanup_policy_started_at = ${time}
    where project_id = ${id} and status is null`.execute(tx);
  const next = JSON.stringify(nextRun(policy, time));
  await sql`
    update projects set settings = jsonb_set(settings, '{container_expiration_policy,next_run_at}', ${next}::text::jsonb)
    where id = ${id}`.execute(tx);
}
