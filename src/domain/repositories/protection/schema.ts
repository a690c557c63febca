/** Protected branches and tags in requests and responses (facts: Resource entities). */
import Type, { type Static, type TSchema } from 'typebox';
import { integerId, nullable } from '../../../platform/http/parameters/schema.ts';

/** No one, developers, maintainers, administrators. */
const levels = [0, 30, 40, 60] as const;
const level = (allowed: readonly number[], description: string) =>
  Type.Optional(Type.Unsafe<number>({ type: 'integer', enum: [...allowed], description }));

/** The kinds of an entry: it names one of them. */
export const kinds = ['access_level', 'user_id', 'group_id', 'deploy_key_id'] as const;
const namesOne = { oneOf: kinds.map((kind) => ({ required: [kind] })) };

const named = {
  access_level: level(levels, 'Everybody with at least this role; 0 is nobody.'),
  user_id: Type.Optional(integerId()),
  group_id: Type.Optional(integerId()),
  deploy_key_id: Type.Optional(integerId()),
};
const NewGrant = Type.Object(named, { ruled: namesOne });

const GrantChange = Type.Object(
  {
    id: Type.Optional(integerId({ description: 'The entry to change, where it is a change.' })),
    ...named,
    _destroy: Type.Optional(Type.Boolean({ description: 'Takes the entry away.' })),
  },
  {
    ruled: {
      anyOf: [{ required: ['id', '_destroy'], properties: { _destroy: { enum: [true] } } }, namesOne],
    },
  },
);
export type GrantInput = Static<typeof GrantChange>;

/** Entries of one rule, at most. */
const MAX_GRANTS = 200;
const grants = <T extends typeof NewGrant | typeof GrantChange>(grant: T, description: string) =>
  Type.Optional(Type.Array(grant, { maxItems: MAX_GRANTS, description }));

const branchFields = <T extends typeof NewGrant | typeof GrantChange>(grant: T) => ({
  allow_force_push: Type.Optional(Type.Boolean({ description: 'Whoever may push may force it.' })),
  unprotect_access_level: level([30, 40, 60], 'The least role that may change or end the protection.'),
  allowed_to_push: grants(grant, 'Who may push.'),
  allowed_to_merge: grants(grant, 'Who may merge.'),
  allowed_to_unprotect: grants(grant, 'Who may change or end the protection.'),
  code_owner_approval_required: Type.Optional(Type.Boolean()),
});

const name = Type.String({ minLength: 1, maxLength: 255, description: 'A name, or a pattern with `*`.' });
export const NameInput = Type.Object({ name: Type.String() });

export const ProtectBranch = Type.Object({
  name,
  push_access_level: level(levels, 'The least role that may push: 40 unless told.'),
  merge_access_level: level(levels, 'The least role that may merge: 40 unless told.'),
  ...branchFields(NewGrant),
});
export type ProtectBranch = Static<typeof ProtectBranch>;

export const ChangeBranch = Type.Object({ ...NameInput.properties, ...branchFields(GrantChange) });
export type ChangeBranch = Static<typeof ChangeBranch>;

export const ProtectTag = Type.Object({
  name,
  create_access_level: level(levels, 'The least role that may create it: 40 unless told.'),
  allowed_to_create: grants(NewGrant, 'Who may create it.'),
});
export type ProtectTag = Static<typeof ProtectTag>;

/** Fields that a lower tier lacks. */
const higherTier = <T extends TSchema>(schema: T) => Type.Optional(schema);

const ProtectedRefAccess = Type.Object({
  id: Type.Integer(),
  access_level: nullable(Type.Integer()),
  access_level_description: Type.String(),
  deploy_key_id: nullable(Type.Integer()),
  user_id: higherTier(nullable(Type.Integer())),
  group_id: higherTier(nullable(Type.Integer())),
});
export type ProtectedRefAccess = Static<typeof ProtectedRefAccess>;

export const ProtectedBranch = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  push_access_levels: Type.Array(ProtectedRefAccess),
  merge_access_levels: Type.Array(ProtectedRefAccess),
  allow_force_push: Type.Boolean(),
  unprotect_access_levels: higherTier(Type.Array(ProtectedRefAccess)),
  code_owner_approval_required: higherTier(Type.Boolean()),
  inherited: higherTier(Type.Boolean()),
});
export type ProtectedBranch = Static<typeof ProtectedBranch>;

export const ProtectedTag = Type.Object({
  name: Type.String(),
  create_access_levels: Type.Array(ProtectedRefAccess),
});
export type ProtectedTag = Static<typeof ProtectedTag>;
