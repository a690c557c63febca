/** Rules of integrations, their samples and mappings. Pure. */

import { badRequest, forbidden, invalid } from '../../../platform/failure.ts';
import type { IntegrationChanges, MappingInput, MappingRecord } from '../alerts/schema.ts';
import {
  changesSample,
  type MappableField,
  type Mapping,
  mappableFields,
  validateMapping,
} from '../payloads/mapping.ts';
import { measure } from '../payloads/size.ts';
import { isObject } from '../payloads/values.ts';
import type { AlertIntegrationRow, JsonObject } from '../records.ts';

type Sampled = { kind: string; mapping: Mapping | null; sample: JsonObject | null };

/** Sample and mapping of an integration. */
export const sampledOf = ({ kind, mapping, sample }: AlertIntegrationRow): Sampled => ({
  kind,
  // Only mappings of validateMapping() are stored.
  mapping: mapping as Mapping | null,
  sample: isObject(sample) ? sample : null,
});

/** 400 for a payload that receivers refuse. */
export function requireFit(payload: JsonObject): void {
  const reason = measure(payload);
  if (reason !== undefined) throw badRequest(reason);
}

/** The mapping by property; 400 for a property with two paths. */
function byField(given: MappingInput): JsonObject {
  const fields: Record<string, JsonObject> = {};
  for (const { field_name: name, path, label, type } of given) {
    if (Object.hasOwn(fields, name))
      throw invalid({ payload_attribute_mappings: [`${name} is given twice`] });
    fields[name] = { path, ...(label !== undefined && { label }), ...(type !== undefined && { type }) };
  }
  return fields;
}

/**
 * Sample and mapping after a change: 403 in Free, 400 for another type than `http`, undefined where neither
 * is given. A changed sample needs a new mapping (spec: Alert ingestion).
 */
export function changedMapping(
  before: Sampled,
  changes: Pick<IntegrationChanges, 'payload_example' | 'payload_attribute_mappings'>,
  tier: string,
): Pick<Sampled, 'mapping' | 'sample'> | undefined {
  const { payload_example, payload_attribute_mappings: given } = changes;
  if (payload_example === undefined && given === undefined) return undefined;
  const sample = payload_example === undefined ? before.sample : payload_example;
  const clears = sample === null && (given === undefined ? before.mapping === null : given.length === 0);
  if (tier === 'free' && !clears) throw forbidden();
  if (before.kind !== 'http' && !clears)
    throw invalid({ payload_example: ['is only of integrations of type http'] });
  if (payload_example) requireFit(payload_example);
  if (given === undefined) {
    if (before.mapping !== null && changesSample(before.sample, sample))
      throw invalid({ payload_attribute_mappings: ['a changed payload_example needs a new mapping'] });
    return { sample, mapping: before.mapping };
  }
  if (given.length === 0) return { sample, mapping: null };
  if (sample === null) throw invalid({ payload_example: ["can't be blank"] });
  return { sample, mapping: validateMapping(byField(given), sample) };
}

/** The mapping as a list, in the order of the properties. */
export const presentMapping = (mapping: Mapping | null): MappingRecord[] =>
  mappableFields.flatMap((name: MappableField) => {
    const field = mapping?.[name];
    return field ? [{ field_name: name, path: [...field.path], label: field.label, type: field.type }] : [];
  });

/** The readable part of an address. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/-{2,}/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 100) || 'http-endpoint';
