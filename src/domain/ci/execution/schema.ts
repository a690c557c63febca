/** What runners send of jobs (facts for CI: Runner protocol). */
import Type from 'typebox';
import { integerId, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { VerifyInput } from '../runners/schema.ts';

const token = Type.Optional(
  Type.String({ maxLength: 255, description: 'The token of the job, if not in the header `JOB-TOKEN`.' }),
);

export const RequestInput = Type.Object({
  ...VerifyInput.properties,
  last_update: Type.Optional(Type.String({ maxLength: 255 })),
  session: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

export const UpdateInput = Type.Object({
  id: integerId(),
  token,
  state: Type.Optional(stringEnum(['pending', 'running', 'success', 'failed'])),
  failure_reason: Type.Optional(Type.String({ maxLength: 255 })),
  checksum: Type.Optional(Type.String({ maxLength: 255 })),
  output: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  exit_code: Type.Optional(Type.Integer()),
  info: VerifyInput.properties.info,
});

export const TraceInput = Type.Object({
  id: integerId(),
  token,
  debug_trace: Type.Optional(Type.Boolean()),
});

/** The job as the runner's program reads it; what is in it is listed in the protocol. */
export const JobPayload = Type.Record(Type.String(), Type.Unknown());
export const Words = Type.String();
