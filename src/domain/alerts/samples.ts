/** An integration of each user's, with an alert; the pictures and the timeline of the first alert and of its incident. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['work-items/issues'],
  rows: ({ project }) => `
    insert into alert_integrations (project_id, kind, name, active, identifier, key_digest, created_at, updated_at)
      select ${project}, 'http', username, true, left(md5(username), 16), sha256(username::bytea), now(), now()
      from person order by id;
    insert into alerts (iid, project_id, integration_id, issue_id, kind, title, severity, started_at, payload, created_at, updated_at)
      select row_number() over (order by p.id), ${project}, a.id, i.id, 'http', p.username, 'critical', now(), '{"title": "Down"}', now(), now()
      from person p join alert_integrations a on a.name = p.username
        left join issues i on i.project_id = ${project} and i.iid = 1
      order by p.id;
    update project_counters set alerts = (select count(*) from alerts) where project_id = ${project};
    insert into alert_assignees (alert_id, user_id)
      select a.id, p.id from alerts a join person p on p.username = a.title;
    insert into metric_images (project_id, alert_id, issue_id, author_id, file_name, file, size, created_at, updated_at)
      select ${project}, case x when 1 then (select id from alerts where iid = 1) end,
        case x when 2 then (select id from issues where project_id = ${project} and iid = 1) end,
        id, username || '.png', md5(username) || '.png', 1, now(), now()
      from person, generate_series(1, 2) x order by x, id;
    insert into incident_timeline_events (project_id, issue_id, author_id, note, occurred_at, created_at, updated_at)
      select i.project_id, i.id, p.id, 'See #' || i.iid || ' and @' || p.username, now(), now(), now()
      from issues i, person p where i.project_id = ${project} and i.iid = 1 order by p.id;
    -- The log of an alert begins with its first read.
    insert into notes (project_id, alert_id, author_id, body, discussion_id, system_action, created_at, updated_at)
      select ${project}, a.id, p.id, 'logged an alert', encode(sha256('log'), 'hex')::char(40), 'new_alert_added', a.created_at, a.created_at
      from alerts a join person p on p.username = a.title where a.iid = 1`,
  guardedRows: ({ project }) => `
    insert into alerts (iid, project_id, kind, title, severity, started_at, payload, created_at, updated_at)
      values (3, ${project}, 'http', 'free', 'critical', now(), '{"title": "Down"}', now(), now());
    update project_counters set alerts = 3 where project_id = ${project}`,
  async guardedFill({ project }, { call, upload }) {
    await upload('POST', `/projects/${project}/issues/1/metric_images`, 'file');
    // The log of an alert begins with its first read, even by a caller who is then refused.
    await call(`GET /projects/${project}/alert_management_alerts/1/notes`);
  },
  ownRows: ({ project }) => `
    insert into alerts (iid, project_id, kind, title, severity, started_at, payload, created_at, updated_at)
      values (1, ${project}, 'http', 'own', 'critical', now(), '{}', now(), now())`,
  objects: {
    'alert_management_alerts/:alert_iid': { table: 'alerts', column: 'iid' },
    'alert_management_alerts/:noteable_id': { table: 'alerts', column: 'iid' },
    'alert_management_integrations/:integration_id': 'alert_integrations',
    'metric_images/:metric_image_id': {
      table: 'metric_images',
      where: (_, path) => `${path.includes('/issues/') ? 'issue_id' : 'alert_id'} is not null`,
    },
    'timeline_events/:timeline_event_id': 'incident_timeline_events',
  },
  requests: async ({ id }) => ({
    'POST /projects/:id/issues/:issue_iid/metric_images': { file: 'file' },
    'POST /projects/:id/alert_management_alerts/:alert_iid/metric_images': { file: 'file' },
    'POST /projects/:id/alert_management_alerts/:alert_iid/issue': {
      at: { alert_iid: await id(`select iid as id from alerts where title = 'free'`) },
    },
  }),
};
