/** Error-tracking settings and client keys as records (facts: Error tracking). */
import { dsnOf } from './client-keys.ts';
import type { KeyRow, SettingsRow } from './queries.ts';
import type { ClientKey, TrackingSettings } from './schema.ts';

/** Settings of an external tracker are null while errors are stored here. */
export function presentSettings(row: SettingsRow): TrackingSettings {
  const external = row.integrated ? null : row;
  const externalUrl = external?.external_url ?? null;
  return {
    active: row.active,
    project_name: external?.project_name ?? null,
    tracker_external_url: externalUrl,
    sentry_external_url: externalUrl,
    api_url: external?.api_url ?? null,
    integrated: row.integrated,
    keep_addresses: row.keep_addresses,
  };
}

export function presentKey(row: KeyRow, baseUrl: string): ClientKey {
  const dsn = dsnOf(baseUrl, row.public_key, row.project_id);
  return {
    id: row.id,
    active: row.active,
    public_key: row.public_key,
    tracker_dsn: dsn,
    sentry_dsn: dsn,
  };
}
