/** Trigger tokens in requests and responses (facts: Trigger). */
import Type from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, integerId, nullable } from '../../../platform/http/parameters/schema.ts';

const description = Type.String({ maxLength: 2_048, description: 'What the token is for.' });
const one = { trigger_id: integerId() };

export const OneInput = Type.Object(one);
export const CreateInput = Type.Object({
  description,
  expires_at: Type.Optional(nullable(dateTime({ description: 'When the token ends; never without it.' }))),
});
export const UpdateInput = Type.Object({ ...one, description: Type.Optional(description) });

export const Trigger = Type.Object({
  id: Type.Integer(),
  token: Type.String({ description: 'Whole for its owner; four characters of it for others.' }),
  description: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  last_used: nullable(dateTime({ description: 'When the last of its pipelines was made.' })),
  expires_at: nullable(dateTime()),
  owner: UserBasic,
});
