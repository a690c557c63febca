/** Parameters and records of sites (facts-packages: 7.1), under their present and their former name. */
import Type, { type Static, type TProperties } from 'typebox';
import {
  commaList,
  integerId,
  notBlank,
  nullable,
  stringEnum,
} from '../../platform/http/parameters/schema.ts';
import { webAddress } from '../../platform/http/web-address.ts';

const one = { id: integerId() };
const capacity = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });
const url = Type.String({ maxLength: 2048, ...webAddress });
const name = Type.String({ maxLength: 255, ...notBlank });

const settings = {
  enabled: Type.Optional(Type.Boolean()),
  internal_url: Type.Optional(nullable(url)),
  files_max_capacity: Type.Optional(capacity),
  repos_max_capacity: Type.Optional(capacity),
  verification_max_capacity: Type.Optional(capacity),
  container_repositories_max_capacity: Type.Optional(capacity),
  sync_object_storage: Type.Optional(Type.Boolean()),
  selective_sync_type: Type.Optional(nullable(stringEnum(['namespaces', 'shards']))),
  selective_sync_shards: Type.Optional(commaList(Type.String({ maxLength: 255 }), { maxItems: 100 })),
  selective_sync_namespace_ids: Type.Optional(commaList(integerId(), { maxItems: 1_000 })),
  minimum_reverification_interval: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
  blob_download_timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
};

export const OneInput = Type.Object(one);
export const CreateInput = Type.Object({
  name,
  url,
  primary: Type.Optional(Type.Boolean({ description: 'There is one primary site.' })),
  ...settings,
});
export const UpdateInput = Type.Object({
  ...one,
  name: Type.Optional(name),
  url: Type.Optional(url),
  ...settings,
});
export type SiteInput = Partial<Static<typeof CreateInput>>;

/** The public name, and the one before it. */
export const words = ['geo_sites', 'geo_nodes'] as const;
export type Word = (typeof words)[number];

export const SiteRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  url: Type.String(),
  internal_url: Type.String(),
  primary: Type.Boolean(),
  enabled: Type.Boolean(),
  current: Type.Boolean({ description: 'Whether it is the one that answers.' }),
  files_max_capacity: Type.Integer(),
  repos_max_capacity: Type.Integer(),
  verification_max_capacity: Type.Integer(),
  container_repositories_max_capacity: Type.Integer(),
  selective_sync_type: nullable(Type.String()),
  selective_sync_shards: Type.Array(Type.String()),
  selective_sync_namespace_ids: Type.Array(Type.Integer()),
  selective_sync_organization_ids: Type.Array(Type.Integer()),
  minimum_reverification_interval: Type.Integer(),
  sync_object_storage: Type.Optional(Type.Boolean({ description: 'Of secondary sites.' })),
  blob_download_timeout: Type.Integer(),
  clone_protocol: Type.Optional(Type.String({ description: 'Below `geo_nodes`.' })),
  web_edit_url: Type.Null({ description: 'There is no page behind it.' }),
  web_geo_replication_details_url: Type.Optional(
    Type.Null({ description: 'Of secondary sites; there is no page.' }),
  ),
  _links: Type.Object({ self: Type.String(), status: Type.String() }),
});
export type SiteRecord = Static<typeof SiteRecord>;

/** What sites hold, by the public names. */
export const dataTypes = [
  'ci_secure_files',
  'container_repositories',
  'dependency_proxy_blobs',
  'dependency_proxy_manifests',
  'design_management_repositories',
  'group_wiki_repositories',
  'job_artifacts',
  'lfs_objects',
  'merge_request_diffs',
  'package_files',
  'pages_deployments',
  'pipeline_artifacts',
  'project_repositories',
  'project_wiki_repositories',
  'snippet_repositories',
  'terraform_state_versions',
  'uploads',
] as const;
export type DataType = (typeof dataTypes)[number];

/** What replication would count of each of them. */
export const replicationCounts = [
  'checksum_total_count',
  'checksummed_count',
  'checksum_failed_count',
  'synced_count',
  'failed_count',
  'registry_count',
  'verification_total_count',
  'verified_count',
  'verification_failed_count',
] as const;
export const replicationShares = ['synced_in_percentage', 'verified_in_percentage'] as const;

const count = nullable(Type.Integer());
const ofEachType = Object.fromEntries(
  dataTypes.flatMap((type) => [
    [`${type}_count`, count],
    ...replicationCounts.map((field) => [`${type}_${field}`, count]),
    ...replicationShares.map((field) => [`${type}_${field}`, Type.String()]),
  ]),
) as TProperties;

const statusFields = {
  geo_node_id: Type.Integer(),
  projects_count: count,
  repositories_count: count,
  healthy: Type.Boolean(),
  health: Type.String(),
  health_status: stringEnum(['Healthy', 'Disabled', 'Unknown']),
  missing_oauth_application: Type.Boolean(),
  db_replication_lag_seconds: count,
  replication_slots_count: count,
  replication_slots_used_count: count,
  replication_slots_used_in_percentage: Type.String(),
  replication_slots_max_retained_wal_bytes: count,
  last_event_id: count,
  last_event_timestamp: count,
  cursor_last_event_id: count,
  cursor_last_event_timestamp: count,
  last_successful_status_check_timestamp: nullable(Type.Integer({ description: 'Seconds since 1970.' })),
  version: nullable(Type.String()),
  revision: nullable(Type.String()),
  selective_sync_type: nullable(Type.String()),
  namespaces: Type.Array(Type.Object({ id: Type.Integer() })),
  storage_shards: Type.Array(Type.Object({ name: Type.String() })),
  storage_shards_match: nullable(Type.Boolean()),
  updated_at: nullable(Type.String()),
  _links: Type.Object({
    self: Type.String(),
    site: Type.Optional(Type.String()),
    node: Type.Optional(Type.String()),
  }),
};

export const StatusRecord = Type.Unsafe<Static<Type.TObject<typeof statusFields>> & Record<string, unknown>>(
  Type.Object({ ...ofEachType, ...statusFields }),
);
export type StatusRecord = Static<typeof StatusRecord>;
