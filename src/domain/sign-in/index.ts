/** Sign-in: sessions for browsers, registration, passwords and two-factor authentication. */
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { now } from '../../platform/clock.ts';
import { stylesheetRoute } from '../../platform/http/stylesheet.ts';
import { accountPages } from './account-pages.ts';
import { forgetSessions } from './queries.ts';
import { sessionPages } from './session-pages.ts';
import { signUpPages } from './sign-up-pages.ts';

const FORGET = 'forget_sessions';

export function signInCapability(services: Services): Capability {
  return {
    name: 'sign-in',
    endpoints: [],
    routes: [stylesheetRoute, ...sessionPages(services), ...signUpPages(services), ...accountPages(services)],
    tasks: {
      [FORGET]: async () => {
        const settings = await services.settings.read();
        await forgetSessions(services.database.background, settings, now());
      },
    },
    schedules: [{ task: FORGET, pattern: '17 * * * *' }],
    tables: ['sessions'],
  };
}
