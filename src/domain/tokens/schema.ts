/**
 * Tokens in responses, and the fields of requests about them (facts: Resource entities; Endpoint inventory).
 */
import Type, { type Static } from 'typebox';
import { assignableLevels } from '../../kernel/policy/roles.ts';
import {
  commaList,
  date,
  dateTime,
  notBlank,
  nullable,
  stringEnum,
} from '../../platform/http/parameters/schema.ts';
import { deployScopes, resourceScopes, tokenScopes, tokenSorts } from './rules.ts';

const base = {
  id: Type.Integer(),
  name: Type.String(),
  revoked: Type.Boolean(),
  created_at: dateTime(),
  description: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  user_id: Type.Integer(),
  last_used_at: nullable(dateTime()),
  active: Type.Boolean({ description: 'Neither revoked nor expired.' }),
  expires_at: nullable(date({ description: 'The token ends when this day starts, in UTC.' })),
};
const secret = { token: Type.String({ description: 'The value, which is never shown again.' }) };
const impersonation = { impersonation: Type.Boolean() };
const resource = {
  access_level: Type.Integer(),
  resource_type: stringEnum(['project', 'group']),
  resource_id: Type.Integer(),
};

export const PersonalAccessToken = Type.Object(base);
export type PersonalAccessToken = Static<typeof PersonalAccessToken>;
export const PersonalAccessTokenWithToken = Type.Object({ ...base, ...secret });
export const ImpersonationToken = Type.Object({ ...base, ...impersonation });
export type ImpersonationToken = Static<typeof ImpersonationToken>;
export const ImpersonationTokenWithToken = Type.Object({ ...base, ...impersonation, ...secret });
export const ResourceAccessToken = Type.Object({ ...base, ...resource });
export type ResourceAccessToken = Static<typeof ResourceAccessToken>;
export const ResourceAccessTokenWithToken = Type.Object({ ...base, ...resource, ...secret });

const Name = Type.String({ maxLength: 255, ...notBlank, description: 'What the token is called.' });

/** Null is for ever: refused unless the instance allows tokens without an end, and so left out of the description. */
const lastDay = (description: string) =>
  Type.Optional(nullable(date({ ruled: { type: 'string' }, description })));

export const newTokenFields = {
  name: Name,
  description: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
  expires_at: lastDay('The day at whose start the token ends.'),
};

const scopesAmong = (scopes: readonly string[]) =>
  commaList(Type.String({ ruled: { enum: scopes } }), {
    maxItems: 100,
    ruled: { minItems: 1 },
    description: 'What the token may be used for.',
  });

export const ScopeList = scopesAmong(tokenScopes);

export const NewToken = Type.Object({ ...newTokenFields, scopes: ScopeList });
export const NewImpersonationToken = Type.Object(
  { ...newTokenFields, scopes: Type.Optional(ScopeList) },
  // The endpoint refuses them in words of its own.
  { ruled: { required: ['name', 'scopes'] } },
);

/** A user's own token through the API (facts: Tokens). */
export const OwnToken = Type.Object({
  ...newTokenFields,
  scopes: commaList(stringEnum(['k8s_proxy', 'self_rotate']), { maxItems: 100, ruled: { minItems: 1 } }),
});

export const NewResourceToken = Type.Object({
  ...newTokenFields,
  scopes: scopesAmong(resourceScopes),
  access_level: Type.Optional(
    Type.Unsafe<(typeof assignableLevels)[number]>({
      type: 'integer',
      enum: [...assignableLevels],
      description: "The role of the token's bot user; Maintainer when absent.",
    }),
  ),
});

export const Rotation = Type.Object({
  expires_at: lastDay('A week from now when absent.'),
});

export const tokenFilterFields = {
  revoked: Type.Optional(Type.Boolean()),
  state: Type.Optional(stringEnum(['active', 'inactive'])),
  created_before: Type.Optional(dateTime()),
  created_after: Type.Optional(dateTime()),
  last_used_before: Type.Optional(dateTime()),
  last_used_after: Type.Optional(dateTime()),
  expires_before: Type.Optional(date()),
  expires_after: Type.Optional(date()),
  search: Type.Optional(Type.String({ maxLength: 255, description: 'Part of the name.' })),
  sort: Type.Optional(stringEnum(tokenSorts)),
};
const TokenFilters = Type.Object(tokenFilterFields);
export type TokenFilters = Omit<Static<typeof TokenFilters>, 'state'> & {
  state?: 'all' | 'active' | 'inactive';
};

export const DeployToken = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  username: Type.String(),
  expires_at: nullable(dateTime()),
  scopes: Type.Array(Type.String()),
  revoked: Type.Boolean(),
  expired: Type.Boolean(),
});
export type DeployToken = Static<typeof DeployToken>;
export const DeployTokenWithToken = Type.Object({ ...DeployToken.properties, ...secret });

export const NewDeployToken = Type.Object({
  name: Name,
  scopes: scopesAmong(deployScopes),
  expires_at: Type.Optional(nullable(dateTime())),
  username: Type.Optional(nullable(Type.String({ maxLength: 255, pattern: '^[A-Za-z0-9_.+-]*$' }))),
});
export type NewDeployToken = Static<typeof NewDeployToken>;
