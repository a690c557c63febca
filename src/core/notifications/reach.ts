/** The SQL of how much a caller wants to hear of a project, for its `permissions`. */

/** Columns over `projects p` and its namespace `n`: what `user` said of the project, and of the nearest group. */
export const notificationLevels = (user: string): string => `
  (select s.level from notification_settings s where s.user_id = ${user} and s.project_id = p.id) as notified_project,
  (select s.level from notification_settings s
   where s.user_id = ${user} and s.namespace_id = any(n.ancestor_ids) and s.level <> 'global'
   order by array_position(n.ancestor_ids, s.namespace_id) desc limit 1) as notified_group`;
