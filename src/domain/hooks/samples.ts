/** Hooks of the project, the group and the instance, each with what it was sent. */

import type { Samples } from '../../../test/support/samples.ts';
import { seal } from '../../platform/secret.ts';

/** A page that leads strangers to the sign-in: it receives what hooks send in tests. */
const RECEIVER = '/-/profile/applications';

export const samples: Samples = {
  rows: ({ project, group }, { url, app }) => {
    const sealed = (text: string) => `'${seal(app.services.secretKey, text)}'`;
    const address = `${url}${RECEIVER}`;
    return `
    insert into hooks (project_id, namespace_id, url_sealed, events, enable_ssl_verification, branch_filter_strategy,
        custom_headers_sealed, url_variables_sealed, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, ${sealed(address)}, '{push_events}', true,
        'wildcard', ${sealed('{"X-Stone":"1"}')}, ${sealed('{"stone":"1"}')}, now(), now()
      from person, generate_series(1, 3) x order by x, id;
    insert into hook_events (chain, flag, body, created_at)
      select gen_random_uuid(), 'push_events', '{"object_kind":"push"}', now() from person;
    insert into hook_deliveries (hook_id, event_id, idempotency_key, sent_at, url, request_headers, response_headers,
        response_body, response_status, execution_duration)
      select h.id, e.id, gen_random_uuid(), now(), '${address}', '{}', '{}', '', '200', 1
      from hook_events e, (select min(id) as id from hooks group by project_id, namespace_id) h order by h.id, e.id`;
  },
  async fill({ app }) {
    const { settings, database } = app.services;
    await settings.write(database.db, { outbound_local_requests_allowlist: ['127.0.0.1'] });
    settings.forget();
  },
  ownRows: ({ project, group }) => `
    insert into hooks (project_id, namespace_id, url_sealed, events, enable_ssl_verification, branch_filter_strategy,
        created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, url_sealed, events, true, 'wildcard', now(), now()
      from (select * from hooks limit 1) h, generate_series(1, 2) x`,
  objects: {
    'hooks/:hook_id': {
      table: 'hooks',
      where: ({ project, group }, path) => {
        if (path.startsWith('/projects')) return `project_id = ${project}`;
        if (path.startsWith('/groups')) return `namespace_id = ${group}`;
        return 'project_id is null and namespace_id is null';
      },
    },
    'events/:hook_log_id': {
      table: 'hook_deliveries',
      where: ({ project, group }, path) =>
        `hook_id = (select min(id) from hooks where ${path.startsWith('/projects') ? `project_id = ${project}` : `namespace_id = ${group}`})`,
    },
    'test/:trigger': { value: 'push_events' },
    'custom_headers/:key': { value: 'X-Stone' },
    'url_variables/:key': { value: 'stone' },
  },
  objectForDelete: ({ project, group }) => {
    const of = (column: string, id: number | undefined, key: string) => ({
      at: { hook_id: `select max(id) from hooks where ${column} = ${id}`, key: `select '${key}'` },
    });
    const ofInstance = (key: string) => ({
      at: {
        hook_id: 'select max(id) from hooks where project_id is null and namespace_id is null',
        key: `select '${key}'`,
      },
    });
    const header = '/hooks/:hook_id/custom_headers/:key';
    const variable = '/hooks/:hook_id/url_variables/:key';
    return {
      [`/projects/:id${header}`]: of('project_id', project, 'X-Stone'),
      [`/projects/:id${variable}`]: of('project_id', project, 'stone'),
      [`/groups/:id${header}`]: of('namespace_id', group, 'X-Stone'),
      [`/groups/:id${variable}`]: of('namespace_id', group, 'stone'),
      [header]: ofInstance('X-Stone'),
      [variable]: ofInstance('stone'),
    };
  },
  requests: () => {
    const create = { with: { url: 'https://hooks.example/new' } };
    const update = { with: { name: 'new' } };
    return {
      'POST /projects/:id/hooks': create,
      'POST /groups/:id/hooks': create,
      'POST /hooks': create,
      'PUT /projects/:id/hooks/:hook_id': update,
      'PUT /groups/:id/hooks/:hook_id': update,
      'PUT /hooks/:hook_id': update,
    };
  },
};
