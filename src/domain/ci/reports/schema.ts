/** Reports of tests (facts for CI: JUnit). */
import Type, { type Static } from 'typebox';
import { nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';

const counts = {
  total_time: Type.Number({ description: 'Seconds.' }),
  total_count: Type.Integer(),
  success_count: Type.Integer(),
  failed_count: Type.Integer(),
  skipped_count: Type.Integer(),
  error_count: Type.Integer(),
};
const suite_error = nullable(Type.String({ description: 'Why a report could not be read.' }));

const TestCase = Type.Object({
  status: stringEnum(['success', 'failed', 'skipped', 'error']),
  name: Type.String(),
  classname: Type.String(),
  file: nullable(Type.String()),
  execution_time: Type.Number({ description: 'Seconds.' }),
  system_output: nullable(Type.String({ description: 'What the report says of the failure.' })),
  stack_trace: Type.Null(),
  recent_failures: Type.Null(),
  attachment_url: Type.Optional(
    Type.String({
      description:
        'The path of a file among the artifacts that shows the failure: `[[ATTACHMENT|FILE]]` in the output of the test.',
    }),
  ),
});

const TestSuite = Type.Object({
  name: Type.String({ description: 'The name of the job, of parallel ones without their numbers.' }),
  ...counts,
  suite_error,
  test_cases: Type.Array(TestCase),
});

export const TestReport = Type.Object({ ...counts, test_suites: Type.Array(TestSuite) });
export type TestReport = Static<typeof TestReport>;

export const TestReportSummary = Type.Object({
  total: Type.Object({
    time: Type.Number({ description: 'Seconds.' }),
    count: Type.Integer(),
    success: Type.Integer(),
    failed: Type.Integer(),
    skipped: Type.Integer(),
    error: Type.Integer(),
    suite_error,
  }),
  test_suites: Type.Array(
    Type.Object({
      name: Type.String(),
      ...counts,
      build_ids: Type.Array(Type.Integer(), { description: 'The jobs.' }),
      suite_error,
    }),
  ),
});
export type TestReportSummary = Static<typeof TestReportSummary>;
