/** The container registry: images of projects, as programs push and pull them. */
import type { Capability } from '../../kernel/capability.ts';
import { type TokenServices, tokenServiceRoute } from './access/token-service.ts';
import { type ProtocolServices, registryRoutes } from './protocol/routes.ts';
import { sweepRegistry } from './sweep.ts';

const SWEEP = 'registry.sweep';

export const registryCapability = (services: TokenServices & ProtocolServices): Capability => ({
  name: 'registry',
  endpoints: [],
  routes: [tokenServiceRoute(services), ...registryRoutes(services)],
  tasks: { [SWEEP]: () => sweepRegistry(services) },
  schedules: [{ task: SWEEP, pattern: '50 3 * * *' }],
  // A project's images are deleted with it, by foreign key; their bytes by the next sweep of blobs.
  tables: [
    'container_repositories',
    'container_blobs',
    'container_manifests',
    'container_manifest_blobs',
    'container_manifest_children',
    'container_tags',
    'container_uploads',
    'container_chunks',
  ],
});
