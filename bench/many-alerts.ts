/** A project with very many open alerts, and an empty one beside it; both take alerts with the same key. */
import { createHash } from 'node:crypto';
import { fill, withoutIndexes } from './database.ts';

export const ALERT_KEY = 'the-key-of-every-integration-of-the-bench';
export const keyDigest = createHash('sha256').update(ALERT_KEY).digest();
/** The full paths of the projects. */
export const FULL_PROJECT = 'many/full';
export const EMPTY_PROJECT = 'many/empty';

/** Makes the two projects in the data folder, one of them with `count` alerts. */
export const makeManyAlerts = (data: string, count: number): Promise<void> =>
  fill(data, async (sql) => {
    const time = sql`timestamptz '2026-01-01'`;
    const [group] = await sql<{ id: number }[]>`
      insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
      values ('group', array[]::bigint[], 'Many', 'many', 'many', 'Many', 0, ${time}, ${time}) returning id`;
    const id = group?.id ?? 0;
    await sql`update namespaces set ancestor_ids = array[id] where id = ${id}`;
    const [full] = await sql<{ id: number }[]>`
      insert into projects (namespace_id, name, path, visibility, default_branch, last_activity_at, created_at, updated_at)
      select ${id}, name, name, 0, 'main', ${time}, ${time}, ${time} from unnest(array['full', 'empty']) name returning id`;
    await sql`
      insert into alert_integrations (project_id, kind, name, active, identifier, key_digest, created_at, updated_at)
      select id, 'http', 'Bench', true, '0123456789abcdef', ${keyDigest}, ${time}, ${time} from projects`;
    await withoutIndexes(
      sql,
      'alerts',
      () => sql`
        insert into alerts (iid, project_id, kind, title, description, severity, service, hosts, fingerprint, grouping_key,
          started_at, payload, created_at, updated_at)
        select i, ${full?.id ?? 0}, 'http', 'Alert ' || i, 'About alert ' || i, 'critical', 'bridge', array['a', 'b'],
          mark, mark, t, jsonb_build_object('title', 'Alert ' || i, 'fingerprint', i), t, t
        from (select i, decode(lpad(to_hex(i), 40, '0'), 'hex') as mark, timestamptz '2026-01-01' + i * interval '1 second' as t
          from generate_series(1, ${count}::integer) i) made`,
    );
    await sql`insert into project_counters (project_id, alerts) select project_id, max(iid) from alerts group by project_id`;
    await sql`vacuum analyze`;
  });
