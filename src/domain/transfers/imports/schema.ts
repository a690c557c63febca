/** Parameters and records of imports (facts: ProjectImportStatus; facts-packages: 6.2). */
import Type, { type Static } from 'typebox';
import { dateTime, file, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

const archive = { file: Type.Optional(file({ description: 'An export; read as it comes.' })) };

const placing = {
  name: Type.Optional(Type.String({ description: 'The path, unless told.' })),
  namespace: Type.Optional(Type.String({ description: 'The id or the path; your own, unless told.' })),
  namespace_id: Type.Optional(Type.String()),
  namespace_path: Type.Optional(Type.String()),
  overwrite: Type.Optional(
    Type.Boolean({ default: false, description: 'Takes the place of what is in the project of this path.' }),
  ),
  override_params: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Attributes in place of those in the file.' }),
  ),
};

/** The body is streamed past the decoder: what is missing is noticed at its end. */
export const ImportInput = Type.Object(
  { ...archive, path: Type.Optional(Type.String()), ...placing },
  { ruled: { required: ['file', 'path'] } },
);

export const RemoteImportInput = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 4_096, description: 'Where the file is.' }),
  path: Type.String({ minLength: 1, maxLength: 255 }),
  ...placing,
});

export const relationNames = ['issues', 'milestones', 'ci_pipelines', 'merge_requests'] as const;

export const RelationInput = Type.Object(
  {
    ...archive,
    path: Type.Optional(Type.String({ description: 'The full path of the project.' })),
    relation: Type.Optional(stringEnum(relationNames)),
  },
  { ruled: { required: ['file', 'path', 'relation'] } },
);

export const GroupImportInput = Type.Object(
  {
    ...archive,
    name: Type.Optional(Type.String()),
    path: Type.Optional(Type.String()),
    parent_id: Type.Optional(integerId()),
    organization_id: Type.Optional(Type.Integer({ description: 'Taken and not used.' })),
  },
  { ruled: { required: ['file', 'name', 'path'] } },
);

const FailedRelationRecord = Type.Object({
  id: Type.Integer(),
  created_at: dateTime(),
  exception_class: Type.String(),
  exception_message: Type.String(),
  source: Type.String(),
  relation_name: Type.String(),
  line_number: nullable(Type.Integer()),
});

export const ImportStatusRecord = Type.Object({
  id: Type.Integer(),
  description: nullable(Type.String()),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  created_at: dateTime(),
  import_status: Type.String({
    description: '`none`, `scheduled`, `started`, `finished` or `failed`; of a mirror its status.',
  }),
  import_type: nullable(Type.String()),
  correlation_id: nullable(Type.String()),
  failed_relations: Type.Array(FailedRelationRecord, { maxItems: 100 }),
  import_error: nullable(Type.String()),
  passed_over: Type.Array(Type.String(), { description: 'What is in the file and was not read.' }),
});
export type ImportStatusRecord = Static<typeof ImportStatusRecord>;

export const RelationImportRecord = Type.Object({
  id: Type.Integer(),
  project_path: Type.String(),
  relation: Type.String(),
  status: stringEnum(['created', 'started', 'finished', 'failed']),
});
export type RelationImportRecord = Static<typeof RelationImportRecord>;
