/**
 * Ingests alerts in one statement: it checks keys, counts up known alerts, inserts new ones, ends recovered
 * ones, and announces them.
 */

import { type Columns, recordset } from '../../../platform/db/recordset.ts';
import { insertFacts } from '../../../platform/outbox/outbox.ts';

const ingestKeyColumns = {
  key_index: 'integer',
  spaces: 'text[]',
  names: 'text[]',
  kinds: 'text[]',
  identifier: 'text',
  key: 'bytea',
  presumed_kind: 'text',
  presumed_mapping: 'jsonb',
} as const satisfies Columns;

/** Stored columns. */
const alertColumns = {
  kind: 'text',
  title: 'text',
  description: 'text',
  severity: 'text',
  service: 'text',
  monitoring_tool: 'text',
  hosts: 'text[]',
  environment_name: 'text',
  runbook: 'text',
  query: 'text',
  y_label: 'text',
  incident_markdown: 'text',
  fingerprint: 'bytea',
  started_at: 'timestamptz',
  payload: 'jsonb',
} as const satisfies Columns;

const inputColumns = {
  key_index: 'integer',
  ordinal: 'integer',
  resolves: 'boolean',
  ended_at: 'timestamptz',
  /** The fingerprint where alerts are grouped by it. */
  group_mark: 'bytea',
  /** The number of equal alerts in the batch. */
  events: 'bigint',
} as const satisfies Columns;

/** A row of $1, and one of $2. */
export type IngestKeyValues = Record<keyof typeof ingestKeyColumns, unknown>;
export type AlertValues = Record<keyof typeof inputColumns | keyof typeof alertColumns, unknown>;

const columns = Object.keys(alertColumns).join(', ');

/** Milliseconds: deliveries of a project that is locked for longer are retried one by one. */
const SHORT_LOCK_TIMEOUT = `set_config('lock_timeout', '50', true)`;

/**
 * Finds project and integration of the keys in $1: a project at its current path comes before one that moved
 * from it (a redirected POST would become a GET with many tools). Digests are compared, so the time of the
 * comparison reveals nothing of a key.
 */
const ingestKeys = (lockTimeout: boolean): string => `
  requested as materialized (select requested.*${lockTimeout ? `, ${SHORT_LOCK_TIMEOUT} as lock_timeout` : ''}
    from ${recordset('$1', 'requested', ingestKeyColumns)}),
  ingest_keys as materialized (select d.key_index, p.id as project_id, f.kind, i.id as integration_id, i.mapping,
    coalesce(s.create_issue, false) as create_issue, coalesce(s.send_email, false) as send_email,
    coalesce(s.auto_close_incident, true) as auto_close,
    case when p.id is null then 'unknown'
      when i.id is null or p.archived or n.archived
        or exists (select from namespaces a where a.id = any(n.ancestor_ids) and a.archived) then 'inactive'
      when i.key_digest is distinct from d.key then 'wrong_key'
      when d.presumed_kind <> f.kind or (d.presumed_kind = 'http' and i.mapping is distinct from d.presumed_mapping)
        then 'again'
      else 'open' end as verdict
    from requested d
    left join lateral (
      select found.id, found.moved, c.kind
      from unnest(d.spaces, d.names, d.kinds) with ordinality as c(space, name, kind, rank)
      cross join lateral (
        select p.id, false as moved from namespaces n join projects p on p.namespace_id = n.id
        where lower(n.full_path) collate "C" = c.space and lower(p.path) collate "C" = c.name and not p.deleting
        union all
        select p.id, true from project_redirects r join projects p on p.id = r.project_id
        where r.path = c.space || '/' || c.name and not p.deleting) found
      order by found.moved, c.rank limit 1) f on true
    left join projects p on p.id = f.id
    left join namespaces n on n.id = p.namespace_id
    left join lateral (
      select i.id, i.key_digest, i.mapping from alert_integrations i
      where i.project_id = p.id and i.active and i.kind = f.kind and (d.identifier is null or i.identifier = d.identifier)
      order by i.id limit 1) i on true
    left join incident_settings s on s.project_id = p.id)`;

