/** Protected environments in requests and responses (facts: Protected environments). */
import Type, { type Static, type TSchema } from 'typebox';
import { integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

/** The tiers of environments; those of a group are protected by them. */
const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;

const levels = [30, 40, 60] as const;
const integers = (allowed: readonly number[], description: string) =>
  Type.Optional(Type.Unsafe<number>({ type: 'integer', enum: [...allowed], description }));

const named = {
  access_level: integers(levels, 'Everybody with at least this role; 60 are administrators.'),
  user_id: Type.Optional(integerId()),
  group_id: Type.Optional(integerId()),
  group_inheritance_type: integers([0, 1], "A group's own members, or those by the groups around it too."),
};

/** Entries of one environment, at most. */
const MAX_ENTRIES = 200;
const namesOne = { oneOf: ['access_level', 'user_id', 'group_id'].map((kind) => ({ required: [kind] })) };
const NewAccess = Type.Object(named, { ruled: namesOne });
const AccessChange = Type.Object(
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

/** Approvals that a deployment needs, at most, by one number. */
const MAX_APPROVALS = 5;
const required_approvals = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: MAX_APPROVALS,
    description: 'So many of them approve; 1 in a new rule.',
  }),
);
const NewRule = Type.Object({ ...named, required_approvals }, { ruled: namesOne });
const RuleChange = Type.Object({ ...AccessChange.properties, required_approvals });

const required_approval_count = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_APPROVALS,
    description:
      'So many of those who may deploy approve each deployment, where there are no `approval_rules`.',
  }),
);
const rules = <T extends TSchema>(item: T) =>
  Type.Optional(
    Type.Array(item, { maxItems: MAX_ENTRIES, description: 'Who must approve each deployment.' }),
  );

const OneName = { name: Type.String() };
export const OneProtected = Type.Object(OneName);
const create = {
  deploy_access_levels: Type.Array(NewAccess, {
    maxItems: MAX_ENTRIES,
    ruled: { minItems: 1 },
    description: 'Who may deploy.',
  }),
  required_approval_count,
  approval_rules: rules(NewRule),
};
export const ProtectInput = {
  project: Type.Object({ name: Type.String({ minLength: 1, maxLength: 255 }), ...create }),
  group: Type.Object({ name: stringEnum(tiers), ...create }),
};
export const ChangeInput = Type.Object({
  ...OneName,
  deploy_access_levels: Type.Optional(
    Type.Array(AccessChange, { maxItems: MAX_ENTRIES, description: 'Changes of who may deploy.' }),
  ),
  required_approval_count,
  approval_rules: rules(RuleChange),
});
export type ChangeInput = Static<typeof ChangeInput>;

const AccessRecord = Type.Object({
  id: Type.Integer(),
  access_level: nullable(Type.Integer()),
  access_level_description: Type.String(),
  user_id: nullable(Type.Integer()),
  group_id: nullable(Type.Integer()),
  group_inheritance_type: Type.Integer(),
});

export const ProtectedEnvironment = Type.Object({
  name: Type.String(),
  deploy_access_levels: Type.Array(AccessRecord),
  required_approval_count: Type.Integer(),
  approval_rules: Type.Array(Type.Object({ ...AccessRecord.properties, required_approvals: Type.Integer() })),
});
export type ProtectedEnvironment = Static<typeof ProtectedEnvironment>;
