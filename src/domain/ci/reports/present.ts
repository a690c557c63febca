/** Suites of tests as records. Pure. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { CaseStatus } from './junit.ts';
import type { Suite } from './read-reports.ts';
import type { TestReport, TestReportSummary } from './schema.ts';

type Counts = Pick<
  TestReport,
  'total_time' | 'total_count' | 'success_count' | 'failed_count' | 'skipped_count' | 'error_count'
>;

function countsOf(suites: readonly Suite[]): Counts {
  const counts: Record<CaseStatus, number> = { success: 0, failed: 0, skipped: 0, error: 0 };
  let [time, total] = [0, 0];
  for (const { cases } of suites)
    for (const { status, execution_time } of cases) {
      counts[status] += 1;
      total += 1;
      time += execution_time;
    }
  return {
    // Microseconds: sums of fractions have many digits.
    total_time: Math.round(time * 1e6) / 1e6,
    total_count: total,
    success_count: counts.success,
    failed_count: counts.failed,
    skipped_count: counts.skipped,
    error_count: counts.error,
  };
}

export const presentReport = (
  { fullPath }: Pick<AuthorizedProject, 'fullPath'>,
  suites: readonly Suite[],
): TestReport => ({
  ...countsOf(suites),
  test_suites: suites.map((suite) => ({
    name: suite.name,
    ...countsOf([suite]),
    suite_error: suite.error,
    test_cases: suite.cases.map((test) => ({
      status: test.status,
      name: test.name,
      classname: test.classname,
      file: test.file,
      execution_time: test.execution_time,
      system_output: test.system_output,
      stack_trace: null,
      recent_failures: null,
      ...(test.attachment !== null && {
        attachment_url: `/${fullPath}/-/jobs/${test.jobId}/artifacts/file/${test.attachment.split('/').map(encodeURIComponent).join('/')}`,
      }),
    })),
  })),
});

export function presentSummary(suites: readonly Suite[]): TestReportSummary {
  const counts = countsOf(suites);
  return {
    total: {
      time: counts.total_time,
      count: counts.total_count,
      success: counts.success_count,
      failed: counts.failed_count,
      skipped: counts.skipped_count,
      error: counts.error_count,
      suite_error: null,
    },
    test_suites: suites.map((suite) => ({
      name: suite.name,
      ...countsOf([suite]),
      build_ids: suite.jobIds,
      suite_error: suite.error,
    })),
  };
}
