/** Pipelines of a project: their list, one with its stages and jobs, and a job. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import {
  countByStage,
  isDebugTrace,
  type Job,
  jobEndpoint,
  pipelineEndpoint,
  pipelineJobsEndpoint,
  pipelinesEndpoint,
  readTraceEnd,
  type StatusRow,
  selectStatusesOf,
  traceText,
} from '../../ci/index.ts';
import type { PipelineBasic } from '../../repositories/index.ts';
import {
  facts,
  listOf,
  oneLine,
  pageNumber,
  pager,
  personLink,
  thing,
  timeOf,
  wordTag,
} from '../view/components.ts';
import { numberIn, projectAddress, projectOf, showInProject } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';
import { pipelineFacts } from './pipeline-facts.ts';

/** Bytes of a trace that its page shows, the last ones. */
const MAX_TRACE_BYTES = 200_000;

const commitLink = (project: AuthorizedProject, sha: string): Html =>
  html`<a href="${projectAddress(project)}/-/commit/${sha}"><code>${sha.slice(0, 8)}</code></a>`;

const pipelineRow = (project: AuthorizedProject, pipeline: PipelineBasic): Html =>
  thing(
    html`<a href="${projectAddress(project)}/-/pipelines/${pipeline.id}">#${pipeline.id}</a> ${wordTag(pipeline.status)}`,
    html`${oneLine(pipeline.ref)} · ${commitLink(project, pipeline.sha)} · ${pipeline.source.replaceAll('_', ' ')} · ${timeOf(pipeline.created_at)}`,
  );

export async function showPipelines(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const pipelines = await view.list(pipelinesEndpoint, { id: project.id, page: pageNumber(view) });
  const body = html`<h1>Pipelines</h1>
${listOf(
  pipelines.items.map((pipeline) => pipelineRow(project, pipeline)),
  'No pipelines.',
)}
${pager(view, pipelines)}`;
  return showInProject(view, project, { title: 'Pipelines', tab: 'Pipelines', body });
}

const statusRow = ({ name, status, description, target_url, created_at }: StatusRow): Html =>
  thing(
    html`${
      target_url !== null && /^https?:\/\//i.test(target_url)
        ? html`<a href="${target_url}" rel="nofollow noreferrer noopener">${name}</a>`
        : name
    } ${wordTag(status)}`,
    html`${description !== null && html`${description} · `}${timeOf(created_at.toISOString())}`,
  );

const seconds = (count: number | null): string | null => (count === null ? null : `${Math.round(count)} s`);

const jobRow = (project: AuthorizedProject, job: Job): Html =>
  thing(
    html`<a href="${projectAddress(project)}/-/jobs/${job.id}">${job.name}</a> ${wordTag(job.status)}`,
    html`${[job.stage, seconds(job.duration), job.allow_failure && 'may fail'].filter(Boolean).join(' · ')}`,
  );

/** Its jobs, those of the first stage first, and what other programs said of the commit. */
export async function showPipeline(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const pipeline = await view.one(pipelineEndpoint, { id: project.id, pipeline_id: numberIn(view, 'id') });
  const jobs = await view.list(pipelineJobsEndpoint, {
    id: project.id,
    pipeline_id: pipeline.id,
    page: pageNumber(view),
    per_page: 100,
  });
  const [statuses, left] = await Promise.all([
    selectStatusesOf(view.db, pipeline.id),
    pipelineFacts(view, project, pipeline),
  ]);
  // A page has the newest jobs, those of the last stage: how the others are is said before them.
  const counts = jobs.more || pageNumber(view) > 1 ? await countByStage(view.db, pipeline.id) : [];
  const stages = [...Map.groupBy(jobs.items.toReversed(), ({ stage }) => stage)];
  const body = html`<h1>Pipeline #${pipeline.id}</h1>
${facts(
  ['Status', wordTag(pipeline.status)],
  ['Commit', commitLink(project, pipeline.sha)],
  ['Branch or tag', pipeline.ref],
  ['Name', pipeline.name],
  ['Started by', pipeline.user && personLink(pipeline.user)],
  ['Began', timeOf(pipeline.created_at)],
  ['Ran', seconds(pipeline.duration)],
  ...left,
  ['Errors of the file', pipeline.yaml_errors],
)}
${
  counts.length > 0 &&
  html`<h2>All stages</h2>
${facts(
  ...[...Map.groupBy(counts, ({ stage }) => stage)].map(([stage, of]): [string, string] => [
    stage,
    of.map(({ status, count }) => `${count} ${status.replaceAll('_', ' ')}`).join(', '),
  ]),
)}`
}
${stages.map(
  ([stage, of]) => html`<h2>${stage}</h2>
${listOf(
  of.map((job) => jobRow(project, job)),
  'No jobs.',
)}`,
)}
${statuses.length > 0 && html`<h2>Other programs</h2>\n${listOf(statuses.map(statusRow), 'No statuses.')}`}
${stages.length === 0 && statuses.length === 0 && html`<p class="none">No jobs.</p>`}
${pager(view, jobs)}`;
  return showInProject(view, project, { title: `Pipeline #${pipeline.id}`, tab: 'Pipelines', body });
}

export async function showJob(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const job = await view.one(jobEndpoint, { id: project.id, job_id: numberIn(view, 'id') });
  const { database } = view.services;
  const isHidden = !project.may('read_debug_traces') && (await isDebugTrace(database.db, job.id));
  const trace = isHidden
    ? { text: '', cut: false }
    : await readTraceEnd(view.services, job.id, MAX_TRACE_BYTES);
  const body = html`<h1>${job.name}</h1>
${facts(
  ['Status', wordTag(job.status)],
  [
    'Pipeline',
    html`<a href="${projectAddress(project)}/-/pipelines/${job.pipeline.id}">#${job.pipeline.id}</a>`,
  ],
  ['Stage', job.stage],
  ['Commit', commitLink(project, job.pipeline.sha)],
  ['Branch or tag', job.ref],
  ['Started by', job.user && personLink(job.user)],
  ['Began', job.started_at && timeOf(job.started_at)],
  ['Ran', seconds(job.duration)],
  ['Failed by', job.failure_reason?.replaceAll('_', ' ')],
)}
${
  job.artifacts.length > 0 &&
  html`<h2>Artifacts</h2>
${listOf(
  job.artifacts.map(({ file_type: type, filename }) => {
    const at = `${projectAddress(project)}/-/jobs/${job.id}/artifacts`;
    const browse = type === 'archive' && html` · <a href="${at}/browse">Browse</a>`;
    return html`<a href="${at}/download?file_type=${type}">${filename}</a>${browse}`;
  }),
  'None.',
)}`
}
${isHidden && html`<p class="none">What a job writes that is debugged is for Developers.</p>`}
${trace.cut && html`<p class="none">The beginning is left out.</p>`}
${trace.text !== '' && html`<pre class="listing">${traceText(trace.text)}</pre>`}`;
  return showInProject(view, project, { title: job.name, tab: 'Pipelines', body });
}
