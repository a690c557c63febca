/** The values of an integration's fields: those that are secret are sealed. */
import type { Json } from '../../../platform/db/rows.ts';
import { seal, unseal } from '../../../platform/secret.ts';
import type { Description, Properties } from '../kinds/description.ts';
import type { IntegrationRow } from './queries.ts';

/** All values, the secret ones among them. */
export const readProperties = (key: string, row: IntegrationRow): Properties => ({
  ...(row.properties as Record<string, Json>),
  ...(row.secrets_sealed === null ? {} : JSON.parse(unseal(key, row.secrets_sealed))),
});

/** The columns of the values. */
export function propertyColumns(key: string, { fields }: Description, properties: Properties) {
  const all = Object.entries(properties);
  const secrets = all.filter(([name]) => fields[name]?.secret);
  return {
    properties: Object.fromEntries(all.filter(([name]) => !fields[name]?.secret)),
    secrets_sealed: secrets.length === 0 ? null : seal(key, JSON.stringify(Object.fromEntries(secrets))),
  };
}
