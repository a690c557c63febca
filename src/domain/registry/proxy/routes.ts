/** How the dependency proxy of a group is set, and what it keeps is removed. */
import { onGroup } from '../../../kernel/access/access.ts';
import { Accepted, accepted, type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { type ProxySettingsRow, selectProxySettings } from './queries.ts';
import { ProxySettings, ProxySettingsUpdate } from './schema.ts';
import { changeProxySettings, purgeProxy } from './settings-actions.ts';

const manage = onGroup('manage_dependency_proxy');
const settings = '/groups/:id/dependency_proxy/settings';

const presentSettings = ({
  enabled,
  identity,
  image_ttl_enabled,
  image_ttl,
}: ProxySettingsRow): ProxySettings => ({ enabled, identity, image_ttl_enabled, image_ttl });

export const proxyEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: settings,
    summary: 'How the dependency proxy of a group is set.',
    access: manage,
    reply: ProxySettings,
    handle: async ({ db, subject }) => presentSettings(await selectProxySettings(db, subject.id)),
  }),
  endpoint({
    method: 'PUT',
    path: settings,
    summary: 'Sets the dependency proxy of a group.',
    access: manage,
    input: ProxySettingsUpdate,
    reply: ProxySettings,
    handle: async (context) =>
      presentSettings(await changeProxySettings(context, context.input, context.services.secretKey)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/groups/:id/dependency_proxy/cache',
    summary: 'Removes the images that the dependency proxy of a group keeps, in the background.',
    access: manage,
    status: 202,
    reply: Accepted,
    handle: async (context) => {
      context.unmodified(context.subject.row.updated_at);
      await purgeProxy(context);
      return accepted();
    },
  }),
];
