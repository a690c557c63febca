/** Other programs' statuses of a commit (facts: Resource entities, Commit status). */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { webAddress } from '../../../platform/http/web-address.ts';
import { newRef, sha } from '../../repositories/index.ts';

export const CommitStatus = Type.Object({
  id: Type.Integer(),
  sha: Type.String(),
  ref: Type.String(),
  status: Type.String(),
  name: Type.String(),
  target_url: nullable(Type.String()),
  description: nullable(Type.String()),
  created_at: dateTime(),
  started_at: nullable(dateTime()),
  finished_at: nullable(dateTime()),
  allow_failure: Type.Boolean(),
  coverage: nullable(Type.Number()),
  pipeline_id: Type.Integer(),
  author: UserBasic,
});
export type CommitStatus = Static<typeof CommitStatus>;

export const states = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const;
export type State = (typeof states)[number];

const ref = Type.Optional(Type.String({ description: 'Branch or tag.' }));

export const StatusListInput = Type.Object({
  sha,
  ref,
  stage: Type.Optional(Type.String({ description: 'Those of other programs are in `external`.' })),
  name: Type.Optional(Type.String()),
  pipeline_id: Type.Optional(integerId()),
  all: Type.Optional(Type.Boolean({ description: 'Those that a later one of the name replaced too.' })),
  order_by: Type.Optional(stringEnum(['id', 'pipeline_id'], { default: 'id' })),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
});
export type StatusListInput = Static<typeof StatusListInput>;

export const StatusInput = Type.Object({
  sha,
  state: stringEnum(states),
  ref: Type.Optional(Type.String({ ...newRef, description: 'Branch or tag.' })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: '`default` unless given.' })),
  context: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Another word for name.' }),
  ),
  target_url: Type.Optional(Type.String({ maxLength: 255, ...webAddress })),
  description: Type.Optional(Type.String({ maxLength: 255 })),
  coverage: Type.Optional(Type.Number({ minimum: 0 })),
  pipeline_id: Type.Optional(integerId()),
});
export type StatusInput = Static<typeof StatusInput>;
