/** Reads which hooks are told of an event. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { ALWAYS, type EventFlag } from '../management/kinds.ts';
import type { HookRow } from '../management/queries.ts';
import { MAX_FAILURES } from '../management/rules.ts';

/** Where something happened. */
export type EventPlace = { projectId: number | undefined; namespaceId: number | undefined };

export type ListeningHook = Pick<
  HookRow,
  'id' | 'events' | 'project_id' | 'namespace_id' | 'branch_filter_strategy' | 'push_events_branch_filter'
> & {
  /** The top-level namespace of where it happened. */
  root_id: number | null;
};

/**
 * The hooks that are told of events with these flags, which were there when it happened: the project's, those of the groups around
 * it, and the instance's; of those that are left alone at this time none.
 */
export async function selectListening(
  db: Db,
  { projectId, namespaceId }: EventPlace,
  flags: readonly EventFlag[],
  happenedAt: Date,
  time: Date,
): Promise<ListeningHook[]> {
  const { rows } = await sql<ListeningHook>`
    with around as (
      select n.id || n.ancestor_ids as ids, n.ancestor_ids[1] as root_id from namespaces n
      where n.id = coalesce((select namespace_id from projects where id = ${projectId ?? null}::bigint), ${namespaceId ?? null}::bigint)
    ), near as (
      select h.* from hooks h where h.project_id = ${projectId ?? null}::bigint
      union all select h.* from hooks h where h.namespace_id = any((select ids from around)::bigint[])
      union all select h.* from hooks h where h.project_id is null and h.namespace_id is null
    )
    select id, events, project_id, namespace_id, branch_filter_strategy, push_events_branch_filter,
      (select root_id from around) as root_id
    from near
    where (events && ${[...flags]}::text[] or (${flags.includes(ALWAYS)} and project_id is null and namespace_id is null))
      and created_at <= ${happenedAt} and recent_failures < ${MAX_FAILURES} and (disabled_until is null or disabled_until <= ${time})
    order by id`.execute(db);
  return rows;
}

/** The hooks that a chain of events has set off already, and whether it is as long as it may be. */
export async function selectChain(db: Db, chain: string, since: Date): Promise<Set<number>> {
  const { rows } = await sql<{ hook_id: number }>`
    select distinct d.hook_id from hook_events e join hook_deliveries d on d.event_id = e.id
    where e.chain = ${chain}::uuid and e.created_at > ${since}`.execute(db);
  return new Set(rows.map(({ hook_id }) => hook_id));
}
