/** Finds a runner by its token, with the process that asks: for every request of runners. */
import type { Selectable } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { pointRead } from '../../../platform/db/point-read.ts';
import type { RunnersTable } from '../../../platform/db/rows.ts';
import { digest } from '../../../platform/secret.ts';
import type { ManagerFields, RunnerType } from './rules.ts';

/** The runner of a token; of one of projects also its first assignment's, which owns it, and its last: null for an orphan. */
export type AuthenticRunner = Selectable<RunnersTable> & {
  runner_type: RunnerType;
  owner_project_id: number | null;
  last_assignment_id: number | null;
};

/** A process of a runner, as it was known before its request. */
export type KnownManager = ManagerFields & { id: number; ip_address: string; contacted_at: Date | null };

type Row = AuthenticRunner & { [Name in keyof ManagerFields as `manager_${Name}`]: ManagerFields[Name] } & {
  manager_id: number | null;
  manager_ip_address: string;
  manager_contacted_at: Date | null;
};

/** Runners ask by the hundred, again and again: those whose requests came together are found by one statement. */
const readAuthentic = pointRead<Row>(
  ['text', 'text'],
  `select r.*, m.id as manager_id, m.version as manager_version, m.revision as manager_revision,
    m.platform as manager_platform, m.architecture as manager_architecture, m.executor as manager_executor,
    m.features as manager_features, m.gpus as manager_gpus, m.ip_address as manager_ip_address,
    m.contacted_at as manager_contacted_at,
    (select o.project_id from runner_projects o where o.runner_id = r.id order by o.id limit 1) as owner_project_id,
    (select max(o.id) from runner_projects o where o.runner_id = r.id) as last_assignment_id
  from runners r left join runner_managers m on m.runner_id = r.id and m.system_xid = k.v2
  where r.digest = decode(k.v1, 'hex')`,
  { gather: 0 },
);

/** Undefined for a token that is unknown, or has ended. */
export async function selectAuthentic(
  sql: Sql,
  token: string,
  systemId: string,
): Promise<{ runner: AuthenticRunner; manager: KnownManager | undefined } | undefined> {
  const row = await readAuthentic(sql, [digest(token).toString('hex'), systemId]);
  if (row?.token_expires_at && row.token_expires_at <= now()) return undefined;
  if (!row) return undefined;
  const manager =
    row.manager_id === null
      ? undefined
      : {
          id: row.manager_id,
          version: row.manager_version,
          revision: row.manager_revision,
          platform: row.manager_platform,
          architecture: row.manager_architecture,
          executor: row.manager_executor,
          features: row.manager_features,
          gpus: row.manager_gpus,
          ip_address: row.manager_ip_address,
          contacted_at: row.manager_contacted_at,
        };
  return { runner: row, manager };
}
