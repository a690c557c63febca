/** Parameters and records of exports of single relations (facts-packages: 6.1). */
import Type, { type Static } from 'typebox';
import { dateTime, nullable } from '../../../platform/http/parameters/schema.ts';

export const StartInput = Type.Object({
  batched: Type.Optional(Type.Boolean({ description: 'Taken; each relation is one file all the same.' })),
});

export const StatusInput = Type.Object({
  relation: Type.Optional(Type.String({ maxLength: 64, description: 'That one alone.' })),
});

export const DownloadInput = Type.Object({
  relation: Type.String({ maxLength: 64 }),
  batched: Type.Optional(Type.Boolean()),
  batch_number: Type.Optional(Type.Integer({ minimum: 1 })),
});

export const RelationStatusRecord = Type.Object({
  relation: Type.String(),
  status: Type.Integer({ description: '0 started, 1 finished, -1 failed.' }),
  error: nullable(Type.String()),
  updated_at: dateTime(),
  batched: Type.Boolean(),
  batches_count: Type.Integer(),
  total_objects_count: Type.Integer(),
});
export type RelationStatusRecord = Static<typeof RelationStatusRecord>;
