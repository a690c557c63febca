/** What each scope finds, as records: one function for all three places. */
import type { AuthorizedProject } from '../../core/access/find.ts';
import { presentUserBasic } from '../../core/identity/records.ts';
import { presentBasicProject } from '../../core/namespaces/project-records.ts';
import { presentSnippets } from '../../core/repositories/snippet-records.ts';
import { presentIssues } from '../../core/work/issue-records.ts';
import { presentMilestone } from '../../core/work/milestone-records.ts';
import { presentNotes } from '../../core/work/note-records.ts';
import { mapPage, type Page } from '../../platform/db/page.ts';
import { Failure } from '../../platform/failure.ts';
import { searchBlobs, searchCommits, searchWiki } from './files.ts';
import { searchNotes } from './notes.ts';
import { searchIssues, searchMilestones, searchProjects, searchSnippets, searchUsers } from './queries.ts';
import { nothing, type Question } from './question.ts';
import type { Scope, SearchRecord } from './schema.ts';

/** One page of what the scope finds for the caller; 400 where only an index over all projects could tell, 408 when it takes too long. */
export async function runSearch(question: Question, scope: Scope): Promise<Page<SearchRecord>> {
  try {
    return await scopes[scope](question);
  } catch (error) {
    throw isCutOff(error) ? tookTooLong(error) : error;
  }
}

type Search = (question: Question) => Promise<Page<SearchRecord>>;

const inProject =
  (
    search: (question: Question, project: AuthorizedProject) => Promise<Page<SearchRecord>>,
    refusal: string,
  ): Search =>
  async (question) => {
    if (question.place.in !== 'project') throw new Failure('bad_request', refusal, { error: refusal });
    return search(question, question.place.project);
  };

const ADVANCED = 'Scope supported only with advanced search';

const scopes: Record<Scope, Search> = {
  projects: async (question) => {
    const view = {
      ...aroundOf(question),
      admin: question.actor?.admin ?? false,
      signedIn: question.actor !== undefined,
    };
    return mapPage(await searchProjects(question), (row) => presentBasicProject(view, row));
  },
  issues: async (question) => {
    const page = await searchIssues(question);
    const across = question.place.in !== 'project';
    return { ...page, items: await presentIssues(question, page.items, { across }) };
  },
  // There are none yet.
  merge_requests: async () => nothing,
  milestones: async (question) => {
    const { baseUrl } = aroundOf(question);
    return mapPage(await searchMilestones(question), (row) =>
      presentMilestone(row, { baseUrl, fullPath: row.full_path }),
    );
  },
  snippet_titles: async (question) => {
    const page = await searchSnippets(question);
    const items = await presentSnippets(question.db, aroundOf(question), question.actor, page.items);
    return { ...page, items };
  },
  users: async (question) => {
    const around = aroundOf(question);
    return mapPage(await searchUsers(question), (row) => presentUserBasic(around, row));
  },
  notes: inProject(async (question, project) => {
    const page = await searchNotes(question, project);
    return {
      ...page,
      items: await presentNotes({ db: question.db, around: aroundOf(question) }, page.items),
    };
  }, ADVANCED),
  blobs: inProject(searchBlobs, `${ADVANCED} or exact code search`),
  commits: inProject(searchCommits, ADVANCED),
  wiki_blobs: inProject(searchWiki, ADVANCED),
};

const aroundOf = ({ services, settings }: Question) => ({ baseUrl: services.baseUrl(), settings });

/** The database ended the statement, whose time was over. */
const isCutOff = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '57014';

const tookTooLong = (cause: unknown): Failure =>
  new Failure('request_timeout', 'Request timed out', { cause });
