/** The payload of the generic HTTP endpoint: every property is optional, and what is not known is kept with the alert. */
import { type JsonObject, limits, type ParsedAlert } from '../../core/alerts/records.ts';
import { generatedFingerprint, givenFingerprint } from './fingerprint.ts';
import type { MappableField, Mapping } from './mapping.ts';
import { genericSeverity } from './severity.ts';
import { storable } from './storable.ts';
import { timeOf } from './times.ts';
import { at, cutOrNull, cutToTotal, firstOf, type Path, textOf, textsOf, type Value } from './values.ts';

export type GenericContext = {
  now: Date;
  /** Of the integration, where it has one. */
  mapping: Mapping | undefined;
  /** Whether a payload that gives no fingerprint gets one of what it says. */
  generatesFingerprint: boolean;
};

const DEFAULT_TITLE = 'New: Alert';

/** Where each property is unless it is mapped; the environment also under the name that existing tools send. */
const standardKeys = (field: MappableField): string[] =>
  field === 'service_environment_name' ? [field, 'gitlab_environment_name'] : [field];

/** These differ between occurrences of the same alert. */
const OF_ONE_OCCURRENCE = ['start_time', 'end_time', 'hosts'] as const;

/**
 * What the payload says, with the defaults of the spec. A mapped path wins over the standard key, which is read where nothing
 * usable is at the path. An end time that is no time ends nothing.
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
