/** Files and commits of a project in searches. */
import Type, { type Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { badRequest } from '../../../platform/failure.ts';
import { countListed, listHistory } from '../../../platform/git/history/history.ts';
import { isAbbreviatedId } from '../../../platform/git/names.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { mapPage, offsetPage, type Page } from '../../../platform/pagination/page.ts';
import { nothing, type SearchRequest, type SearchScope } from '../../search/index.ts';
import { CommitRecord, presentCommit } from '../commits/records.ts';
import { projectRepository } from '../store/containers.ts';
import { readCommit } from './commit.ts';
import { BlobRecord, searchFiles } from './files.ts';

export const fileSearch: SearchScope<typeof BlobRecord> = {
  record: BlobRecord,
  index: 'advanced search or exact code search',
  findInProject: async (request, project) =>
    project.may('read_code') ? searchFiles(request, projectRepository(project.id), project) : nothing,
};

const FoundCommit = Type.Object({ ...CommitRecord.properties, project_id: Type.Integer() });

/** By a part of the message, or the one that an id, or the beginning of one, names. */
async function searchCommits(
  request: SearchRequest,
  project: AuthorizedProject,
): Promise<Page<Static<typeof FoundCommit>>> {
  const { page, services } = request;
  const search = request.search.trim();
  if (search === '') throw badRequest('search is empty');
  if (!project.may('read_code')) return nothing;
  const key = projectRepository(project.id);
  const commits = await readCommit(request, key, project, async (git, { commit }) => {
    const named = isAbbreviatedId(search) && (await git.info(search.toLowerCase()))?.type === 'commit';
    const own = named ? await findCommit(git, search) : undefined;
    if (own) return offsetPage(page, [own].slice(page.offset), async () => 1);
    const filter = { message: search };
    const limit = page.perPage + 1;
    return offsetPage(page, await listHistory(git, commit.oid, filter, { offset: page.offset, limit }), () =>
      countListed(git, commit.oid, filter, page.countLimit),
    );
  });
  const url = `${services.baseUrl()}/${project.fullPath}`;
  return mapPage(commits ?? nothing, (commit) => ({ ...presentCommit(url, commit), project_id: project.id }));
}

export const commitSearch: SearchScope<typeof FoundCommit> = {
  record: FoundCommit,
  index: 'advanced search',
  findInProject: searchCommits,
};
