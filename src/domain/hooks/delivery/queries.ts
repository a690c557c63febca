/** Reads deliveries: those that wait, and those that the log of a hook shows. */
import { sql } from 'kysely';
import type { Receivers } from '../../../kernel/deliveries/queries.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { HookRow } from '../management/queries.ts';

export const waitingHooks: Receivers = {
  receivers: 'hooks',
  deliveries: 'hook_deliveries',
  key: 'hook_id',
  waits: sql`d.sent_at is null`,
};

export type WaitingDelivery = {
  id: number;
  idempotency_key: string;
  flag: string;
  chain: string;
  body: string;
};

/** The next deliveries of a hook, in order: the first, and of those behind it as many as have so many bytes together. */
export async function selectNextDeliveries(
  db: Db,
  hookId: number,
  { after, most, bytes }: { after: number; most: number; bytes: number },
): Promise<WaitingDelivery[]> {
  const { rows } = await sql<WaitingDelivery>`
    with next as (
      select id, event_id, idempotency_key from hook_deliveries
      where hook_id = ${hookId} and sent_at is null and id > ${after} order by id limit ${most}
    ), sized as (
      select n.*, sum(octet_length(e.body)) over (order by n.id) as total, row_number() over (order by n.id) as place
      from next n join hook_events e on e.id = n.event_id
    )
    select s.id, s.idempotency_key, e.flag, e.chain, e.body from sized s join hook_events e on e.id = s.event_id
    where s.place = 1 or s.total <= ${bytes} order by s.id`.execute(db);
  return rows;
}

/** Bytes of a body that a log shows. */
const MAX_SHOWN_BYTES = 262_144;

const logged = (db: Db, hookId: number) =>
  db
    .selectFrom('hook_deliveries')
    .innerJoin('hook_events', 'hook_events.id', 'hook_deliveries.event_id')
    .select([
      'hook_deliveries.id',
      'hook_deliveries.url',
      'hook_deliveries.request_headers',
      'hook_deliveries.response_headers',
      'hook_deliveries.response_body',
      'hook_deliveries.response_status',
      'hook_deliveries.execution_duration',
      'hook_events.flag',
    ])
    .select(
      sql<
        string | null
      >`case when octet_length(coalesce(hook_deliveries.request_body, hook_events.body)) <= ${MAX_SHOWN_BYTES}
        then coalesce(hook_deliveries.request_body, hook_events.body) end`.as('body'),
    )
    .where('hook_deliveries.hook_id', '=', hookId)
    .where('hook_deliveries.sent_at', 'is not', null);

export type LoggedDelivery = Awaited<ReturnType<ReturnType<typeof logged>['executeTakeFirstOrThrow']>>;

/** Which deliveries a page is about, by what the receiver said. */
const statusConditions = {
  successful: sql<boolean>`hook_deliveries.response_status ~ '^[23]'`,
  client_failure: sql<boolean>`hook_deliveries.response_status ~ '^4'`,
  server_failure: sql<boolean>`hook_deliveries.response_status !~ '^[234]'`,
} as const;

/** A page of the log since then, the newest first. */
export function selectLog(
  db: Db,
  hook: Pick<HookRow, 'id'>,
  statuses: readonly string[] | undefined,
  since: Date,
  page: PageRequest,
): Promise<Page<LoggedDelivery>> {
  const all = logged(db, hook.id).where('hook_deliveries.sent_at', '>', since);
  if (statuses === undefined)
    return selectPage(db, all, page, { by: 'id', sort: 'desc' }, { id: 'hook_deliveries.id' });
  const conditions = statuses.map((status) =>
    status in statusConditions
      ? statusConditions[status as keyof typeof statusConditions]
      : sql<boolean>`hook_deliveries.response_status = ${status}`,
  );
  const chosen = all.where((eb) => eb.or(conditions));
  return selectPage(db, chosen, page, { by: 'id', sort: 'desc' }, { id: 'hook_deliveries.id' });
}

/** What was sent, to be sent again. */
export async function selectSent(
  db: Db,
  hook: Pick<HookRow, 'id'>,
  id: number,
): Promise<(WaitingDelivery & { event_id: number; url: string | null }) | undefined> {
  return db
    .selectFrom('hook_deliveries as d')
    .innerJoin('hook_events as e', 'e.id', 'd.event_id')
    .select(['d.id', 'd.event_id', 'd.url', 'd.idempotency_key', 'e.flag', 'e.chain', 'e.body'])
    .where('d.hook_id', '=', hook.id)
    .where('d.id', '=', id)
    .where('d.sent_at', 'is not', null)
    .executeTakeFirst();
}

/** The project of a group, or of a group in it, in which something happened last. */
export async function selectLatestProject(db: Db, groupId: number): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select p.id from namespaces n join projects p on p.namespace_id = n.id
    where (n.id = ${groupId} or ${groupId} = any(n.ancestor_ids)) and not p.empty_repo
    order by p.last_activity_at desc, p.id desc limit 1`.execute(db);
  return rows[0]?.id;
}
