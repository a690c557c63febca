/** Commits of a repository: their list, one with its changes and its discussion, two compared. */

import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import {
  branchesEndpoint,
  type CommitRecord,
  commitConversation,
  commitDiffEndpoint,
  commitEndpoint,
  commitsEndpoint,
  comparisonEndpoint,
  tagsEndpoint,
} from '../../repositories/index.ts';
import { diffView } from '../view/code.ts';
import {
  facts,
  inAddress,
  listOf,
  oneLine,
  pageNumber,
  pager,
  tag,
  thing,
  timeOf,
  wordTag,
} from '../view/components.ts';
import { discussionsView } from '../view/discussion.ts';
import { projectAddress, showInProject } from '../view/parents.ts';
import { listingOf } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { codeOf, findSpot, reading } from './repository.ts';

const commitRow = (project: AuthorizedProject, commit: CommitRecord): Html =>
  thing(
    html`<a href="${projectAddress(project)}/-/commit/${commit.id}">${oneLine(commit.title) || '(no message)'}</a>`,
    html`${oneLine(commit.author_name)} · ${timeOf(commit.authored_date)}`,
    html`<code>${commit.short_id}</code>`,
  );

/** The commits that lead to a revision, perhaps only those that changed a path. */
export async function showCommits(view: ViewContext): Promise<HttpResponse> {
  const project = await codeOf(view);
  const requested = view.param('*') || project.row.default_branch || 'HEAD';
  const { ref, path } = await reading(view, project, (git) => findSpot(git, requested));
  const commits = await view.list(commitsEndpoint, {
    id: project.id,
    ref_name: ref,
    ...(path.length > 0 && { path: path.join('/') }),
    page: pageNumber(view),
  });
  const body = html`<h1>Commits</h1>
<p class="below">of <a href="${projectAddress(project)}/-/tree/${inAddress(requested)}"><code>${requested}</code></a></p>
${listOf(
  commits.items.map((commit) => commitRow(project, commit)),
  'No commits.',
)}
${pager(view, commits)}`;
  return showInProject(view, project, { title: 'Commits', tab: 'Commits', body });
}

/** The rest of a message below its title. */
const restOf = (message: string): string => message.replace(/^[^\n]*\n*/, '').trimEnd();

export async function showCommit(view: ViewContext): Promise<HttpResponse> {
  const project = await codeOf(view);
  const address = projectAddress(project);
  const named = { id: project.id, sha: view.param('sha') };
  const commit = await view.one(commitEndpoint, named);
  const [files, discussions] = await Promise.all([
    view.list(commitDiffEndpoint, { ...named, page: pageNumber(view) }),
    discussionsView(
      view,
      (page) => view.list(commitConversation.threads, { id: project.id, noteable_id: commit.id, ...page }),
      { project, firstOnly: true },
    ),
  ]);
  const rest = restOf(commit.message);
  const { stats, last_pipeline: pipeline } = commit;
  const body = html`<h1>${oneLine(commit.title) || '(no message)'}</h1>
${rest !== '' && listingOf(view, rest)}
${facts(
  ['Commit', html`<code class="whole">${commit.id}</code>`],
  ['Author', html`${oneLine(commit.author_name)} · ${timeOf(commit.authored_date)}`],
  [
    'Committer',
    (commit.committer_name !== commit.author_name || commit.committed_date !== commit.authored_date) &&
      html`${oneLine(commit.committer_name)} · ${timeOf(commit.committed_date)}`,
  ],
  [
    commit.parent_ids.length > 1 ? 'Parents' : 'Parent',
    commit.parent_ids.map(
      (id) => html`<a href="${address}/-/commit/${id}"><code>${id.slice(0, 8)}</code></a> `,
    ),
  ],
  ['Files', html`<a href="${address}/-/tree/${commit.id}">Browse at this commit</a>`],
  [
    'Pipeline',
    pipeline &&
      html`<a href="${address}/-/pipelines/${pipeline.id}">#${pipeline.id}</a> ${wordTag(pipeline.status)}`,
  ],
  ['Lines', stats && `${stats.additions} added, ${stats.deletions} removed`],
)}
<h2>Changes</h2>
${diffView(files.items)}
${pager(view, files)}
${discussions}`;
  return showInProject(view, project, { title: oneLine(commit.title), tab: 'Commits', body });
}

/** `from...to`, from their common ancestor, or `from..to`. */
export async function showCompare(view: ViewContext): Promise<HttpResponse> {
  const project = await codeOf(view);
  const [, from, dots, to] = /^(.+?)(\.{2,3})(.+)$/.exec(view.param('*')) ?? [];
  if (from === undefined || to === undefined) throw notFound('Commit');
  const compared = await view.one(comparisonEndpoint, {
    id: project.id,
    from,
    to,
    straight: dots === '..',
  });
  const body = html`<h1>Changes</h1>
<p class="below">from <code>${from}</code> to <code>${to}</code></p>
<h2>Commits</h2>
${listOf(
  compared.commits.map((commit) => commitRow(project, commit)),
  'No commits.',
)}
<h2>Files</h2>
${diffView(compared.diffs)}`;
  return showInProject(view, project, { title: `${from}${dots}${to}`, tab: 'Commits', body });
}

type Ref = {
  name: string;
  commit: CommitRecord | null;
  protected: boolean;
  merged?: boolean;
  default?: boolean;
  message?: string | null;
};

const refPage =
  (endpoint: typeof branchesEndpoint | typeof tagsEndpoint, tab: 'Branches' | 'Tags') =>
  async (view: ViewContext): Promise<HttpResponse> => {
    const project = await codeOf(view);
    const address = projectAddress(project);
    const refs: Page<Ref> = await view.list(endpoint, {
      id: project.id,
      page: pageNumber(view),
      per_page: 50,
    });
    const rows = refs.items.map((ref) =>
      thing(
        html`<a href="${address}/-/tree/${inAddress(ref.name)}">${ref.name}</a> ${ref.default && tag('Default')} ${ref.protected && tag('Protected')} ${ref.merged && tag('Merged')}`,
        html`${ref.message && html`${oneLine(ref.message)} · `}${ref.commit && html`${oneLine(ref.commit.title)} · ${timeOf(ref.commit.committed_date)}`}`,
        ref.commit &&
          html`<a href="${address}/-/commit/${ref.commit.id}"><code>${ref.commit.short_id}</code></a>`,
      ),
    );
    const body = html`<h1>${tab}</h1>
${listOf(rows, `No ${tab.toLowerCase()}.`)}
${pager(view, refs)}`;
    return showInProject(view, project, { title: tab, tab, body });
  };

export const showBranches = refPage(branchesEndpoint, 'Branches');
export const showTags = refPage(tagsEndpoint, 'Tags');
