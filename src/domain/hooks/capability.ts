/** Webhooks: their management, what they are told of, and its delivery. */
import type { Capability } from '../../kernel/capability.ts';
import { now } from '../../platform/clock.ts';
import { removeOldEvents } from './delivery/actions.ts';
import { LOG_MS } from './delivery/log.ts';
import { deliveryEndpoints } from './delivery/routes.ts';
import { createHookSender } from './delivery/sender.ts';
import type { HookServices } from './events/hook-events.ts';
import { hookListeners, prepareTasks } from './events/prepare.ts';
import { createListenedFlags } from './management/listened-flags.ts';
import { selectListenedFlags } from './management/queries.ts';
import { hookEndpoints } from './management/routes.ts';

const SWEEP = 'hooks.sweep';

export function hooksCapability(services: HookServices): Capability {
  const flags = createListenedFlags(services, selectListenedFlags);
  const sender = createHookSender(services);
  return {
    name: 'hooks',
    endpoints: [...hookEndpoints(flags), ...deliveryEndpoints],
    tasks: {
      [SWEEP]: () => removeOldEvents(services.database.background, new Date(now().getTime() - LOG_MS)),
    },
    schedules: [{ task: SWEEP, pattern: '17 * * * *' }],
    forRegistered: () => ({
      tasks: prepareTasks(services, sender.wake),
      listeners: hookListeners(services, flags),
    }),
    background: { start: sender.start, stop: sender.stop },
    // Hooks go with their project or group, deliveries with their hook, by foreign key.
    tables: ['hooks', 'hook_events', 'hook_deliveries'],
  };
}
