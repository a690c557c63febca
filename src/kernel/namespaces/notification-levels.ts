/** Notification levels, and the caller's levels for the `permissions` of a project (spec: Notification setting). */

/** In the order of their public numbers. */
export const levels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const;
export type Level = (typeof levels)[number];

/** The number by which `permissions` of a project show a level (facts: Notification settings). */
export const levelNumber = (level: Level): number => levels.indexOf(level);

/** Without a setting of the group or project, the one above it applies. */
export const DEFAULT_LEVEL: Level = 'global';

/** Columns over `projects p` and its namespace `n`: `user`'s levels for the project and the nearest group. */
export const notificationLevels = (user: string): string => `
  (select s.level from notification_settings s where s.user_id = ${user} and s.project_id = p.id) as notified_project,
  (select s.level from notification_settings s
   where s.user_id = ${user} and s.namespace_id = any(n.ancestor_ids) and s.level <> 'global'
   order by array_position(n.ancestor_ids, s.namespace_id) desc limit 1) as notified_group`;
