/** The lists of merge requests: everywhere, in a group, in a project. */
import Type, { type Static, type TObject } from 'typebox';
import { anyone, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { forbidden, unauthenticated } from '../../../platform/failure.ts';
import { commitIdsBetween } from '../../../platform/git/history/history.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { OneDeployment, selectDeployedRange } from '../../ci/index.ts';
import { type Filter, projectsAcross, type Visible } from '../../planning/index.ts';
import { readRepository } from '../../repositories/index.ts';
import { mergeRequestLists } from '../records/list-queries.ts';
import { ListedMergeRequest, presentMergeRequests, simpleRecord } from '../records/merge-request-records.ts';
import { visibleMergeRequests, visibleMergeRequestsOf } from '../records/visibility-queries.ts';
import { mergedAmong, mergeRequestFilter } from './filter-queries.ts';
import { recheck } from './recheck.ts';
import {
  MergeRequestListFields,
  type MergeRequestListInput,
  type MergeRequestScope,
  ProjectListFields,
} from './schema.ts';

/** Commits of a deployment that are looked at, the newest. */
const MAX_COMMITS = 10_000;

const across = {
  ...MergeRequestListFields,
  non_archived: Type.Optional(
    Type.Boolean({ default: true, description: 'Only those of projects that are not archived.' }),
  ),
};

type ListContext = Pick<
  Context<Static<TObject>, unknown, Caller>,
  'db' | 'services' | 'settings' | 'actor' | 'page'
> & { input: MergeRequestListInput };

/** One page of the records, newest first unless the client orders otherwise. */
async function mergeRequestPage(
  request: ListContext,
  visible: Visible,
  scope: MergeRequestScope,
  { among = [], ...options }: { across?: boolean; among?: Filter },
): Promise<Page<ListedMergeRequest>> {
  const { db, services, actor, input, page } = request;
  const filter = [...mergeRequestFilter(input, actor, scope, now().toISOString().slice(0, 10)), ...among];
  const query = { visible, filter, by: input.order_by ?? 'created_at', sort: input.sort ?? 'desc' } as const;
  const listed = await mergeRequestLists.page(db, query, page);
  if (input.with_merge_status_recheck) await recheck(services, actor, listed.items);
  const details = { ...options, withLabelsDetails: input.with_labels_details ?? false };
  const records = await presentMergeRequests(request, listed.items, details);
  const items: ListedMergeRequest[] = input.view === 'simple' ? records.map(simpleRecord) : records;
  return { ...listed, items };
}

export const groupMergeRequestsEndpoint = listing({
  method: 'GET',
  path: '/groups/:id/merge_requests',
  summary: 'Merge requests into the projects of a group and its subgroups.',
  access: onGroup('read_group'),
  page: 'offset',
  input: Type.Object(across),
  item: ListedMergeRequest,
  handle: (context) => {
    const projects = projectsAcross(context.subject, context.input.non_archived ?? true);
    const visible = visibleMergeRequests(context.actor, projects);
    return mergeRequestPage(context, visible, 'all', { across: true });
  },
});

export const projectMergeRequestsEndpoint = listing({
  method: 'GET',
  path: '/projects/:id/merge_requests',
  summary: 'Merge requests into a project.',
  access: onProject('read_merge_requests'),
  page: 'offset',
  input: Type.Object(ProjectListFields),
  item: ListedMergeRequest,
  handle: (context) =>
    mergeRequestPage(context, visibleMergeRequestsOf(context.subject, context.actor), 'all', {}),
});

export const mergeRequestListEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/merge_requests',
    summary: 'Merge requests that the caller sees; those that the caller created unless a scope is named.',
    access: anyone,
    page: 'offset',
    input: Type.Object(across),
    item: ListedMergeRequest,
    handle: (context) => {
      const { actor, input } = context;
      if (!actor && input.scope !== 'all') throw unauthenticated();
      const projects = projectsAcross(undefined, input.non_archived ?? true);
      const visible = visibleMergeRequests(actor, projects);
      return mergeRequestPage(context, visible, 'created_by_me', { across: true });
    },
  }),
  groupMergeRequestsEndpoint,
  projectMergeRequestsEndpoint,
  listing({
    method: 'GET',
    path: '/projects/:id/deployments/:deployment_id/merge_requests',
    summary: 'Merge requests whose commits a deployment brought that the one before it did not have.',
    access: onProject('read_merge_requests'),
    jobToken: true,
    page: 'offset',
    input: Type.Object({ ...ProjectListFields, ...OneDeployment.properties }),
    item: ListedMergeRequest,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      if (!subject.may('read_environments')) throw forbidden();
      const range = found(await selectDeployedRange(db, subject, input.deployment_id), 'Deployment');
      const commits = await readRepository(services, subject, async (git) => {
        const [before, head] = [range.before ?? undefined, range.sha];
        if (!(await findCommit(git, head))) return [];
        const known = before !== undefined && (await findCommit(git, before)) ? before : undefined;
        return commitIdsBetween(git, known, head, MAX_COMMITS);
      });
      const visible = visibleMergeRequestsOf(subject, actor);
      return mergeRequestPage(context, visible, 'all', { among: [mergedAmong(commits ?? [])] });
    },
  }),
];
