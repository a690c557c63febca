/** Releases of a project, and the archives of the code that they name. */
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { releaseEndpoint, releasesEndpoint } from '../../releases/index.ts';
import { archiveEndpoint } from '../../repositories/index.ts';
import { facts, listOf, pageNumber, pager, personLink, tag, thing, timeOf } from '../view/components.ts';
import { projectAddress, projectOf, showInProject } from '../view/parents.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { pathOf } from '../work-items/work-rows.ts';

const upcoming = ({ upcoming_release }: { upcoming_release: boolean }): Html | false =>
  upcoming_release && tag('Upcoming', 'warning');

export async function showReleases(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const releases = await view.list(releasesEndpoint, { id: project.id, page: pageNumber(view) });
  const rows = releases.items.map((release) =>
    thing(
      html`<a href="${pathOf(view, release._links.self)}">${release.name}</a> ${upcoming(release)}`,
      html`${release.tag_name} · ${timeOf(release.released_at)} by ${personLink(release.author)}`,
    ),
  );
  const body = html`<h1>Releases</h1>
${listOf(rows, 'No releases.')}
${pager(view, releases)}`;
  return showInProject(view, project, { title: 'Releases', tab: 'Releases', body });
}

export async function showRelease(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const release = await view.one(releaseEndpoint, { id: project.id, tag_name: view.param('tag') });
  const { commit, assets, evidences = [] } = release;
  const milestones = release.milestones.map(
    ({ title, web_url }, place) => html`${place > 0 && ', '}<a href="${pathOf(view, web_url)}">${title}</a>`,
  );
  const files = [
    ...assets.links.map(({ name, direct_asset_url, link_type }) =>
      thing(
        html`<a href="${pathOf(view, direct_asset_url)}" rel="nofollow noreferrer">${name}</a>`,
        link_type,
      ),
    ),
    ...(assets.sources ?? []).map(({ format, url }) =>
      thing(html`<a href="${pathOf(view, url)}">Source code (${format})</a>`, 'source'),
    ),
  ];
  const body = html`<h1>${release.name}</h1>
<p class="below">${upcoming(release)} released ${timeOf(release.released_at)} by ${personLink(release.author)}</p>
${facts(
  ['Tag', release.tag_name],
  [
    'Commit',
    commit &&
      html`<a href="${projectAddress(project)}/-/commit/${commit.id}"><code>${commit.short_id}</code></a>`,
  ],
  ['Milestones', milestones.length > 0 && html`${milestones}`],
)}
${await renderedMarkdown(view, release.description, { project })}
<h2>Assets</h2>
${listOf(files, 'No assets.')}
${
  evidences.length > 0 &&
  html`<h2>Evidence</h2>
${listOf(
  evidences.map(({ filepath, sha, collected_at }) =>
    thing(
      html`<a href="${pathOf(view, filepath)}"><code class="whole">${sha}</code></a>`,
      timeOf(collected_at),
    ),
  ),
  '',
)}`
}`;
  return showInProject(view, project, { title: release.name, tab: 'Releases', body });
}

const archiveName = /^(.+)\/[^/]+\.(zip|tar\.gz|tar\.bz2|tar)$/;

/** `<branch, tag or commit>/<any name>.zip`. */
export async function sendArchive(view: ViewContext): Promise<HttpResponse> {
  const { id } = await projectOf(view);
  const [, sha, format] = archiveName.exec(view.param('*')) ?? [];
  if (sha === undefined || format === undefined) throw notFound();
  return view.file(archiveEndpoint, { id, sha, format: format as 'zip' });
}
