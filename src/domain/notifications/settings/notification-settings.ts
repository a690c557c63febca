/** Notification settings of users: for a project, for a group, and the global one. */
import { sql } from 'kysely';
import { DEFAULT_LEVEL, type Level } from '../../../kernel/namespaces/notification-levels.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { DEFAULT_GLOBAL_LEVEL, type EventChanges, type EventChoices } from '../audience/levels.ts';

/** One setting. */
export type Setting = { level: Level; events: EventChoices };

/** The scope of a setting: a project, a group, or all the rest. */
export type SettingScope = { kind: 'project' | 'group'; id: number } | { kind: 'global' };

/** The user's settings that apply to a subject; absent ones do not exist. */
export type UserSettings = {
  project?: Setting;
  /** Nearest first. */
  groups: readonly Setting[];
  /** Never of the level `global`: no setting is above it. */
  global: Setting;
  /** Whether the user is notified of their own activity. */
  notifiedOfOwn: boolean;
};

const columnsOf = (scope: SettingScope) => ({
  project_id: scope.kind === 'project' ? scope.id : null,
  namespace_id: scope.kind === 'group' ? scope.id : null,
});

// The check constraint admits levels only, and writeSettings() stores choices of events only.
const settingOf = ({ level, events }: { level: string; events: unknown }): Setting => ({
  level: level as Level,
  events: events as EventChoices,
});

const unsaid = (scope: SettingScope): Setting => ({
  level: scope.kind === 'global' ? DEFAULT_GLOBAL_LEVEL : DEFAULT_LEVEL,
  events: {},
});

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

/** Writes the given properties, keeps the others, and returns the setting; null removes a choice. */
export async function writeSettings(
  tx: Db,
  userId: number,
  scope: SettingScope,
  changes: { level?: Level | undefined; events: EventChanges },
): Promise<Setting> {
  const { level, events } = changes;
  if (level === undefined && Object.keys(events).length === 0) return readSettings(tx, userId, scope);
  const { project_id, namespace_id } = columnsOf(scope);
  const time = now();
  const given = sql`${JSON.stringify(events)}::text::jsonb`;
  const { rows } = await sql<{ level: string; events: unknown }>`
    insert into notification_settings as s (user_id, project_id, namespace_id, level, events, created_at, updated_at)
    values (${userId}, ${project_id}, ${namespace_id}, ${level ?? unsaid(scope).level}, jsonb_strip_nulls(${given}),
      ${time}, ${time})
    on conflict (user_id, project_id, namespace_id) do update set
      level = coalesce(${level ?? null}, s.level), events = jsonb_strip_nulls(s.events || ${given}), updated_at = ${time}
    returning s.level, s.events`.execute(tx);
  const [written] = rows;
  return written ? settingOf(written) : unsaid(scope);
}

type SettingRow = {
  user_id: number;
  notified_of_own_activity: boolean;
  project_id: number | null;
  namespace_id: number | null;
  level: string | null;
  events: unknown;
};

/**
 * The settings that apply, for each existing user, by one statement. `ancestorIds` go from the root to the
 * group of the subject; epics have no project.
 */
export async function settingsOf(
  db: Db,
  userIds: readonly number[],
  place: { projectId?: number | undefined; ancestorIds: readonly number[] },
): Promise<Map<number, UserSettings>> {
  const { rows } = await sql<SettingRow>`
    select u.id as user_id, u.notified_of_own_activity, s.project_id, s.namespace_id, s.level, s.events
    from users u left join notification_settings s on s.user_id = u.id and (s.project_id = ${place.projectId ?? null}
      or s.namespace_id = any(${[...place.ancestorIds]}::bigint[]) or (s.project_id is null and s.namespace_id is null))
    where u.id = any(${[...userIds]}::bigint[])`.execute(db);
  const byUser = Map.groupBy(rows, (row) => row.user_id);
  return new Map([...byUser].map(([id, said]) => [id, gather(said, place.ancestorIds)]));
}

function gather(rows: readonly SettingRow[], ancestorIds: readonly number[]): UserSettings {
  const said = rows.flatMap(({ level, ...row }) => (level === null ? [] : [{ ...row, level }]));
  const project = said.find((row) => row.project_id !== null);
  const global = said.find((row) => row.project_id === null && row.namespace_id === null);
  const depth = (row: { namespace_id: number | null }) => ancestorIds.indexOf(row.namespace_id ?? 0);
  const groups = said.filter((row) => row.namespace_id !== null).sort((a, b) => depth(b) - depth(a));
  return {
    ...(project && { project: settingOf(project) }),
    groups: groups.map(settingOf),
    global: withoutGlobal(global ? settingOf(global) : unsaid({ kind: 'global' })),
    notifiedOfOwn: rows.some((row) => row.notified_of_own_activity),
  };
}

/** A global setting of the level `global` refers to itself: the default applies. */
const withoutGlobal = (setting: Setting): Setting =>
  setting.level === 'global' ? { ...setting, level: DEFAULT_GLOBAL_LEVEL } : setting;
