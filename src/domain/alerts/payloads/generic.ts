/** The payload of the generic HTTP endpoint: all properties are optional, and unknown ones are kept. */
import { type JsonObject, limits, type ParsedAlert } from '../records.ts';
import { generatedFingerprint, givenFingerprint } from './fingerprint.ts';
import type { MappableField, Mapping } from './mapping.ts';
import { genericSeverity } from './severity.ts';
import { storable } from './storable.ts';
import { timeOf } from './times.ts';
import { at, cutOrNull, cutToTotal, firstOf, type Path, textOf, textsOf, type Value } from './values.ts';

export type GenericContext = {
  now: Date;
  /** The integration's mapping. */
  mapping: Mapping | undefined;
  /** Whether a payload without a fingerprint gets one of its contents. */
  generatesFingerprint: boolean;
};

const DEFAULT_TITLE = 'New: Alert';

/** The keys of a property without a mapping; the environment also has the name that existing tools send. */
const standardKeys = (field: MappableField): string[] =>
  field === 'service_environment_name' ? [field, 'gitlab_environment_name'] : [field];

/** Properties that differ between events of the same alert. */
const OF_ONE_OCCURRENCE = ['start_time', 'end_time', 'hosts'] as const;

/**
 * Parses a payload, with the spec's defaults. A mapped path wins over the standard key, which is used where
 * the path has no usable value. An invalid end time is ignored.
 */
export function parseGeneric(given: JsonObject, context: GenericContext): ParsedAlert {
  const { now, mapping = {}, generatesFingerprint } = context;
  const payload = storable(given);
  const places = (field: MappableField): Path[] => {
    const mapped = mapping[field]?.path;
    const standard = standardKeys(field).map((key) => [key]);
    return mapped === undefined ? standard : [mapped, ...standard];
  };
  const find = <T>(field: MappableField, read: (value: Value) => T | undefined): T | undefined =>
    firstOf(
      places(field).map((path) => at(payload, path)),
      read,
    );
  const text = (field: MappableField, most: number): string | null => cutOrNull(find(field, textOf), most);
  const endedAt = find('end_time', timeOf) ?? null;
  const generated = (): Buffer | undefined =>
    generatesFingerprint ? generatedFingerprint(payload, OF_ONE_OCCURRENCE.flatMap(places)) : undefined;

  return {
    title: text('title', limits.title) ?? DEFAULT_TITLE,
    description: text('description', limits.description),
    severity: genericSeverity(find('severity', textOf)),
    service: text('service', limits.service),
    monitoringTool: text('monitoring_tool', limits.monitoringTool),
    hosts: cutToTotal(find('hosts', textsOf) ?? [], limits.hosts),
    environmentName: text('service_environment_name', limits.environmentName),
    runbook: cutOrNull(textOf(at(payload, ['runbook'])), limits.runbook),
    query: null,
    yLabel: null,
    incidentMarkdown: null,
    fingerprint: find('fingerprint', givenFingerprint) ?? generated() ?? null,
    startedAt: find('start_time', timeOf) ?? now,
    endedAt,
    resolves: endedAt !== null,
    payload,
  };
}
