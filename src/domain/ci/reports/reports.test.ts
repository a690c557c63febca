/** Reports of tests, from the runner to the pipeline's record. */
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { makeRunner, type Runner, startPipeline } from '../../../../test/support/runner.ts';

const app: TestApp = useApp();
let project: MadeProject;
let maintainer: MadeUser;
let guest: MadeUser;
let runner: Runner;

beforeEach(async () => {
  project = await makeProject(app);
  ({ maintainer, guest } = await makeMembers(app, `projects/${project.id}`, 'maintainer', 'guest'));
  runner = await makeRunner(app, project);
});

const get = async (pipeline: number, name: string) =>
  bodyOf(await app.as(guest.token)(`GET /projects/${project.id}/pipelines/${pipeline}/${name}`), 200);

/** A pipeline whose jobs, by their names, sent these files. */
async function pipelineOf(
  file: string,
  reports: Readonly<Record<string, Buffer>>,
): Promise<{ id: number; jobs: Record<string, number> }> {
  const id = await startPipeline(app, project, maintainer, file);
  const jobs: Record<string, number> = {};
  for (let taken = await runner.request(); taken.status === 201; taken = await runner.request()) {
    const { name } = taken.body.job_info;
    jobs[name] = taken.body.id;
    const report = reports[name];
    const query = { artifact_type: 'junit', artifact_format: 'gzip' };
    if (report) expect((await runner.upload(taken.body, report, query, 'junit.xml.gz')).status).toBe(201);
    await runner.update(taken.body, { state: 'success' });
  }
  return { id, jobs };
}

test('a pipeline without reports has empty ones', async () => {
  const { id } = await pipelineOf('build:\n  script: make\n', {});
  expect(await get(id, 'test_report')).toEqual({
    total_time: 0,
    total_count: 0,
    success_count: 0,
    failed_count: 0,
    skipped_count: 0,
    error_count: 0,
    test_suites: [],
  });
  expect((await get(id, 'test_report_summary')).test_suites).toEqual([]);
  expect(
    (await app.as(guest.token)(`GET /projects/${project.id}/pipelines/9999999/test_report`)).status,
  ).toBe(404);
});

test('the suites are those of the jobs, parallel ones together', async () => {
  const suite = (...cases: string[]) => gzipSync(`<testsuite>${cases.join('')}</testsuite>`);
  // As a runner packs two files.
  const two = Buffer.concat([
    suite('<testcase name="a" classname="C" time="0.1"/><testcase name="a" classname="C" time="0.2"/>'),
    suite('<testcase name="b"><failure>broken</failure></testcase>'),
  ]);
  const { id, jobs } = await pipelineOf(
    'unit:\n  script: make\n  parallel: 2\nlint:\n  script: make\nodd:\n  script: make\n',
    {
      'unit 1/2': two,
      'unit 2/2': suite(
        '<testcase name="c"><error>lost</error></testcase><testcase name="d"><skipped/></testcase>',
      ),
      lint: gzipSync('<testsuite><testcase>'),
      odd: Buffer.from('<testsuite/>'),
    },
  );
  const report = await get(id, 'test_report');
  expect(report).toMatchObject({
    total_count: 4,
    total_time: 0.2,
    success_count: 1,
    failed_count: 1,
    skipped_count: 1,
    error_count: 1,
  });
  const [unit, lint, odd] = report.test_suites;
  expect(unit).toMatchObject({ name: 'unit', total_count: 4, suite_error: null });
  expect(
    unit.test_cases.map((each: Record<string, unknown>) => [each.name, each.status, each.system_output]),
  ).toEqual([
    ['a', 'success', null],
    ['b', 'failed', 'broken'],
    ['c', 'error', 'lost'],
    ['d', 'skipped', null],
  ]);
  expect(lint).toMatchObject({
    name: 'lint',
    total_count: 0,
    test_cases: [],
    suite_error: expect.stringMatching(/^JUnit XML parsing failed: .*unclosed tag/),
  });
  expect(odd.suite_error).toBe('JUnit XML parsing failed: the file is not packed by gzip');
  const summary = await get(id, 'test_report_summary');
  expect(summary.total).toEqual({
    time: 0.2,
    count: 4,
    success: 1,
    failed: 1,
    skipped: 1,
    error: 1,
    suite_error: null,
  });
  expect(summary.test_suites[0]).toMatchObject({
    name: 'unit',
    total_count: 4,
    build_ids: [jobs['unit 1/2'], jobs['unit 2/2']],
  });
});

test('a case that failed names the file that shows it', async () => {
  const shown = '<system-out>[[ATTACHMENT|shots/a b.png]]</system-out>';
  const { id, jobs } = await pipelineOf('unit:\n  script: make\n', {
    unit: gzipSync(`<s><testcase name="a"><failure/>${shown}</testcase><testcase name="b"/></s>`),
  });
  const [{ test_cases }] = (await get(id, 'test_report')).test_suites;
  const file = `/-/jobs/${jobs.unit}/artifacts/file/shots/a%20b.png`;
  expect(test_cases[0].attachment_url).toBe(`/${project.path_with_namespace}${file}`);
  expect(test_cases[1]).not.toHaveProperty('attachment_url');
});

test('bombs have a reason instead of cases', async () => {
  const { id } = await pipelineOf(
    'entities:\n  script: make\nlarge:\n  script: make\nmany:\n  script: make\n',
    {
      entities: gzipSync('<!DOCTYPE s [<!ENTITY a "aaaa">]><s>&a;</s>'),
      many: gzipSync(`<s>${'<testcase/>'.repeat(100_001)}</s>`),
      large: gzipSync(Buffer.alloc(40_000_000, ' ')),
    },
  );
  const { test_suites } = await get(id, 'test_report_summary');
  expect(
    Object.fromEntries(
      test_suites.map((suite: { name: string; suite_error: string }) => [suite.name, suite.suite_error]),
    ),
  ).toEqual({
    entities: 'JUnit XML parsing failed: entities are not allowed',
    large: 'JUnit XML parsing failed: the reports of the pipeline are larger than 32 MiB',
    many: expect.stringMatching(/larger than 32 MiB|more than 100,000 cases/),
  });
});
