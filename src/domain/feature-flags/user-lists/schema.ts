/** Parameters and records of lists of users. */
import Type, { type Static } from 'typebox';
import { dateTime, integerId } from '../../../platform/http/parameters/schema.ts';

export const UserListBasic = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  name: Type.String(),
  user_xids: Type.String({ description: 'Ids of users, separated by commas, as programs know them.' }),
});

export const UserListRecord = Type.Object({
  ...UserListBasic.properties,
  project_id: Type.Integer(),
  created_at: dateTime(),
  updated_at: dateTime(),
});
export type UserListRecord = Static<typeof UserListRecord>;

/** Ids of at most 256 characters, a thousand and some. */
const user_xids = Type.String({ maxLength: 262_144 });
const name = Type.String({ maxLength: 255, ruled: { pattern: '\\S' } });
const iid = integerId({ description: 'The number of the list in its project.' });

export const ListInput = Type.Object({
  search: Type.Optional(Type.String({ description: 'A part of the name.' })),
});
export const OneInput = Type.Object({ iid });
export const CreateInput = Type.Object({ name, user_xids });
export type CreateInput = Static<typeof CreateInput>;
export const UpdateInput = Type.Object({
  iid,
  name: Type.Optional(name),
  user_xids: Type.Optional(user_xids),
});
export type UpdateInput = Static<typeof UpdateInput>;
