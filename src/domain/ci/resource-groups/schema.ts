/** Resource groups in requests and responses (facts: Jobs). */
import Type from 'typebox';
import { dateTime, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { processModes } from '../processing/resource-actions.ts';

const one = { key: Type.String({ description: 'As the file of the pipeline has it.' }) };
const process_mode = stringEnum(processModes, {
  description: 'Who gets the resource next: anyone, the oldest or newest pipeline, the newest that is ready.',
});

export const OneGroup = Type.Object(one);
export const UpdateInput = Type.Object({ ...one, process_mode: Type.Optional(process_mode) });

export const ResourceGroup = Type.Object({
  id: Type.Integer(),
  key: Type.String(),
  process_mode,
  created_at: dateTime(),
  updated_at: dateTime(),
});
