/**
 * The container registry: images of projects, as programs push and pull them, and their management by the REST API; and the
 * dependency proxy, images of another registry, which groups keep: the same protocol, tokens and refusals.
 */
import type { Capability } from '../../kernel/capability.ts';
import { type TokenServices, tokenServiceRoute } from './access/token-service.ts';
import { runPolicies } from './expiration/policies.ts';
import { protectionEndpoints } from './protection/routes.ts';
import { type ProtocolServices, registryRoutes } from './protocol/routes.ts';
import { PURGE, type Purge, runPurge } from './proxy/removal.ts';
import { proxyEndpoints } from './proxy/routes.ts';
import { REMOVE_REPOSITORY, removeRepository } from './repositories/removal.ts';
import { repositoryEndpoints } from './repositories/routes.ts';
import { sweepRegistry } from './sweep.ts';
import { REMOVE_TAGS, runTagsRemoval, type TagsRemoval } from './tags/removal.ts';

const SWEEP = 'registry.sweep';
const RUN_POLICIES = 'registry.run_policies';

export const registryCapability = (services: TokenServices & ProtocolServices): Capability => ({
  name: 'registry',
  endpoints: [...repositoryEndpoints, ...protectionEndpoints, ...proxyEndpoints],
  routes: [tokenServiceRoute(services), ...registryRoutes(services)],
  tasks: {
    [SWEEP]: () => sweepRegistry(services),
    [RUN_POLICIES]: () => runPolicies(services.database.background),
    // Only purgeLater() adds them.
    [PURGE]: (payload) => runPurge(services, payload as Purge),
    [REMOVE_REPOSITORY]: ({ repository_id }) => removeRepository(services, Number(repository_id)),
    // Only removeTags() adds them.
    [REMOVE_TAGS]: (payload) => runTagsRemoval(services.database.background, payload as TagsRemoval),
  },
  schedules: [
    { task: SWEEP, pattern: '50 3 * * *' },
    { task: RUN_POLICIES, pattern: '*/5 * * * *' },
  ],
  // A project's images are deleted with it, and what a group keeps with that, by foreign key; their bytes by the next sweep of blobs.
  tables: [
    'container_repositories',
    'container_blobs',
    'container_manifests',
    'container_manifest_blobs',
    'container_manifest_children',
    'container_tags',
    'container_uploads',
    'container_chunks',
    'container_repository_protection_rules',
    'container_tag_protection_rules',
    'dependency_proxy_settings',
    'dependency_proxy_manifests',
    'dependency_proxy_tags',
    'dependency_proxy_blobs',
  ],
  unique: {
    container_repository_protection_rules_pattern: {
      property: 'repository_path_pattern',
      status: 'unprocessable',
    },
    container_tag_protection_rules_pattern: { property: 'tag_name_pattern', status: 'unprocessable' },
  },
});
