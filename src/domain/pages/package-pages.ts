/** Packages of a project, of every format, and their files. */
import type { HttpResponse } from '../../platform/http/messages.ts';
import { html } from '../../platform/http/pages/html.ts';
import {
  packageDownloadEndpoint,
  packageEndpoint,
  packageFilesEndpoint,
  packagesEndpoint,
} from '../packages/index.ts';
import { facts, listOf, oneLine, pageNumber, pager, thing, timeOf, wordTag } from './view/components.ts';
import { numberIn, projectAddress, projectOf, showInProject } from './view/parents.ts';
import type { ViewContext } from './view/view-context.ts';

const versionOf = ({ version }: { version: string | null }): string => version ?? 'all versions';
const formatOf = ({ package_type }: { package_type: string }): string => package_type.replaceAll('_', ' ');

export async function showPackages(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const packages = await view.list(packagesEndpoint, { id: project.id, page: pageNumber(view) });
  const body = html`<h1>Packages</h1>
${listOf(
  packages.items.map((each) =>
    thing(
      html`<a href="${each._links.web_path}">${oneLine(each.name)}</a>`,
      html`${versionOf(each)} · ${formatOf(each)} · ${timeOf(each.created_at)}`,
    ),
  ),
  'No packages.',
)}
${pager(view, packages)}`;
  return showInProject(view, project, { title: 'Packages', tab: 'Packages', body });
}

export async function showPackage(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const which = { id: project.id, package_id: numberIn(view, 'id') };
  const row = await view.one(packageEndpoint, which);
  const files = await view.list(packageFilesEndpoint, { ...which, page: pageNumber(view), per_page: 100 });
  const address = `${projectAddress(project)}/-/packages/${row.id}`;
  const [pipeline] = row.pipelines ?? [];
  const body = html`<h1>${oneLine(row.name)}</h1>
${facts(
  ['Version', versionOf(row)],
  ['Format', formatOf(row)],
  ['Status', row.status !== 'default' && wordTag(row.status)],
  ['Tags', row.tags.length > 0 && row.tags.map(({ name }) => name).join(', ')],
  ['Published', timeOf(row.created_at)],
  ['Last downloaded', row.last_downloaded_at && timeOf(row.last_downloaded_at)],
  [
    'Pipeline',
    pipeline && html`<a href="${projectAddress(project)}/-/pipelines/${pipeline.id}">#${pipeline.id}</a>`,
  ],
)}
<h2>Files</h2>
${listOf(
  files.items.map(({ id, file_name, size, file_sha256 }) =>
    thing(
      html`<a href="${address}/files/${id}">${oneLine(file_name)}</a>`,
      html`${size.toLocaleString('en')} bytes · SHA-256 <code class="whole">${file_sha256}</code>`,
    ),
  ),
  'No files.',
)}
${pager(view, files)}
${
  row.versions.length > 0 &&
  html`<h2>Other versions</h2>
${listOf(
  row.versions.map(({ id, version, created_at }) =>
    thing(html`<a href="${projectAddress(project)}/-/packages/${id}">${version}</a>`, timeOf(created_at)),
  ),
  '',
)}`
}`;
  return showInProject(view, project, { title: row.name, tab: 'Packages', body });
}

export async function sendPackageFile(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  return view.file(packageDownloadEndpoint, {
    id: project.id,
    package_id: numberIn(view, 'id'),
    package_file_id: numberIn(view, 'file'),
  });
}
