/** Notifications: settings, as endpoints and pages, and the mail of events. */

import type { Capability } from '../../kernel/capability.ts';
import { siteMailer } from '../../kernel/mail/site-mail.ts';
import type { Needs } from '../../kernel/services.ts';
import { deliveryOf } from './delivery/delivery.ts';
import { notificationFacts } from './events/events.ts';
import { noteFact } from './events/note-events.ts';
import { forgetSettings } from './settings/actions.ts';
import { settingsPages } from './settings/pages.ts';
import { settingsEndpoints } from './settings/routes.ts';

export function notificationsCapability(
  services: Needs<
    'config' | 'database' | 'instance' | 'repositories' | 'registered' | 'secretKey' | 'baseUrl' | 'inFlight'
  >,
): Capability {
  const delivery = deliveryOf(services, siteMailer(services));
  return {
    ...delivery,
    name: 'notifications',
    endpoints: settingsEndpoints,
    pages: [...settingsPages, ...delivery.pages],
    registrations: [notificationFacts.add(noteFact(services))],
    // Rows go with their user, project or group by foreign key.
    tables: ['notification_settings'],
    reassign: forgetSettings,
  };
}
