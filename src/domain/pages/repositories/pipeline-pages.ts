/** Pipelines of a project. */
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { type CommitStatus, commitStatusesEndpoint, selectPipeline } from '../../ci/index.ts';
import { facts, listOf, thing, timeOf, wordTag } from '../view/components.ts';
import { projectAddress, showInProject } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';
import { codeOf } from './repository.ts';

const statusRow = ({ name, status, description, target_url, created_at }: CommitStatus): Html =>
  thing(
    html`${
      target_url !== null && /^https?:\/\//i.test(target_url)
        ? html`<a href="${target_url}" rel="nofollow noreferrer noopener">${name}</a>`
        : name
    } ${wordTag(status)}`,
    html`${description !== null && html`${description} · `}${timeOf(created_at)}`,
  );

/** Other programs' statuses of a commit, gathered under one number. */
export async function showPipeline(view: ViewContext): Promise<HttpResponse> {
  const project = await codeOf(view);
  const number = view.param('id');
  const pipeline = /^\d{1,15}$/.test(number)
    ? await selectPipeline(view.db, project, Number(number))
    : undefined;
  if (!pipeline) throw notFound('Pipeline');
  const statuses = await view.list(commitStatusesEndpoint, {
    id: project.id,
    sha: pipeline.sha,
    pipeline_id: pipeline.id,
    per_page: 100,
  });
  const address = projectAddress(project);
  const body = html`<h1>Pipeline #${pipeline.id}</h1>
${facts(
  [
    'Commit',
    html`<a href="${address}/-/commit/${pipeline.sha}"><code>${pipeline.sha.slice(0, 8)}</code></a>`,
  ],
  ['Branch or tag', pipeline.ref],
  ['Began', timeOf(pipeline.created_at.toISOString())],
)}
${listOf(statuses.items.map(statusRow), 'No statuses.')}`;
  return showInProject(view, project, { title: `Pipeline #${pipeline.id}`, tab: 'Commits', body });
}
