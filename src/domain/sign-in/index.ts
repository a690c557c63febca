/** Sign-in: sessions for browsers, registration, confirmed addresses, passwords and two-factor authentication. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { stylesheetRoute } from '../../platform/http/server/stylesheet.ts';
import type { Task } from '../../platform/jobs/jobs.ts';
import { adminModePages } from './account/admin-mode-pages.ts';
import { accountPages } from './account/pages.ts';
import { CONFIRMATION_REQUESTED, sendConfirmation } from './mailed-links/confirmation-actions.ts';
import { confirmationPages } from './mailed-links/confirmation-pages.ts';
import { RESET_REQUESTED, sendReset } from './mailed-links/reset-actions.ts';
import { resetPages } from './mailed-links/reset-pages.ts';
import { activeSessionPages } from './sessions/active-sessions.ts';
import { forgetSessions } from './sessions/queries.ts';
import { sessionPages } from './sessions/session-pages.ts';
import { signUpPages } from './sign-up/pages.ts';

const FORGET = 'forget_sessions';
const SEND_RESET = 'sign_in.send_reset';
const SEND_CONFIRMATION = 'sign_in.send_confirmation';

/** The task that finds the account of an address, and requests its mail. */
const sendTo =
  (
    services: Needs<'database' | 'settings' | 'secretKey' | 'wake'>,
    send: (services: Needs<'database' | 'settings' | 'secretKey'>, email: string) => Promise<void>,
  ): Task =>
  async ({ email }) => {
    if (typeof email !== 'string') return;
    await send(services, email);
    services.wake();
  };

export function signInCapability(
  services: Needs<'database' | 'settings' | 'secretKey' | 'wake'>,
): Capability {
  return {
    name: 'sign-in',
    endpoints: [],
    routes: [stylesheetRoute],
    pages: [
      ...sessionPages,
      ...signUpPages,
      ...confirmationPages,
      ...resetPages,
      ...accountPages,
      ...adminModePages,
      ...activeSessionPages,
    ],
    tasks: {
      [FORGET]: async () => {
        const settings = await services.settings.read();
        await forgetSessions(services.database.background, settings, now());
      },
      [SEND_RESET]: sendTo(services, sendReset),
      [SEND_CONFIRMATION]: sendTo(services, sendConfirmation),
    },
    listeners: [
      { fact: RESET_REQUESTED, task: SEND_RESET },
      { fact: CONFIRMATION_REQUESTED, task: SEND_CONFIRMATION },
    ],
    schedules: [{ task: FORGET, pattern: '17 * * * *' }],
    tables: ['sessions'],
  };
}
