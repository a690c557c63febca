/** SQL of a caller's notification levels for the `permissions` of a project. */

/** Columns over `projects p` and its namespace `n`: `user`'s levels for the project and the nearest group. */
export const notificationLevels = (user: string): string => `
  (select s.level from notification_settings s where s.user_id = ${user} and s.project_id = p.id) as notified_project,
  (select s.level from notification_settings s
   where s.user_id = ${user} and s.namespace_id = any(n.ancestor_ids) and s.level <> 'global'
   order by array_position(n.ancestor_ids, s.namespace_id) desc limit 1) as notified_group`;
