/** Sites and their states as records. Of what is replicated nothing is said but that it is not known. */
import type { Needs } from '../../kernel/services.ts';
import { version } from '../../package.ts';
import { now } from '../../platform/clock.ts';
import type { SiteRow, Slots } from './queries.ts';
import { percentage, withSlash } from './rules.ts';
import {
  dataTypes,
  replicationCounts,
  replicationShares,
  type SiteRecord,
  type StatusRecord,
  type Word,
} from './schema.ts';

export type ViewContext = { services: Needs<'baseUrl' | 'config'> };

/** Whether the site is the one that answers. */
export const isCurrent = ({ services }: ViewContext, { url }: SiteRow): boolean =>
  url === withSlash(services.baseUrl());

const addressOf = ({ services }: ViewContext, word: Word, { id }: SiteRow): string =>
  `${services.baseUrl()}/api/v4/${word}/${id}`;

export function presentSite(context: ViewContext, word: Word, row: SiteRow): SiteRecord {
  const self = addressOf(context, word, row);
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    internal_url: row.internal_url ?? row.url,
    primary: row.is_primary,
    enabled: row.enabled,
    current: isCurrent(context, row),
    files_max_capacity: row.files_max_capacity,
    repos_max_capacity: row.repos_max_capacity,
    verification_max_capacity: row.verification_max_capacity,
    container_repositories_max_capacity: row.container_repositories_max_capacity,
    selective_sync_type: row.selective_sync_type,
    selective_sync_shards: row.selective_sync_shards,
    selective_sync_namespace_ids: row.selective_sync_namespace_ids,
    selective_sync_organization_ids: [],
    minimum_reverification_interval: row.minimum_reverification_interval,
    ...(!row.is_primary && { sync_object_storage: row.sync_object_storage }),
    blob_download_timeout: row.blob_download_timeout,
    ...(word === 'geo_nodes' && { clone_protocol: 'git' }),
    web_edit_url: null,
    ...(!row.is_primary && { web_geo_replication_details_url: null }),
    _links: { self, status: `${self}/status` },
  };
}

/** What is known of the site that answers. */
export type OwnState = { counts: ReadonlyMap<string, number | null>; slots: Slots };

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

/** The state of a site: `held` is there for the one that answers, whose state alone is known. */
export function presentStatus(
  context: ViewContext,
  word: Word,
  row: SiteRow,
  held: OwnState | undefined,
): StatusRecord {
  const self = addressOf(context, word, row);
  const count = (type: string) =>
    held ? (held.counts.has(type) ? (held.counts.get(type) ?? null) : 0) : null;
  const slots = held?.slots;
  const healthy = held !== undefined && row.enabled;
  const time = held && now();
  return {
    geo_node_id: row.id,
    projects_count: count('projects'),
    repositories_count: count('project_repositories'),
    ...Object.fromEntries(
      dataTypes.flatMap((type) => [
        [`${type}_count`, count(type)],
        ...replicationCounts.map((field) => [`${type}_${field}`, null]),
        ...replicationShares.map((field) => [`${type}_${field}`, percentage(0, 0)]),
      ]),
    ),
    healthy,
    health: healthy
      ? 'Healthy'
      : row.enabled
        ? 'The state of this site is not known: nothing is replicated to it'
        : 'The site is disabled',
    health_status: healthy ? 'Healthy' : row.enabled ? 'Unknown' : 'Disabled',
    missing_oauth_application: !row.is_primary,
    db_replication_lag_seconds: null,
    replication_slots_count: slots?.count ?? null,
    replication_slots_used_count: slots?.used ?? null,
    replication_slots_used_in_percentage: percentage(slots?.used ?? 0, slots?.count ?? 0),
    replication_slots_max_retained_wal_bytes: slots?.retained ?? null,
    last_event_id: null,
    last_event_timestamp: null,
    cursor_last_event_id: null,
    cursor_last_event_timestamp: null,
    last_successful_status_check_timestamp: time ? seconds(time) : null,
    version: held ? version.api : null,
    revision: held ? version.revision : null,
    selective_sync_type: row.selective_sync_type,
    namespaces: row.selective_sync_namespace_ids.map((id) => ({ id })),
    storage_shards: held ? [...context.services.config.storages.keys()].map((name) => ({ name })) : [],
    storage_shards_match: held ? true : null,
    updated_at: time ? time.toISOString() : null,
    _links: { self: `${self}/status`, [word === 'geo_sites' ? 'site' : 'node']: self },
  };
}
