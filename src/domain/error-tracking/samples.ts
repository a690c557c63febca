/** An error by each user, the first with an event by each; and client keys. */
import { sampleEvent } from '../../../test/support/error-rows.ts';
import type { Samples } from '../../../test/support/samples.ts';
import { packEvent } from './events/shape.ts';

export const samples: Samples = {
  rows: ({ project }) => `
    insert into error_tracking_client_keys (project_id, public_key, created_at, updated_at)
      select ${project}, 'glet_' || md5(username), now(), now() from person order by id;
    insert into errors (project_id, fingerprint, name, first_seen_at, last_seen_at, events_count, created_at, updated_at)
      select ${project}, sha256(username::bytea), 'Error of ' || username, now(), now(), id, now(), now()
      from person order by id;
    insert into error_events (error_id, project_id, event_id, level, payload, occurred_at, received_at)
      select e.id, ${project}, md5(p.username)::uuid, 'error', '\\x${packEvent(sampleEvent()).toString('hex')}', now(), now()
      from person p, (select min(id) as id from errors where project_id = ${project}) e order by p.id`,
  guardedRows: () => `
    insert into error_tracking_settings (project_id, active, integrated, created_at, updated_at)
      select id, true, true, now(), now() from projects where path in ('empty', 'world')`,
  ownRows: ({ project }) => `
    insert into error_tracking_settings (project_id, active, integrated, created_at, updated_at)
      values (${project}, true, true, now(), now());
    insert into errors (project_id, fingerprint, name, first_seen_at, last_seen_at, events_count, created_at, updated_at)
      values (${project}, '\\x01', 'own', now(), now(), 1, now(), now())`,
  objects: {
    'client_keys/:key_id': 'error_tracking_client_keys',
    'errors/:error_id': 'errors',
    'events/:event_id': {
      table: 'error_events',
      column: 'event_id',
      where: ({ project }) => `error_id = (select min(id) from errors where project_id = ${project})`,
      foreign: true,
    },
  },
  requests: ({ projectId }) => {
    const empty = { at: { project: projectId('world/empty') } };
    return {
      'PATCH /projects/:id/error_tracking/settings': empty,
      'GET /projects/:id/error_tracking/settings': empty,
    };
  },
};
