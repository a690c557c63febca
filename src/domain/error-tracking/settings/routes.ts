/** Error-tracking settings of a project (spec: Error tracking). */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import { changeSettings, replaceSettings } from './actions.ts';
import { presentSettings } from './present.ts';
import { selectSettings } from './queries.ts';
import { ChangeSettings, ReplaceSettings, TrackingSettings } from './schema.ts';

const path = '/projects/:id/error_tracking/settings';
const access = onProject('configure_error_tracking');

export const trackingSettingsEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary: 'Error-tracking settings of a project.',
    access,
    reply: TrackingSettings,
    handle: async ({ db, subject }) =>
      presentSettings(found(await selectSettings(db, subject.id), 'Error Tracking Setting')),
  }),
  endpoint({
    method: 'PUT',
    path,
    summary: 'Turns error tracking on or off; the settings are made where there are none.',
    access,
    input: ReplaceSettings,
    reply: TrackingSettings,
    handle: async ({ db, actor, subject, input }) =>
      presentSettings(await replaceSettings(db, actor, subject, input)),
  }),
  endpoint({
    method: 'PATCH',
    path,
    summary: 'Changes error-tracking settings; what is not sent stays as it is.',
    access,
    input: ChangeSettings,
    reply: TrackingSettings,
    handle: async ({ db, services, actor, subject, input }) =>
      presentSettings(await changeSettings(db, actor, subject, input, services.secretKey)),
  }),
];
