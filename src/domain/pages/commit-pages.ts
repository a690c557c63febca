/** Commits of a repository: their list, one with its changes and what is said of it, two beside each other. */

import type { AuthorizedProject } from '../../core/access/find.ts';
import type { CommitRecord } from '../../core/repositories/records.ts';
import { notFound } from '../../platform/failure.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { type Html, html } from '../../platform/http/html.ts';
import { diffView, type FileDiff } from './code.ts';
import { discussionsView } from './discussion.ts';
import type { Looking } from './door.ts';
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
} from './parts.ts';
import { projectAddress, showInProject } from './places.ts';
import { listingOf } from './prose.ts';
import { codeOf, findSpot, reading } from './repository.ts';

type Pipeline = { id: number; status: string };
type CommitDetail = CommitRecord & {
  stats?: { additions: number; deletions: number };
  last_pipeline: Pipeline | null;
};

const commitRow = (project: AuthorizedProject, commit: CommitRecord): Html =>
  thing(
    html`<a href="${projectAddress(project)}/-/commit/${commit.id}">${oneLine(commit.title) || '(no message)'}</a>`,
    html`${oneLine(commit.author_name)} · ${timeOf(commit.authored_date)}`,
    html`<code>${commit.short_id}</code>`,
  );

/** The commits that lead to a revision, perhaps only those that changed a path. */
export async function showCommits(looking: Looking): Promise<Answer> {
  const project = await codeOf(looking);
  const asked = looking.param('*') || project.row.default_branch || 'HEAD';
  const { ref, path } = await reading(looking, project, (git) => findSpot(git, asked));
  const commits = await looking.list<CommitRecord>('/projects/:id/repository/commits', {
    id: String(project.id),
    ref_name: ref,
    path: path.length === 0 ? undefined : path.join('/'),
    page: String(pageNumber(looking)),
  });
  const body = html`<h1>Commits</h1>
<p class="below">of <a href="${projectAddress(project)}/-/tree/${inAddress(asked)}"><code>${asked}</code></a></p>
${listOf(
  commits.items.map((commit) => commitRow(project, commit)),
  'No commits.',
)}
${pager(looking, commits)}`;
  return showInProject(looking, project, { title: 'Commits', tab: 'Commits', body });
}

/** The rest of a message below its title. */
const restOf = (message: string): string => message.replace(/^[^\n]*\n*/, '').trimEnd();

export async function showCommit(looking: Looking): Promise<Answer> {
  const project = await codeOf(looking);
  const address = projectAddress(project);
  const named = { id: String(project.id), sha: looking.param('sha') };
  const commit = await looking.one<CommitDetail>('/projects/:id/repository/commits/:sha', named);
  const [files, discussions] = await Promise.all([
    looking.list<FileDiff>('/projects/:id/repository/commits/:sha/diff', {
      ...named,
      page: String(pageNumber(looking)),
    }),
    discussionsView(looking, '/projects/:id/repository/commits/:noteable_id/discussions', {
      parameters: { id: named.id, noteable_id: commit.id },
      project,
      firstOnly: true,
    }),
  ]);
  const rest = restOf(commit.message);
  const { stats, last_pipeline: pipeline } = commit;
  const body = html`<h1>${oneLine(commit.title) || '(no message)'}</h1>
${rest !== '' && listingOf(looking, rest)}
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
${pager(looking, files)}
${discussions}`;
  return showInProject(looking, project, { title: oneLine(commit.title), tab: 'Commits', body });
}

type Comparison = { commits: CommitRecord[]; diffs: FileDiff[] };

/** `from...to`, with what both came from, or `from..to`. */
export async function showCompare(looking: Looking): Promise<Answer> {
  const project = await codeOf(looking);
  const [, from, dots, to] = /^(.+?)(\.{2,3})(.+)$/.exec(looking.param('*')) ?? [];
  if (from === undefined || to === undefined) throw notFound('Commit');
  const compared = await looking.one<Comparison>('/projects/:id/repository/compare', {
    id: String(project.id),
    from,
    to,
    straight: String(dots === '..'),
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
  return showInProject(looking, project, { title: `${from}${dots}${to}`, tab: 'Commits', body });
}

type Status = {
  id: number;
  name: string;
  status: string;
  description: string | null;
  target_url: string | null;
  created_at: string;
};

const statusRow = ({ name, status, description, target_url, created_at }: Status): Html =>
  thing(
    html`${
      target_url !== null && /^https?:\/\//i.test(target_url)
        ? html`<a href="${target_url}" rel="nofollow noreferrer noopener">${name}</a>`
        : name
    } ${wordTag(status)}`,
    html`${description !== null && html`${description} · `}${timeOf(created_at)}`,
  );

/** What other programs said of a commit, gathered under one number. */
export async function showPipeline(looking: Looking): Promise<Answer> {
  const project = await codeOf(looking);
  const number = looking.param('id');
  const pipeline = /^\d{1,15}$/.test(number)
    ? await looking.db
        .selectFrom('external_pipelines')
        .selectAll()
        .where('id', '=', Number(number))
        .where('project_id', '=', project.id)
        .executeTakeFirst()
    : undefined;
  if (!pipeline) throw notFound('Pipeline');
  const statuses = await looking.list<Status>('/projects/:id/repository/commits/:sha/statuses', {
    id: String(project.id),
    sha: pipeline.sha,
    pipeline_id: number,
    per_page: '100',
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
  return showInProject(looking, project, { title: `Pipeline #${pipeline.id}`, tab: 'Commits', body });
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
  (kind: 'branches' | 'tags', tab: 'Branches' | 'Tags') =>
  async (looking: Looking): Promise<Answer> => {
    const project = await codeOf(looking);
    const address = projectAddress(project);
    const refs = await looking.list<Ref>(`/projects/:id/repository/${kind}`, {
      id: String(project.id),
      page: String(pageNumber(looking)),
      per_page: '50',
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
${listOf(rows, `No ${kind}.`)}
${pager(looking, refs)}`;
    return showInProject(looking, project, { title: tab, tab, body });
  };

export const showBranches = refPage('branches', 'Branches');
export const showTags = refPage('tags', 'Tags');
