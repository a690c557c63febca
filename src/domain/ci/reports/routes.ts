/** What the tests of a pipeline came to (facts: Pipelines, schedules). */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import { selectPipeline } from '../pipelines/queries.ts';
import { OnePipeline } from '../pipelines/schema.ts';
import { presentReport, presentSummary } from './present.ts';
import { selectReports } from './queries.ts';
import { readSuites, type Suite } from './read-reports.ts';
import { TestReport, TestReportSummary } from './schema.ts';

const path = '/projects/:id/pipelines/:pipeline_id';
const reading = onProject('read_pipelines');

type ReportContext = Pick<
  Context<{ pipeline_id: number }, AuthorizedProject, Caller>,
  'db' | 'services' | 'settings' | 'subject' | 'input' | 'request'
>;

async function suitesOf({
  db,
  services,
  settings,
  subject,
  input,
  request,
}: ReportContext): Promise<Suite[]> {
  const pipeline = found(await selectPipeline(db, subject, input.pipeline_id), 'Pipeline');
  const files = await selectReports(db, pipeline, ['junit'], settings.keep_latest_artifact);
  return readSuites(services, files, request.signal);
}

export const reportEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: `${path}/test_report`,
    summary: 'The tests of a pipeline, by the reports of its jobs.',
    access: reading,
    input: OnePipeline,
    reply: TestReport,
    handle: async (context) => presentReport(context.subject, await suitesOf(context)),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/test_report_summary`,
    summary: 'How the tests of a pipeline went, by the reports of its jobs.',
    access: reading,
    input: OnePipeline,
    reply: TestReportSummary,
    handle: async (context) => presentSummary(await suitesOf(context)),
  }),
];
