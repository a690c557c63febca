/** Alerts of the world, of an integration of each user's, with pictures of graphs; the first issue has pictures too. */
import type { SampleIds } from './inventory.ts';

export const alerts = ({ project }: SampleIds): string => `
  insert into alert_integrations (project_id, kind, name, active, identifier, key_digest, created_at, updated_at)
    select ${project}, 'http', username, true, left(md5(username), 16), sha256(username::bytea), now(), now()
    from users where username like 'person-%' order by id;
  insert into alerts (iid, project_id, integration_id, issue_id, kind, title, severity, started_at, payload, created_at, updated_at)
    select row_number() over (order by u.id), ${project}, a.id, i.id, 'http', u.username, 'critical', now(), '{"title": "Down"}', now(), now()
    from users u join alert_integrations a on a.name = u.username
      left join issues i on i.project_id = ${project} and i.iid = 1
    where u.username like 'person-%' order by u.id;
  insert into project_counters (project_id, alerts) select ${project}, count(*) from alerts
    on conflict (project_id) do update set alerts = excluded.alerts;
  insert into alert_assignees (alert_id, user_id)
    select a.id, u.id from alerts a join users u on u.username = a.title;
  insert into metric_images (project_id, alert_id, issue_id, author_id, file_name, file, size, created_at, updated_at)
    select ${project}, case x when 1 then (select id from alerts where iid = 1) end,
      case x when 2 then (select id from issues where project_id = ${project} and iid = 1) end,
      id, username || '.png', md5(username) || '.png', 1, now(), now()
    from users, generate_series(1, 2) x where username like 'person-%' order by x, id;`;

/** The log of the first alert, which begins with its first read. */
export const alertLog = ({ project }: SampleIds): string => `
  insert into notes (project_id, alert_id, author_id, body, discussion_id, system_action, created_at, updated_at)
    select ${project}, a.id, u.id, 'logged an alert', encode(sha256('log'), 'hex')::char(40), 'new_alert_added', a.created_at, a.created_at
    from alerts a join users u on u.username = a.title where a.iid = 1;`;
