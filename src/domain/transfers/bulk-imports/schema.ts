/** Parameters and records of direct transfers (facts: BulkImport; facts-packages: 6.3). */
import Type, { type Static } from 'typebox';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

export const statuses = ['created', 'started', 'finished', 'timeout', 'failed', 'canceled'] as const;
const status = stringEnum(statuses);

const EntityInput = Type.Object({
  source_type: stringEnum(['group_entity', 'project_entity']),
  source_full_path: Type.String({ minLength: 1, maxLength: 1_024 }),
  destination_slug: Type.Optional(Type.String({ maxLength: 255 })),
  destination_name: Type.Optional(
    Type.String({ maxLength: 255, description: 'The older name of destination_slug.' }),
  ),
  destination_namespace: Type.String({ maxLength: 1_024, description: 'Empty for a group at the top.' }),
  migrate_projects: Type.Optional(Type.Boolean({ default: true })),
  migrate_memberships: Type.Optional(Type.Boolean({ default: true })),
});
export type EntityInput = Static<typeof EntityInput>;

export const StartInput = Type.Object({
  configuration: Type.Object({
    url: Type.String({ minLength: 1, maxLength: 2_048, description: 'The other instance.' }),
    access_token: Type.String({ minLength: 1, maxLength: 1_024 }),
  }),
  entities: Type.Array(EntityInput, { minItems: 1, maxItems: 100 }),
});
export type StartInput = Static<typeof StartInput>;

export const ListInput = Type.Object({
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc' })),
  status: Type.Optional(status),
});

export const OneInput = Type.Object({ import_id: Type.Integer({ minimum: 1 }) });
export const EntitiesInput = Type.Object({
  import_id: Type.Integer({ minimum: 1 }),
  status: Type.Optional(status),
});
export const EntityOneInput = Type.Object({
  import_id: Type.Integer({ minimum: 1 }),
  entity_id: Type.Integer({ minimum: 1 }),
});

export const BulkImportRecord = Type.Object({
  id: Type.Integer(),
  status,
  source_type: Type.String(),
  source_url: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  has_failures: Type.Boolean(),
});
export type BulkImportRecord = Static<typeof BulkImportRecord>;

export const FailureRecord = Type.Object({
  relation: Type.String(),
  step: Type.String(),
  exception_class: Type.String(),
  exception_message: Type.String(),
  correlation_id_value: Type.String(),
  source_url: nullable(Type.String()),
  source_title: nullable(Type.String()),
});
export type FailureRecord = Static<typeof FailureRecord>;

export const EntityRecord = Type.Object({
  id: Type.Integer(),
  bulk_import_id: Type.Integer(),
  status,
  entity_type: stringEnum(['group', 'project']),
  source_full_path: Type.String(),
  destination_full_path: Type.String(),
  destination_name: Type.String(),
  destination_slug: Type.String(),
  destination_namespace: Type.String(),
  parent_id: nullable(Type.Integer()),
  namespace_id: nullable(Type.Integer()),
  project_id: nullable(Type.Integer()),
  created_at: dateTime(),
  updated_at: dateTime(),
  failures: Type.Array(FailureRecord, { maxItems: 100 }),
  migrate_projects: Type.Boolean(),
  migrate_memberships: Type.Boolean(),
  has_failures: Type.Boolean(),
  stats: Type.Object({}),
});
export type EntityRecord = Static<typeof EntityRecord>;
