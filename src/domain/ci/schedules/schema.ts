/** Pipeline schedules in requests and responses (facts: Pipeline schedule). */
import Type from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { PipelineBasic } from '../../repositories/index.ts';
import { GivenVariable } from '../creation/schema.ts';
import { filters } from '../pipelines/schema.ts';
import { variableTypes } from '../variables/rules.ts';
import { key, value } from '../variables/schema.ts';
import { MAX_INPUTS } from './rules.ts';

const description = Type.String({ minLength: 1, maxLength: 255 });
const ref = Type.String({ minLength: 1, maxLength: 1_000, description: 'Branch or tag, short or in full.' });
const cron = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Five fields, or `@daily` and the like.',
});
const cronTimezone = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'A name of IANA, or one such as `Pacific Time (US & Canada)`.',
});
const inputs = Type.Optional(
  Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1, maxLength: 255 }),
      value: Type.Optional(Type.Unknown()),
      destroy: Type.Optional(Type.Boolean({ description: 'The input of this name goes.' })),
    }),
    { maxItems: MAX_INPUTS, description: 'Of `spec:inputs`; those that a change does not name stay.' },
  ),
);
const active = Type.Optional(Type.Boolean());
const one = { pipeline_schedule_id: integerId() };

export const ListInput = Type.Object({ scope: Type.Optional(stringEnum(['active', 'inactive'])) });
export const OneInput = Type.Object(one);
export const PipelinesInput = Type.Object({ ...one, ...filters });
export const CreateInput = Type.Object({
  description,
  ref,
  cron,
  cron_timezone: Type.Optional(cronTimezone),
  active,
  inputs,
});
export const UpdateInput = Type.Object({
  ...one,
  description: Type.Optional(description),
  ref: Type.Optional(ref),
  cron: Type.Optional(cron),
  cron_timezone: Type.Optional(cronTimezone),
  active,
  inputs,
});

const variableType = Type.Optional(stringEnum(variableTypes));
export const OneVariable = Type.Object({ ...one, key: Type.String() });
export const NewVariable = Type.Object({ ...one, key, value, variable_type: variableType });
export const VariableChange = Type.Object({
  ...OneVariable.properties,
  value: Type.Optional(value),
  variable_type: variableType,
});

export const Schedule = Type.Object({
  id: Type.Integer(),
  description: Type.String(),
  ref: Type.String(),
  cron: Type.String(),
  cron_timezone: Type.String(),
  next_run_at: dateTime(),
  active: Type.Boolean(),
  created_at: dateTime(),
  updated_at: dateTime(),
  owner: nullable(UserBasic),
});

const secret = 'For the owner and for maintainers.';
export const ScheduleDetails = Type.Object({
  ...Schedule.properties,
  last_pipeline: nullable(PipelineBasic),
  inputs: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), value: Type.Unknown() }), { description: secret }),
  ),
  variables: Type.Optional(Type.Array(GivenVariable, { description: secret })),
});
