/** The results of each scope, as records: one function for all three containers. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { presentBasicProject } from '../../kernel/namespaces/project-records.ts';
import { presentUserBasic } from '../../kernel/users/records.ts';
import { Failure } from '../../platform/failure.ts';
import { mapPage, type Page } from '../../platform/pagination/page.ts';
import { presentNotes } from '../conversation/index.ts';
import { presentMilestone } from '../planning/index.ts';
import { presentSnippets } from '../snippets/index.ts';
import { presentIssues } from '../work-items/index.ts';
import { searchBlobs, searchCommits, searchWiki } from './files.ts';
import { searchNotes } from './note-queries.ts';
import { searchIssues, searchMilestones, searchProjects, searchSnippets, searchUsers } from './queries.ts';
import { nothing, type SearchRequest } from './request.ts';
import type { Scope, SearchRecord } from './schema.ts';

/**
 * One page of the scope's results for the caller; 400 where only an index over all projects could find them,
 * 408 when it takes too long.
 */
export async function runSearch(request: SearchRequest, scope: Scope): Promise<Page<SearchRecord>> {
  try {
    return await scopes[scope](request);
  } catch (error) {
    throw isCutOff(error) ? tookTooLong(error) : error;
  }
}

type Search = (request: SearchRequest) => Promise<Page<SearchRecord>>;

const inProject =
  (
    search: (request: SearchRequest, project: AuthorizedProject) => Promise<Page<SearchRecord>>,
    refusal: string,
  ): Search =>
  async (request) => {
    if (request.container.in !== 'project') throw new Failure('bad_request', refusal, { error: refusal });
    return search(request, request.container.project);
  };

const ADVANCED = 'Scope supported only with advanced search';

const scopes: Record<Scope, Search> = {
  projects: async (request) => {
    const view = {
      ...aroundOf(request),
      admin: request.actor?.admin ?? false,
      signedIn: request.actor !== undefined,
    };
    return mapPage(await searchProjects(request), (row) => presentBasicProject(view, row));
  },
  issues: async (request) => {
    const page = await searchIssues(request);
    const across = request.container.in !== 'project';
    return { ...page, items: await presentIssues(request, page.items, { across }) };
  },
  // There are no merge requests.
  merge_requests: async () => nothing,
  milestones: async (request) => {
    const { baseUrl } = aroundOf(request);
    return mapPage(await searchMilestones(request), (row) =>
      presentMilestone(row, { baseUrl, fullPath: row.full_path }),
    );
  },
  snippet_titles: async (request) => {
    const page = await searchSnippets(request);
    const items = await presentSnippets(request.db, aroundOf(request), request.actor, page.items);
    return { ...page, items };
  },
  users: async (request) => {
    const around = aroundOf(request);
    return mapPage(await searchUsers(request), (row) => presentUserBasic(around, row));
  },
  notes: inProject(async (request, project) => {
    const page = await searchNotes(request, project);
    return { ...page, items: presentNotes(request, page.items) };
  }, ADVANCED),
  blobs: inProject(searchBlobs, `${ADVANCED} or exact code search`),
  commits: inProject(searchCommits, ADVANCED),
  wiki_blobs: inProject(searchWiki, ADVANCED),
};

const aroundOf = ({ services, settings }: SearchRequest) => ({ baseUrl: services.baseUrl(), settings });

/** PostgreSQL ended the statement at its timeout. */
const isCutOff = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '57014';

const tookTooLong = (cause: unknown): Failure =>
  new Failure('request_timeout', 'Request timed out', { cause });
