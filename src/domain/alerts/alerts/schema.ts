/** Parameters and records of alerts, integrations and incident settings. */
import Type, { type Static, type TUnsafe } from 'typebox';
import {
  commaList,
  dateTime,
  integerId,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { fieldTypes, mappableFields } from '../payloads/mapping.ts';
import { type JsonObject, kinds, severities, statuses } from '../records.ts';

export const jsonObject = (description: string): TUnsafe<JsonObject> =>
  Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true, description });

/** An alert by its number in the project. */
export const alertIid = { alert_iid: integerId({ description: 'The number of the alert in the project.' }) };

/** Filters of lists and counts. */
export const alertFilters = {
  severity: Type.Optional(commaList(stringEnum(severities))),
  search: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'A part of the title, description, service or monitoring tool.',
    }),
  ),
  assignee_username: Type.Optional(Type.String({ description: 'Only those that this user is to work on.' })),
};
export type AlertFilters = {
  severity?: string[];
  search?: string;
  assignee_username?: string;
  status?: string[];
  iids?: number[];
  issue_iid?: number;
};

export const alertOrders = [
  'created_at',
  'updated_at',
  'started_at',
  'event_count',
  'severity',
  'status',
  'iid',
] as const;

export const ListAlerts = Type.Object({
  ...alertFilters,
  status: Type.Optional(commaList(stringEnum(statuses))),
  statuses: Type.Optional(commaList(stringEnum(statuses), { description: 'The same as `status`.' })),
  iids: Type.Optional(commaList(integerId(), { maxItems: 1_000 })),
  issue_iid: Type.Optional(integerId({ description: 'Only those of this incident.' })),
  order_by: Type.Optional(
    stringEnum([...alertOrders, 'id'], { description: 'What to order by; `created_at` unless told.' }),
  ),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
});

export const StatusCounts = Type.Object({
  triggered: Type.Integer(),
  acknowledged: Type.Integer(),
  resolved: Type.Integer(),
  ignored: Type.Integer(),
  open: Type.Integer({ description: 'Triggered or acknowledged.' }),
  all: Type.Integer(),
});
export type StatusCounts = Static<typeof StatusCounts>;

export const UpdateAlert = Type.Object({
  ...alertIid,
  status: Type.Optional(stringEnum(statuses)),
  assignee_ids: Type.Optional(
    commaList(Type.Integer({ minimum: 0 }), {
      maxItems: 100,
      description: 'Who is to work on it; empty for nobody. In Free the first of them.',
    }),
  ),
  ended_at: Type.Optional(dateTime({ description: 'With the status `resolved`; now unless told.' })),
});
export type AlertChanges = Pick<Static<typeof UpdateAlert>, 'status' | 'assignee_ids' | 'ended_at'>;

const path = Type.Array(Type.Union([Type.String(), Type.Integer({ minimum: 0 })]), {
  minItems: 1,
  maxItems: 100,
  description: 'Keys of objects and indexes of arrays, from the outside in.',
});
const fieldType = stringEnum(fieldTypes);
export const PayloadFieldRecord = Type.Object({ path, label: Type.String(), type: fieldType });
export const MappingRecord = Type.Object({
  field_name: stringEnum(mappableFields),
  path,
  label: Type.String(),
  type: fieldType,
});

export type MappingRecord = Static<typeof MappingRecord>;

export const IntegrationRecord = Type.Object({
  id: Type.Integer(),
  type: stringEnum(kinds),
  name: Type.String(),
  active: Type.Boolean(),
  url: Type.String({ description: 'Where alerts are posted to.' }),
  key: nullable(Type.String({ description: 'Shown when it is made, and never again.' })),
  payload_example: Type.Optional(nullable(jsonObject('The sample that fields were chosen from.'))),
  payload_attribute_mappings: Type.Optional(Type.Array(MappingRecord)),
  payload_alert_fields: Type.Optional(Type.Array(PayloadFieldRecord)),
  created_at: dateTime(),
  updated_at: dateTime(),
});
export type IntegrationRecord = Static<typeof IntegrationRecord>;

const name = Type.String({ minLength: 1, maxLength: 255 });
const payload_example = Type.Optional(
  nullable(jsonObject('A sample payload; a changed one needs a new mapping. Premium.')),
);
const payload_attribute_mappings = Type.Optional(
  Type.Array(
    Type.Object({
      field_name: stringEnum(mappableFields),
      path,
      label: Type.Optional(Type.String({ maxLength: 255 })),
      type: Type.Optional(fieldType),
    }),
    { maxItems: mappableFields.length, description: 'Where the sample says which property. Premium.' },
  ),
);

export const integrationId = { integration_id: integerId() };
export const NewIntegration = Type.Object({
  name,
  type: stringEnum(kinds),
  active: Type.Optional(Type.Boolean({ default: true })),
  payload_example,
  payload_attribute_mappings,
});
export const ChangeIntegration = Type.Object({
  ...integrationId,
  name: Type.Optional(name),
  active: Type.Optional(Type.Boolean()),
  payload_example,
  payload_attribute_mappings,
});
export type IntegrationChanges = Omit<Static<typeof ChangeIntegration>, 'integration_id'>;
export type NewIntegrationInput = Static<typeof NewIntegration>;
export type MappingInput = NonNullable<IntegrationChanges['payload_attribute_mappings']>;

export const CreatedAlerts = Type.Array(Type.Object({ iid: Type.Integer(), title: Type.String() }));

export const IncidentSettingsRecord = Type.Object({
  create_issue: Type.Boolean({ description: 'Whether an incident is made of each alert.' }),
  issue_template_key: nullable(
    Type.String({ maxLength: 255, description: 'The template with which such incidents begin.' }),
  ),
  send_email: Type.Boolean({ description: 'Whether Owners and Maintainers hear of alerts by mail.' }),
  auto_close_incident: Type.Boolean({ description: 'Whether the end of an alert closes its incident.' }),
});
export type IncidentSettingsRecord = Static<typeof IncidentSettingsRecord>;
export const ChangeIncidentSettings = Type.Object({
  create_issue: Type.Optional(Type.Boolean()),
  issue_template_key: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
  send_email: Type.Optional(Type.Boolean()),
  auto_close_incident: Type.Optional(Type.Boolean()),
});

/** A metric image of an alert or incident (facts: MetricImage). */
export const MetricImageRecord = Type.Object({
  id: Type.Integer(),
  created_at: dateTime(),
  filename: Type.String(),
  file_path: Type.String(),
  url: nullable(Type.String()),
  url_text: nullable(Type.String()),
});
export type MetricImageRecord = Static<typeof MetricImageRecord>;
