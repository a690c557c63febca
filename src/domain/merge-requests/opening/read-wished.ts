/** What the record of a merge request has only where the request names it (facts-merge-requests: 1.1). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { countDivergence } from '../../../platform/git/history/heads.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { type RenderContext, renderLine, renderMarkdown } from '../../markdown/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import type { SingleExtras } from '../records/merge-request-records.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

async function renderTexts(
  context: RenderContext,
  { title, description }: MergeRequestRow,
): Promise<Pick<SingleExtras, 'title_html' | 'description_html'>> {
  const title_html = await renderLine(title, context);
  const description_html = description ? await renderMarkdown(description, { gfm: true }, context) : '';
  return { title_html, description_html };
}

/** The commits that only the target branch has; 0 where one of the two is gone. */
async function countDiverged(
  { repositories }: Needs<'repositories'>,
  { id, row }: AuthorizedProject,
  { head_sha, target_branch }: MergeRequestRow,
): Promise<number> {
  const count = await repositories.read(projectRepository(id), row.repository_storage, async (git) => {
    const target = await findBranch(git, target_branch);
    if (!target || head_sha === null || !(await git.info(head_sha))) return 0;
    return (await countDivergence(git, head_sha, target.oid)).right;
  });
  return count ?? 0;
}

export async function readWished(
  { services, actor }: { services: RenderContext['services'] & Needs<'repositories'>; actor: Caller },
  project: AuthorizedProject,
  row: MergeRequestRow,
  wish: { render_html?: boolean; include_diverged_commits_count?: boolean },
): Promise<SingleExtras> {
  const { render_html, include_diverged_commits_count } = wish;
  return {
    ...(render_html && (await renderTexts({ services, reader: actor, project }, row))),
    ...(include_diverged_commits_count && {
      diverged_commits_count: await countDiverged(services, project, row),
    }),
  };
}
