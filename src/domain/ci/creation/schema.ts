/** Requests for new pipelines, and the variables that came with them (facts: Pipelines, schedules). */
import Type from 'typebox';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { existingBranch } from '../../repositories/index.ts';
import { KEY_PATTERN, variableTypes } from '../variables/rules.ts';

/** Of one pipeline. */
const MAX_VARIABLES = 3_600;
const MAX_VALUE_LENGTH = 368_640;
const MAX_INPUTS = 20;

const ref = Type.String({ minLength: 1, maxLength: 1_000, ...existingBranch, description: 'Branch or tag.' });
const key = Type.String({ pattern: KEY_PATTERN, maxLength: 255 });
const value = Type.String({ maxLength: MAX_VALUE_LENGTH });
const inputs = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), { maxProperties: MAX_INPUTS, description: 'Of `spec:inputs`.' }),
);

export const CreateInput = Type.Object({
  ref,
  variables: Type.Optional(
    Type.Array(Type.Object({ key, value, variable_type: Type.Optional(stringEnum(variableTypes)) }), {
      maxItems: MAX_VARIABLES,
    }),
  ),
  inputs,
});

export const TriggerInput = Type.Object({
  id: Type.String({ description: 'Id or path of the project.' }),
  ref,
  token: Type.String({ minLength: 1, maxLength: 255, description: 'A trigger token of the project.' }),
  variables: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: MAX_VALUE_LENGTH }), {
      maxProperties: MAX_VARIABLES,
    }),
  ),
  inputs,
});

export const GivenVariable = Type.Object({
  variable_type: Type.String(),
  key: Type.String(),
  value: Type.String(),
});
