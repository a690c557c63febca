/** Where repositories are, and who uses them. */
import type { ContainerKind, Purpose, RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { DEAD_AFTER_SECONDS } from '../../../platform/db/processes.ts';
import { containerTables } from './containers.ts';

/** The storage of the container, and whether it is read-only; undefined without the container. */
export async function selectStorage(sql: Sql, { kind, id }: RepositoryKey) {
  const [row] = await sql<{ repository_storage: string; repository_read_only: boolean }[]>`
    select repository_storage, repository_read_only from ${sql(containerTables[kind])} where id = ${id}`;
  return row;
}

/** The number of leases of the container, without dead processes. */
export async function countUses(
  sql: Sql,
  container: { kind: ContainerKind; id: number },
  purposes: readonly Purpose[],
  storage: string | undefined,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from repository_uses u join processes p on p.id = u.process_id
    where container = ${container.kind} and container_id = ${container.id} and purpose = any(${[...purposes]}::text[])
      and p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS})
      and (${storage ?? null}::text is null or storage = ${storage ?? null}::text)`;
  return row?.count ?? 0;
}

/** How often the repository was written; undefined for one that is not recorded. */
export async function selectWrites(sql: Sql, { kind, id, wiki }: RepositoryKey): Promise<number | undefined> {
  const [row] = await sql<{ writes: number }[]>`
    select writes from repositories where container = ${kind} and container_id = ${id} and wiki = ${wiki}`;
  return row?.writes;
}
