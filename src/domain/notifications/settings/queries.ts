/** Reads a user's mailbox, and the projects and groups for which settings can be made. */
import { type RawBuilder, sql } from 'kysely';
import type { Level } from '../../../kernel/namespaces/notification-levels.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { DEFAULT_GLOBAL_LEVEL } from './levels.ts';
import {
  columnsOf,
  type Setting,
  type SettingScope,
  settingOf,
  type UserSettings,
  unsaid,
} from './notification-settings.ts';

export type Mailbox = {
  id: number;
  email: string;
  confirmed_at: Date | null;
  /** Null where mail goes to the primary address. */
  notification_email: string | null;
  notified_of_own_activity: boolean;
  preferred_language: string;
  /** An IANA name; null for UTC. */
  timezone: string | null;
};

/** Columns of the user that the settings change. */
export const mailboxColumns = [
  'notification_email',
  'notified_of_own_activity',
  'preferred_language',
  'timezone',
] as const;

/** Address, language and time zone of the user's mail. */
export const selectMailbox = (db: Db, userId: number): Promise<Mailbox> =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'confirmed_at', ...mailboxColumns])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();

export type ScopeRow = { kind: 'project' | 'group'; id: number; full_path: string; level: Level };

/**
 * A page, by path, of groups and projects that the user is a member of, owns or has settings for, and one row
 * more where there are more. The caller checks whether the user may read them.
 */
export async function selectScopes(
  db: Db,
  userId: number,
  page: { offset: number; perPage: number },
): Promise<ScopeRow[]> {
  const today = now().toISOString().slice(0, 10);
  const { rows } = await sql<ScopeRow>`
    with said as (select project_id, namespace_id, level from notification_settings where user_id = ${userId}),
    mine as (
      select project_id, namespace_id from members
      where user_id = ${userId} and (expires_at is null or expires_at > ${today}::date)
      union select project_id, namespace_id from said where project_id is not null or namespace_id is not null
      union select p.id, null from projects p join namespaces n on n.id = p.namespace_id where n.owner_id = ${userId})
    select case when p.id is null then 'group' else 'project' end as kind, coalesce(p.id, n.id) as id,
      n.full_path || coalesce('/' || p.path, '') as full_path, coalesce(said.level, 'global') as level
    from mine left join projects p on p.id = mine.project_id
    join namespaces n on n.id = coalesce(mine.namespace_id, p.namespace_id)
    left join said on (said.project_id, said.namespace_id) is not distinct from (mine.project_id, mine.namespace_id)
    where not coalesce(p.deleting, n.deleting)
    order by lower(n.full_path || coalesce('/' || p.path, '')) collate "C"
    limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return rows;
}

/** The user's setting of the scope, or the default. */
export async function readSettings(db: Db, userId: number, scope: SettingScope): Promise<Setting> {
  const { project_id, namespace_id } = columnsOf(scope);
  const row = await db
    .selectFrom('notification_settings')
    .select(['level', 'events'])
    .where('user_id', '=', userId)
    .where('project_id', 'is not distinct from', project_id)
    .where('namespace_id', 'is not distinct from', namespace_id)
    .executeTakeFirst();
  return row ? settingOf(row) : unsaid(scope);
}

export type SettingRow = {
  project_id: number | null;
  namespace_id: number | null;
  level: string;
  events: unknown;
};

/**
 * The rows of the settings of user `u` that apply, as JSON. `ancestorIds` go from the root to the group of the subject;
 * epics have no project.
 */
export const settingsOf = (place: {
  projectId?: number | undefined;
  ancestorIds: readonly number[];
}): RawBuilder<SettingRow[]> => sql`(
  select coalesce(jsonb_agg(jsonb_build_object('project_id', s.project_id, 'namespace_id', s.namespace_id,
    'level', s.level, 'events', s.events)), '[]')
  from notification_settings s where s.user_id = u.id and (s.project_id = ${place.projectId ?? null}
    or s.namespace_id = any(${[...place.ancestorIds]}::bigint[]) or (s.project_id is null and s.namespace_id is null)))`;

/** The settings of a user by these rows. */
export function gatherSettings(
  rows: readonly SettingRow[],
  ancestorIds: readonly number[],
  notifiedOfOwn: boolean,
): UserSettings {
  const project = rows.find((row) => row.project_id !== null);
  const global = rows.find((row) => row.project_id === null && row.namespace_id === null);
  const depth = (row: { namespace_id: number | null }) => ancestorIds.indexOf(row.namespace_id ?? 0);
  const groups = rows.filter((row) => row.namespace_id !== null).sort((a, b) => depth(b) - depth(a));
  return {
    ...(project && { project: settingOf(project) }),
    groups: groups.map(settingOf),
    global: withoutGlobal(global ? settingOf(global) : unsaid({ kind: 'global' })),
    notifiedOfOwn,
  };
}

/** A global setting of the level `global` refers to itself: the default applies. */
const withoutGlobal = (setting: Setting): Setting =>
  setting.level === 'global' ? { ...setting, level: DEFAULT_GLOBAL_LEVEL } : setting;
