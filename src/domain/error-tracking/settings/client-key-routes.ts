/** Endpoints of the client keys by which applications report errors (spec: Error tracking). */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { changeKey, createKey, deleteKey } from './actions.ts';
import { presentKey } from './present.ts';
import { selectKeys } from './queries.ts';
import { ChangeKey, ClientKey, OneKey } from './schema.ts';

const path = '/projects/:id/error_tracking/client_keys';
const access = onProject('configure_error_tracking');

export const clientKeyEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Client keys of a project, oldest first.',
    access,
    page: 'offset',
    item: ClientKey,
    handle: async ({ db, services, subject, page }) => {
      const keys = await selectKeys(db, subject.id, page);
      return mapPage(keys, (row) => presentKey(row, services.baseUrl()));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a client key.',
    access,
    reply: ClientKey,
    handle: async ({ db, services, actor, subject }) =>
      presentKey(await createKey(db, actor, subject), services.baseUrl()),
  }),
  endpoint({
    method: 'PATCH',
    path: `${path}/:key_id`,
    summary: 'Turns a client key on or off.',
    access,
    input: ChangeKey,
    reply: ClientKey,
    handle: async ({ db, services, actor, subject, input }) =>
      presentKey(await changeKey(db, actor, subject, input), services.baseUrl()),
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:key_id`,
    summary: 'Deletes a client key: whoever uses it reports nothing any more.',
    access,
    input: OneKey,
    reply: ClientKey,
    // The response has the deleted key (facts: Error tracking).
    status: 200,
    handle: async ({ db, services, actor, subject, input, unmodified }) =>
      presentKey(await deleteKey(db, actor, subject, input.key_id, unmodified), services.baseUrl()),
  }),
];
