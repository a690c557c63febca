/** Runners, their managers and their tokens as records. */
import type { Static } from 'typebox';
import type { Actor } from '../../../kernel/actor.ts';
import { presentBasicGroup } from '../../../kernel/namespaces/group-records.ts';
import { presentBasicProject } from '../../../kernel/namespaces/project-records.ts';
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { presentUserBasic } from '../../../kernel/users/records.ts';
import type { DetailedRunnerRow, ManagerRow, RunnerRow } from './queries.ts';
import type { RunnerFields, RunnerStatus } from './rules.ts';
import type { Registration, Runner, RunnerDetails, RunnerManager } from './schema.ts';

type Context = { services: Needs<'baseUrl'>; settings: ApplicationSettings; actor: Actor };

const around = ({ services, settings }: Omit<Context, 'actor'>) => ({
  baseUrl: services.baseUrl(),
  settings,
});

/** The statement's left join gives all or none of a user's columns. */
type Creator = { username: string; name: string; state: string; email: string };

export function presentRunner(context: Omit<Context, 'actor'>, row: RunnerRow): Static<typeof Runner> {
  const status: RunnerStatus = row.status;
  return {
    id: row.id,
    description: row.description,
    ip_address: '',
    active: !row.paused,
    paused: row.paused,
    is_shared: row.runner_type === 'instance_type',
    runner_type: row.runner_type,
    name: row.program,
    online: row.contacted_at === null ? null : status === 'online',
    created_by:
      row.creator_id === null
        ? null
        : presentUserBasic(around(context), { ...row, ...(row as Creator), id: row.creator_id }),
    created_at: row.created_at.toISOString(),
    status,
    job_execution_status: row.runs_jobs ? 'active' : 'idle',
  };
}

export const presentProject = (context: Context, row: ProjectRow) =>
  presentBasicProject({ ...around(context), admin: context.actor.admin, signedIn: true }, row);

/** Without projects, where the caller wants none. */
export function presentRunnerDetails(
  context: Context,
  row: DetailedRunnerRow,
  projects: readonly ProjectRow[] | undefined,
): Static<typeof RunnerDetails> {
  const { namespace_id: id, group_name: name, group_full_path: full_path } = row;
  return {
    ...presentRunner(context, row),
    tag_list: row.tag_list,
    run_untagged: row.run_untagged,
    locked: row.locked,
    maximum_timeout: row.maximum_timeout,
    // The check constraint admits these only.
    access_level: row.access_level as RunnerFields['access_level'],
    version: row.version,
    revision: row.revision,
    platform: row.platform,
    architecture: row.architecture,
    contacted_at: row.contacted_at?.toISOString() ?? null,
    maintenance_note: row.maintenance_note,
    ...(projects && { projects: projects.map((each) => presentProject(context, each)) }),
    groups:
      id === null || name === null || full_path === null
        ? []
        : [presentBasicGroup(around(context), { id, name, full_path })],
  };
}

export const presentManager = (row: ManagerRow): Static<typeof RunnerManager> => ({
  id: row.id,
  system_id: row.system_xid,
  version: row.version,
  revision: row.revision,
  platform: row.platform,
  architecture: row.architecture,
  created_at: row.created_at.toISOString(),
  contacted_at: row.contacted_at?.toISOString() ?? null,
  ip_address: row.ip_address,
  status: row.status,
  job_execution_status: row.runs_jobs ? 'active' : 'idle',
});

/** A token as it is shown, once. */
export type IssuedToken = { id: number; token: string; expiresAt: Date | null };

export const presentToken = ({ id, token, expiresAt }: IssuedToken): Static<typeof Registration> => ({
  id,
  token,
  token_expires_at: expiresAt?.toISOString() ?? null,
});
