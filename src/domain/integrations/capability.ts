/** Integrations: their settings, and what they are told of. */
import type { Capability } from '../../kernel/capability.ts';
import { createListenedFlags, hookAudiences } from '../hooks/index.ts';
import { referenceDefinitions } from '../markdown/index.ts';
import { type IntegrationServices, integrationAudience, integrationTasks } from './delivery/audience.ts';
import { selectIntegrationFlags } from './management/queries.ts';
import { integrationEndpoints } from './management/routes.ts';
import { externalReferences } from './references/references.ts';

export function integrationsCapability(services: IntegrationServices): Capability {
  const flags = createListenedFlags(services, selectIntegrationFlags);
  return {
    name: 'integrations',
    endpoints: integrationEndpoints(flags),
    tasks: integrationTasks(services),
    registrations: [
      hookAudiences.add(integrationAudience(services, flags)),
      referenceDefinitions.add(...externalReferences),
    ],
    // They go with their project or group, by foreign key.
    tables: ['integrations'],
  };
}
