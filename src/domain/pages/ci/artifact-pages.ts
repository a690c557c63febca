/** What is in the archive of a job, folder by folder. */
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { html } from '../../../platform/http/pages/html.ts';
import { archiveTreeEndpoint, jobEndpoint } from '../../ci/index.ts';
import { inAddress, listOf, oneLine, pageNumber, pager, thing } from '../view/components.ts';
import { numberIn, projectAddress, projectOf, showInProject } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';

export async function showArchive(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const job = await view.one(jobEndpoint, { id: project.id, job_id: numberIn(view, 'id') });
  const folder = view.param('*').replace(/\/$/, '');
  const entries = await view.list(archiveTreeEndpoint, {
    id: project.id,
    job_id: job.id,
    path: folder,
    page: pageNumber(view),
    per_page: 100,
  });
  const address = `${projectAddress(project)}/-/jobs/${job.id}`;
  const body = html`<h1>Artifacts of <a href="${address}">${job.name}</a></h1>
<p class="below"><a href="${address}/artifacts/browse">artifacts.zip</a>${folder !== '' && html` / ${oneLine(folder)}`} · <a href="${address}/artifacts/download">Download all</a></p>
${listOf(
  entries.items.map(({ name, path, type, size }) => {
    const isFolder = type === 'directory';
    const link = `${address}/artifacts/${isFolder ? 'browse' : 'file'}/${inAddress(path)}`;
    return thing(
      html`<a href="${link}">${oneLine(name)}${isFolder && '/'}</a>`,
      !isFolder && `${size.toLocaleString('en')} bytes`,
    );
  }),
  'No files.',
)}
${pager(view, entries)}`;
  return showInProject(view, project, { title: `Artifacts of ${job.name}`, tab: 'Pipelines', body });
}
