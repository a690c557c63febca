/** Notifications: settings, as endpoints and pages, and the mail of events. */
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { siteMailer } from '../../core/site-mail.ts';
import { deliveryRegistrations } from './delivery.ts';
import { settingsPages } from './settings-pages.ts';
import { settingsEndpoints } from './settings-routes.ts';

export function notificationsCapability(services: Services): Capability {
  const delivery = deliveryRegistrations(services, siteMailer(services));
  return {
    ...delivery,
    name: 'notifications',
    endpoints: settingsEndpoints,
    routes: [...settingsPages(services), ...delivery.routes],
    // Rows go with their user, project or group by foreign key.
    tables: ['notification_settings'],
    async reassign(tx, userId) {
      await tx.deleteFrom('notification_settings').where('user_id', '=', userId).execute();
    },
  };
}
