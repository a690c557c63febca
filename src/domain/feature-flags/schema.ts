/** Parameters and records of feature flags. */

import Type, { type Static } from 'typebox';
import { dateTime, integerId, nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { UserListBasic } from './user-lists/schema.ts';

export const strategyNames = [
  ...(['default', 'gradualRolloutUserId', 'userWithId'] as const),
  ...(['flexibleRollout', 'gitlabUserList'] as const),
] as const;

const Parameters = Type.Record(Type.String(), Type.String());

export const FeatureFlag = Type.Object({
  name: Type.String(),
  description: nullable(Type.String()),
  active: Type.Boolean(),
  version: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  scopes: Type.Array(Type.Object({}), { description: 'Always empty: scopes are those of strategies.' }),
  strategies: Type.Array(
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      parameters: Parameters,
      scopes: Type.Array(Type.Object({ id: Type.Integer(), environment_scope: Type.String() })),
      user_list: Type.Optional(nullable(UserListBasic)),
    }),
  ),
});
export type FeatureFlag = Static<typeof FeatureFlag>;

const ScopeInput = Type.Object({
  id: Type.Optional(integerId({ description: 'A scope that is there already.' })),
  environment_scope: Type.Optional(Type.String({ maxLength: 255 })),
  _destroy: Type.Optional(Type.Boolean({ description: 'Removes the scope.' })),
});
export type ScopeInput = Static<typeof ScopeInput>;

const StrategyInput = Type.Object({
  id: Type.Optional(integerId({ description: 'A strategy that is there already.' })),
  name: Type.Optional(
    Type.String({ ruled: { enum: strategyNames }, description: 'How it is decided who has it.' }),
  ),
  parameters: Type.Optional(Parameters),
  user_list_id: Type.Optional(
    nullable(integerId({ description: 'The list of users, of a strategy that goes by one.' })),
  ),
  scopes: Type.Optional(Type.Array(ScopeInput, { maxItems: 100 })),
  _destroy: Type.Optional(Type.Boolean({ description: 'Removes the strategy.' })),
});
export type StrategyInput = Static<typeof StrategyInput>;

/** A strategy without `id` is added; omitted ones stay. */
const strategies = Type.Optional(Type.Array(StrategyInput, { maxItems: 100 }));
const description = Type.Optional(nullable(Type.String({ maxLength: 10_000 })));
const active = Type.Optional(Type.Boolean());

const byName = { feature_flag_name: Type.String({ description: 'The name of the flag.' }) };

export const ListInput = Type.Object({
  scope: Type.Optional(
    stringEnum(['enabled', 'disabled'], { description: 'Only flags that are active, or are not.' }),
  ),
});
export const NameInput = Type.Object(byName);
const Name = Type.String({ ruled: { pattern: '^[a-z][a-z0-9_-]{0,60}[a-z0-9]$' } });

export const CreateInput = Type.Object({
  name: Name,
  version: Type.Optional(Type.String({ description: 'Accepted; every flag is a new_version_flag.' })),
  description,
  active,
  strategies,
});
export type CreateInput = Static<typeof CreateInput>;
export const UpdateInput = Type.Object({
  ...byName,
  name: Type.Optional(Name),
  description,
  active,
  strategies,
});
export type UpdateInput = Static<typeof UpdateInput>;