/** Firing alerts: an open one is only counted up. */
const firing = `
  known as (select a.id, t.ordinal, t.events from received t
    join alerts a on a.project_id = t.project_id and a.grouping_key = t.group_mark and a.status <> 'resolved'
    where not t.resolves order by a.id for no key update of a),
  repeated as (update alerts a set events = a.events + k.events
    from (select id, sum(events) as events from known group by id) k where a.id = k.id
    returning a.id, a.iid, a.title),
  fresh as materialized (select * from received where not resolves and ordinal not in (select ordinal from known)),
  counted as (insert into project_counters as c (project_id, alerts)
    select project_id, count(*) from fresh group by project_id order by project_id
    on conflict (project_id) do update set alerts = c.alerts + excluded.alerts
    returning project_id, alerts),
  numbered as materialized (select fresh.*,
      counted.alerts - count(*) over (partition by project_id)
        + row_number() over (partition by project_id order by ordinal) as iid
    from fresh join counted using (project_id)),
  made as (insert into alerts as a
      (iid, project_id, integration_id, grouping_key, events, created_at, updated_at, ${columns})
    select iid, project_id, integration_id, group_mark, events, $3, $3, ${columns} from numbered order by project_id, iid
    on conflict (project_id, grouping_key) where status <> 'resolved' and grouping_key is not null
      do update set events = a.events + excluded.events
    returning a.id, a.iid, a.title, a.project_id, a.grouping_key),
  inserted as (select made.id, made.iid, made.title, made.project_id, n.ordinal, n.create_issue, n.send_email
    from made join numbered n using (project_id, iid)),
  heard_of as (${insertFacts(`select 'alert_created', jsonb_build_object('project_id', project_id, 'alert_id', id,
      'create_issue', create_issue, 'send_email', send_email), $3 from inserted order by id`)})`;

/** An alert that another process inserted meanwhile has another number than the one prepared here. */
const fired = `select ordinal, iid, title, true as news from inserted union all select ordinal, iid, title, false from repeated join known using (id)
  union all select n.ordinal, made.iid, made.title, false from made join numbered n
    on n.project_id = made.project_id and n.group_mark = made.grouping_key and n.iid <> made.iid`;

/**
 * Recoveries: they end all open alerts with the fingerprint, of which there is one where alerts are grouped.
 */
const resolving = `
  ending as (select a.id, t.ordinal, coalesce(t.ended_at, $3) as ended_at, t.auto_close from received t
    join alerts a on a.project_id = t.project_id and a.fingerprint = t.group_mark and a.status <> 'resolved'
    where t.resolves order by a.id for no key update of a),
  ended as (update alerts a set status = 'resolved', ended_at = ending.ended_at, updated_at = $3
    from ending where a.id = ending.id
    returning a.id, a.iid, a.title, a.project_id, a.issue_id, ending.ordinal, ending.auto_close),
  heard_over as (${insertFacts(`select 'alert_recovered', jsonb_build_object('project_id', project_id, 'alert_id', id, 'issue_id', issue_id,
      'auto_close', auto_close), $3 from ended order by id`)})`;

const resolved = 'select ordinal, iid, title, true as news from ended';

const receipts = `d.key_index, d.verdict, d.project_id, d.kind, case when d.verdict = 'again' then d.mapping end as mapping`;

const compose = (lockTimeout: boolean, fires: boolean, resolves: boolean): string => {
  if (!fires && !resolves) return `with ${ingestKeys(lockTimeout)} select ${receipts} from ingest_keys d`;
  const parts = [
    ingestKeys(lockTimeout),
    `received as materialized (select a.*, d.project_id, d.integration_id, d.create_issue, d.send_email, d.auto_close
      from ${recordset('$2', 'a', { ...inputColumns, ...alertColumns })}
      join ingest_keys d using (key_index) where d.verdict = 'open')`,
    ...(fires ? [firing] : []),
    ...(resolves ? [resolving] : []),
    `outcomes as (${[...(fires ? [fired] : []), ...(resolves ? [resolved] : [])].join(' union all ')})`,
  ];
  return `with ${parts.join(',\n')}
    select ${receipts}, t.ordinal, o.iid, o.title, o.news
    from ingest_keys d left join received t using (key_index) left join outcomes o using (ordinal) order by o.iid`;
};

const texts = new Map<string, string>();

/**
 * The statement over the keys in $1 and their alerts in $2, at the time $3. No group has both firing alerts
 * and recoveries in it. Counters are updated, and so locked, in the order of projects; an alert that another
 * process inserts meanwhile is counted up, and leaves a number unused.
 */
export function takingStatement(lockTimeout: boolean, fires: boolean, resolves: boolean): string {
  const name = `${lockTimeout} ${fires} ${resolves}`;
  const text = texts.get(name) ?? compose(lockTimeout, fires, resolves);
  texts.set(name, text);
  return text;
}
