/** How much of each file the tests of a pipeline run. */
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html } from '../../../platform/http/pages/html.ts';
import {
  type FileCoverage,
  pipelineEndpoint,
  readPipelineCoverage,
  selectCoverageReports,
} from '../../ci/index.ts';
import { facts, listOf, oneLine, thing } from '../view/components.ts';
import { numberIn, projectAddress, projectOf, showInProject } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';

const MAX_FILES = 1_000;

const percent = ({ lines, covered }: Pick<FileCoverage, 'lines' | 'covered'>): string =>
  `${((100 * covered) / lines).toFixed(2)} %`;

/** 404 as for the pipeline, and where it has no report that the reader may see. */
export async function showCoverage(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const { id } = await view.one(pipelineEndpoint, { id: project.id, pipeline_id: numberIn(view, 'id') });
  const reports = await selectCoverageReports(view.db, project, { id }, view.settings.keep_latest_artifact);
  if (reports.length === 0) throw notFound();
  const { files, problems } = await readPipelineCoverage(view.services, reports, view.request.signal);
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const covered = files.reduce((sum, file) => sum + file.covered, 0);
  const left = files.length - MAX_FILES;
  const body = html`<h1>Coverage</h1>
${facts(
  ['Pipeline', html`<a href="${projectAddress(project)}/-/pipelines/${id}">#${id}</a>`],
  ['Lines', lines > 0 && `${covered} of ${lines}, ${percent({ lines, covered })}`],
)}
${problems.map(
  ({ job, message }) => html`<p class="message">The report of ${job} cannot be read: ${oneLine(message)}</p>`,
)}
${listOf(
  files
    .slice(0, MAX_FILES)
    .map((file) => thing(oneLine(file.path), `${file.covered} of ${file.lines} lines`, percent(file))),
  'No files.',
)}
${left > 0 && html`<p class="none">${left} more files are not shown here.</p>`}`;
  return showInProject(view, project, { title: `Coverage of pipeline #${id}`, tab: 'Pipelines', body });
}
