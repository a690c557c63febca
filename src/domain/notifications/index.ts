/** Notifications: settings, as endpoints and pages, and the mail of events. */
import type { Capability } from '../../core/capability.ts';
import { notificationFacts } from '../../core/notifications/events.ts';
import { noteFact } from '../../core/notifications/note-events.ts';
import type { Services } from '../../core/services.ts';
import { siteMailer } from '../../core/site-mail.ts';
import { deliveryOf } from './delivery.ts';
import { mergeRequestFacts } from './merge-requests.ts';
import { pipelineFact } from './pipelines.ts';
import { releaseFact } from './releases.ts';
import { settingsPages } from './settings-pages.ts';
import { settingsEndpoints } from './settings-routes.ts';

export function notificationsCapability(services: Services): Capability {
  const delivery = deliveryOf(services, siteMailer(services));
  return {
    ...delivery,
    name: 'notifications',
    endpoints: settingsEndpoints,
    routes: [...settingsPages(services), ...delivery.routes],
    registrations: [
      notificationFacts.add(noteFact(services), ...mergeRequestFacts, pipelineFact, releaseFact),
    ],
    // Rows go with their user, project or group by foreign key.
    tables: ['notification_settings'],
    async reassign(tx, userId) {
      await tx.deleteFrom('notification_settings').where('user_id', '=', userId).execute();
    },
  };
}
