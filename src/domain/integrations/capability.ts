/** Integrations: their settings, and what they are told of. */
import type { Capability } from '../../kernel/capability.ts';
import { createListenedFlags, hookAudiences } from '../hooks/index.ts';
import { referenceDefinitions, trackerNames } from '../markdown/index.ts';
import { type IntegrationServices, integrationAudience } from './delivery/audience.ts';
import { createIntegrationSender } from './delivery/sender.ts';
import { selectIntegrationFlags, TRACKER_NAMES } from './management/queries.ts';
import { integrationEndpoints } from './management/routes.ts';
import { externalReferences, namingFields, readOwnNames } from './references/references.ts';

export function integrationsCapability(services: IntegrationServices): Capability {
  const flags = createListenedFlags(services, (db) => selectIntegrationFlags(db, namingFields));
  const sender = createIntegrationSender(services);
  return {
    name: 'integrations',
    endpoints: integrationEndpoints(flags),
    registrations: [
      hookAudiences.add(integrationAudience(services, flags, sender.wake)),
      referenceDefinitions.add(...externalReferences),
      trackerNames.add(async (context) => {
        const { project } = context;
        return project && (await flags.read()).has(TRACKER_NAMES)
          ? readOwnNames(context, project)
          : undefined;
      }),
    ],
    background: { start: sender.start, stop: sender.stop },
    // They go with their project or group, deliveries with their integration, by foreign key.
    tables: ['integrations', 'integration_deliveries'],
  };
}
