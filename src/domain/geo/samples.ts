/** A site for each user. */
import type { Samples } from '../../../test/support/samples.ts';

export const samples: Samples = {
  rows: () => `
    insert into geo_sites (name, url, is_primary, enabled, files_max_capacity, repos_max_capacity,
        verification_max_capacity, container_repositories_max_capacity, selective_sync_shards,
        selective_sync_namespace_ids, minimum_reverification_interval, sync_object_storage, blob_download_timeout,
        created_at, updated_at)
      select username, 'https://' || username || '.example.org/', false, true, 10, 25, 100, 10, '{}', '{}', 7, false,
        28800, now(), now() from person order by id`,
  objects: { 'geo_sites/:id': 'geo_sites', 'geo_nodes/:id': 'geo_sites' },
  // Administrators, who alone name groups here, see them all.
  fields: { selective_sync_namespace_ids: null },
  requests: () => ({
    'POST /geo_sites': { with: { name: 'Site', url: 'https://site.example.org' } },
    'POST /geo_nodes': { with: { name: 'Node', url: 'https://node.example.org' } },
  }),
};
