/** Integrations as records. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { IntegrationRecord } from '../alerts/schema.ts';
import { fieldsOf } from '../payloads/mapping.ts';
import type { AlertIntegrationRow } from '../records.ts';
import { presentMapping, sampledOf, slugOf } from './rules.ts';

type Listed = Omit<AlertIntegrationRow, 'sample' | 'mapping' | 'key_digest'>;

/** The address for alerts. */
function receiverUrl(baseUrl: string, { fullPath }: AuthorizedProject, row: Listed): string {
  const home = `${baseUrl}/${fullPath}`;
  return row.kind === 'metrics'
    ? `${home}/metrics/alerts/notify.json`
    : `${home}/alerts/notify/${slugOf(row.name)}/${row.identifier}.json`;
}

/** The record in lists, without the sample, which may be large. */
export const presentListed = (
  baseUrl: string,
  project: AuthorizedProject,
  row: Listed,
): IntegrationRecord => ({
  id: row.id,
  type: row.kind === 'metrics' ? 'metrics' : 'http',
  name: row.name,
  active: row.active,
  url: receiverUrl(baseUrl, project, row),
  key: null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** The record with sample, mapping and fields; `key` where it is new. */
export function presentIntegration(
  baseUrl: string,
  project: AuthorizedProject,
  row: AlertIntegrationRow,
  key: string | null = null,
): IntegrationRecord {
  const { sample, mapping } = sampledOf(row);
  return {
    ...presentListed(baseUrl, project, row),
    key,
    payload_example: sample,
    payload_attribute_mappings: presentMapping(mapping),
    payload_alert_fields:
      sample === null ? [] : fieldsOf(sample).map((field) => ({ ...field, path: [...field.path] })),
  };
}
