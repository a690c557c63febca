/** Integrations as records. */
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import { integrations } from '../descriptions/descriptions.ts';
import { type IntegrationRow, isOwn } from './queries.ts';
import { type IntegrationRecord, shownFlags, type WholeIntegration } from './schema.ts';

export const presentIntegration = (subject: ResourceParent, row: IntegrationRow): IntegrationRecord => ({
  id: row.id,
  title: integrations.get(row.slug)?.title ?? row.slug,
  slug: row.slug,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  active: row.active,
  inherited: !isOwn(subject, row),
  ...Object.fromEntries(shownFlags.map((flag) => [flag, row.events.includes(flag)])),
});

/** With the values of its fields, those apart that are secret; one without a value is null. */
export function presentWhole(subject: ResourceParent, row: IntegrationRow): WholeIntegration {
  const values = row.properties as Record<string, unknown>;
  const shown = Object.entries(integrations.get(row.slug)?.fields ?? {}).filter(([, { secret }]) => !secret);
  return {
    ...presentIntegration(subject, row),
    properties: Object.fromEntries(shown.map(([name]) => [name, values[name] ?? null])),
  };
}
