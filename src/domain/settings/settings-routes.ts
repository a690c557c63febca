/** The application settings and the statistics of the instance. */
import { onInstance } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../kernel/api/endpoint.ts';
import { changeSettings } from './actions.ts';
import { presentSettings, presentStatistics } from './present.ts';
import { countInstance } from './queries.ts';
import { ApplicationSettingRecord, ApplicationStatistics, SettingsInput } from './schema.ts';

export const settingsChangeEndpoint = endpoint({
  method: 'PUT',
  path: '/application/settings',
  summary: 'Changes application settings; what is not sent stays as it is.',
  access: onInstance,
  input: SettingsInput,
  reply: ApplicationSettingRecord,
  handle: async ({ services, db, actor, input }) =>
    presentSettings(await changeSettings(services, db, actor, input)),
});

export const settingsEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/application/settings',
    summary: 'The application settings in force.',
    access: onInstance,
    reply: ApplicationSettingRecord,
    handle: async ({ settings }) => presentSettings(settings),
  }),
  settingsChangeEndpoint,
  endpoint({
    method: 'GET',
    path: '/application/statistics',
    summary: 'How much there is on this instance.',
    access: onInstance,
    reply: ApplicationStatistics,
    handle: async ({ db }) => presentStatistics(await countInstance(db)),
  }),
];
