/** CI variables in requests and responses (facts: CiVariable). */
import Type from 'typebox';
import type { ParentKind } from '../../../kernel/access/resource-parents.ts';
import { nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { KEY_PATTERN, MAX_VALUE_LENGTH, SCOPE_PATTERN, variableTypes } from './rules.ts';

export const key = Type.String({ maxLength: 255, ruled: { pattern: KEY_PATTERN } });
export const value = Type.String({
  ruled: { maxLength: MAX_VALUE_LENGTH },
  description: 'The value; a masked one has at least 8 characters, none of them white space.',
});

const fields = {
  protected: Type.Optional(Type.Boolean({ description: 'Only for jobs of protected branches and tags.' })),
  masked: Type.Optional(Type.Boolean({ description: 'Kept out of the logs of jobs.' })),
  raw: Type.Optional(Type.Boolean({ description: 'References to other variables in the value stay.' })),
  variable_type: Type.Optional(
    stringEnum(variableTypes, { description: 'A file has the value in it, and the variable its path.' }),
  ),
  description: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
};

/** What variables of projects and groups have beside. */
const scope = {
  environment_scope: Type.Optional(
    Type.String({
      maxLength: 255,
      ruled: { pattern: SCOPE_PATTERN },
      description: 'The environments whose jobs have it, with `*` for any characters; all unless it says so.',
    }),
  ),
};
/** Of new ones alone. */
const hiding = {
  masked_and_hidden: Type.Optional(
    Type.Boolean({ description: 'Masked, and shown by no record, for good.' }),
  ),
};
const filter = {
  filter: Type.Optional(
    Type.Object(
      { environment_scope: Type.Optional(Type.String({ maxLength: 255 })) },
      { description: 'The scope of the variable, where several have the key.' },
    ),
  ),
};

const one = { key: Type.String() };
const change = { ...one, value: Type.Optional(value), ...fields };

/** What requests say of the variables of one kind of parent. */
export const inputsOf = (kind: ParentKind) =>
  kind === 'instance'
    ? { one: Type.Object(one), create: Type.Object({ key, value, ...fields }), update: Type.Object(change) }
    : {
        one: Type.Object({ ...one, ...filter }),
        create: Type.Object({ key, value, ...fields, ...scope, ...hiding }),
        update: Type.Object({ ...change, ...scope, ...filter }),
      };

const record = {
  variable_type: stringEnum(variableTypes),
  key: Type.String(),
  value: nullable(Type.String({ description: 'Null where it is hidden.' })),
  protected: Type.Boolean(),
  masked: Type.Boolean(),
  raw: Type.Boolean(),
  description: nullable(Type.String()),
};

/** The records of each kind of parent. */
export const recordOf = (kind: ParentKind) =>
  kind === 'instance'
    ? Type.Object(record)
    : Type.Object({ ...record, hidden: Type.Boolean(), environment_scope: Type.String() });
