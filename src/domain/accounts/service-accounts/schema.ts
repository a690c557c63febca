/** Service accounts in requests and responses (facts: Resource entities). */
import Type, { type Static } from 'typebox';
import { notBlank, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

const name = Type.Optional(Type.String({ maxLength: 255, ...notBlank, description: 'The display name.' }));
const username = Type.Optional(
  Type.String({
    maxLength: 255,
    description: 'Its username: `service_account_` and random letters when absent.',
  }),
);
const email = Type.Optional(
  Type.String({
    maxLength: 254,
    description: 'Its address, for which an administrator vouches: one that takes no mail when absent.',
  }),
);

export const NewServiceAccount = Type.Object({ name, username, email });
export type NewServiceAccount = Static<typeof NewServiceAccount>;

export const ServiceAccountList = Type.Object({
  order_by: Type.Optional(stringEnum(['id', 'username'])),
  sort: Type.Optional(stringEnum(['asc', 'desc'])),
});
export type ServiceAccountList = Static<typeof ServiceAccountList>;

export const ServiceAccount = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  name: Type.String(),
  public_email: nullable(Type.String()),
  email: Type.String(),
  unconfirmed_email: Type.Optional(Type.String()),
});
export type ServiceAccount = Static<typeof ServiceAccount>;
