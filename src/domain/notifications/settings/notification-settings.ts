/** Notification settings of users: for a project, for a group, and the global one. */
import { DEFAULT_LEVEL, type Level } from '../../../kernel/namespaces/notification-levels.ts';
import { DEFAULT_GLOBAL_LEVEL, type EventChoices } from './levels.ts';

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

export const columnsOf = (scope: SettingScope) => ({
  project_id: scope.kind === 'project' ? scope.id : null,
  namespace_id: scope.kind === 'group' ? scope.id : null,
});

// The check constraint admits levels only, and writeSettings() stores choices of events only.
export const settingOf = ({ level, events }: { level: string; events: unknown }): Setting => ({
  level: level as Level,
  events: events as EventChoices,
});

export const unsaid = (scope: SettingScope): Setting => ({
  level: scope.kind === 'global' ? DEFAULT_GLOBAL_LEVEL : DEFAULT_LEVEL,
  events: {},
});
