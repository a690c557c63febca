/** Parameters and records of exports (facts: Projects, export; facts-packages: 6.1). */
import Type, { type Static } from 'typebox';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

export const ExportInput = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 10_000, description: 'Taken and not used.' })),
  upload: Type.Optional(
    Type.Object(
      {
        url: Type.String({
          minLength: 1,
          maxLength: 4_096,
          description: 'Where the file is sent when it is made.',
        }),
        http_method: Type.Optional(stringEnum(['PUT', 'POST'], { default: 'PUT' })),
      },
      { description: 'The file is sent there when it is made.' },
    ),
  ),
});

export const ExportStatusRecord = Type.Object({
  id: Type.Integer(),
  description: nullable(Type.String()),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  created_at: dateTime(),
  export_status: stringEnum(['none', 'queued', 'started', 'finished', 'regeneration_in_progress']),
  _links: Type.Optional(Type.Object({ api_url: Type.String(), web_url: Type.String() })),
});
export type ExportStatusRecord = Static<typeof ExportStatusRecord>;
