/** The lists of merge requests around something else: a milestone, an issue, a commit. */
import type { RawBuilder } from 'kysely';
import Type from 'typebox';
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { type Filter, projectsOf, selectMilestone, type Visible } from '../../planning/index.ts';
import { readCommit } from '../../repositories/index.ts';
import { readIssue } from '../../work-items/index.ts';
import { mergeRequestLists } from '../records/list-queries.ts';
import { MergeRequestBasicRecord, presentMergeRequests } from '../records/merge-request-records.ts';
import { visibleMergeRequests, visibleMergeRequestsOf } from '../records/visibility-queries.ts';
import {
  among,
  bringingCommit,
  closingIssue,
  inState,
  ofMilestone,
  projectsAmong,
  relatedToIssue,
} from './around-queries.ts';
import { MergeRequestListFields } from './schema.ts';

type ListContext<Subject> = Pick<
  Context<unknown, Subject, Caller>,
  'db' | 'services' | 'settings' | 'actor' | 'subject' | 'page'
>;

type Query = {
  visible: Visible;
  filter: Filter;
  by: 'label_priority' | 'created_at';
  sort: 'asc' | 'desc';
};

async function pageOf(
  context: ListContext<ResourceParent>,
  query: Query,
  across: boolean,
): Promise<Page<MergeRequestBasicRecord>> {
  const listed = await mergeRequestLists.page(context.db, query, context.page);
  return { ...listed, items: await presentMergeRequests(context, listed.items, { across }) };
}

/** Listed as the milestone's issues are: the most urgent label first. */
const ofMilestoneOf = (word: 'project' | 'group', read: Access<ResourceParent, Caller>): Endpoint =>
  listing({
    method: 'GET',
    path: `/${word}s/:id/milestones/:milestone_id/merge_requests`,
    summary: `Merge requests of a milestone of a ${word}, as far as the caller sees them.`,
    access: read,
    page: 'offset',
    input: Type.Object({ milestone_id: integerId() }),
    item: MergeRequestBasicRecord,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const milestone = found(await selectMilestone(db, subject, input.milestone_id));
      const visible = visibleMergeRequests(actor, projectsOf(subject));
      const query = { visible, filter: [ofMilestone(milestone)], by: 'label_priority', sort: 'asc' } as const;
      return pageOf(context, query, !isProject(subject));
    },
  });

const issuePath = '/projects/:id/issues/:issue_iid';
const OneIssue = Type.Object({ issue_iid: integerId() });

/** Oldest first: of one project, by their numbers. */
const aroundIssue = (context: ListContext<AuthorizedProject>, ids: RawBuilder<unknown>) => {
  const visible = visibleMergeRequests(context.actor, projectsAmong(ids));
  return pageOf(context, { visible, filter: [among(ids)], by: 'created_at', sort: 'asc' }, true);
};

export const mergeRequestsAroundEndpoints: Endpoint[] = [
  ofMilestoneOf('project', onProject('read_planning')),
  ofMilestoneOf('group', onGroup('read_planning')),
  listing({
    method: 'GET',
    path: `${issuePath}/related_merge_requests`,
    summary: 'Merge requests that mention an issue, or close it, as far as the caller sees them.',
    access: onProject('read_issues'),
    page: 'offset',
    input: OneIssue,
    item: MergeRequestBasicRecord,
    handle: async (context) => {
      const { actor, subject, input } = context;
      const issue = await readIssue(context, subject, actor, input.issue_iid);
      return aroundIssue(context, relatedToIssue(issue));
    },
  }),
  listing({
    method: 'GET',
    path: `${issuePath}/closed_by`,
    summary: 'Merge requests that close an issue when they are merged, as far as the caller sees them.',
    access: onProject('read_issues'),
    page: 'offset',
    input: OneIssue,
    item: MergeRequestBasicRecord,
    handle: async (context) => {
      const { actor, subject, input } = context;
      return aroundIssue(context, closingIssue(await readIssue(context, subject, actor, input.issue_iid)));
    },
  }),
  listing({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/merge_requests',
    summary: 'Merge requests of a project that brought a commit, newest first.',
    also: [422],
    // Who reads merge requests reads the repository, too.
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: Type.Object({ sha: Type.String(), state: MergeRequestListFields.state }),
    item: MergeRequestBasicRecord,
    handle: async (context) => {
      const { services, actor, subject, input } = context;
      const { state } = input;
      const sha = await readCommit(services, subject, input.sha, async (_, { oid }) => oid);
      const visible = visibleMergeRequestsOf(subject, actor);
      const filter = [
        among(bringingCommit(sha)),
        ...(state === undefined || state === 'all' ? [] : [inState(state)]),
      ];
      return pageOf(context, { visible, filter, by: 'created_at', sort: 'desc' }, false);
    },
  }),
];
