/** The three containers of search, two of them with two addresses (facts: Further groups, Search). */
import { onGroup, onProject, signedIn } from '../../kernel/access/access.ts';
import type { Caller } from '../../kernel/actor.ts';
import { type CallLimit, type Context, type Endpoint, listing } from '../../kernel/api/endpoint.ts';
import { badRequest } from '../../platform/failure.ts';
import type { SearchContainer, SearchRequest } from './request.ts';
import { GroupInput, InstanceInput, ProjectInput, type Scope, SearchRecord } from './schema.ts';
import { runSearch } from './scopes.ts';

const limit: CallLimit = {
  name: 'search',
  setting: 'search_rate_limit',
  anonymousSetting: 'search_rate_limit_unauthenticated',
  periodSeconds: 60,
};

type Input = Pick<SearchRequest, 'search' | 'state' | 'confidential' | 'ref'> & {
  scope: Scope;
  include_archived?: boolean;
};

function searchIn(context: Context<Input, unknown, Caller>, container: SearchContainer) {
  const { db, services, settings, actor, input, page } = context;
  const { scope, search, state, confidential, ref, include_archived } = input;
  if (page.kind !== 'offset') throw badRequest('pagination is by offset');
  return runSearch(
    {
      db,
      services,
      settings,
      actor,
      container,
      search,
      state,
      confidential,
      ref,
      includeArchived: include_archived ?? false,
      page,
    },
    scope,
  );
}

const shared = { method: 'GET', page: 'offset', item: SearchRecord, limit } as const;

const ofGroup = (path: string): Endpoint =>
  listing({
    ...shared,
    path,
    summary: 'Searches in a group and all that is below it.',
    also: [408, 422],
    access: onGroup('read_group'),
    input: GroupInput,
    handle: (context) => searchIn(context, { in: 'group', group: context.subject }),
  });

const ofProject = (path: string): Endpoint =>
  listing({
    ...shared,
    path,
    summary: 'Searches in a project.',
    also: [408, 422],
    access: onProject('read_project'),
    input: ProjectInput,
    handle: (context) => searchIn(context, { in: 'project', project: context.subject }),
  });

export const searchEndpoints: Endpoint[] = [
  listing({
    ...shared,
    path: '/search',
    summary: 'Searches in all that the caller sees.',
    also: [408, 422],
    access: signedIn,
    input: InstanceInput,
    handle: (context) => searchIn(context, { in: 'instance' }),
  }),
  ofGroup('/groups/:id/search'),
  ofGroup('/groups/:id/-/search'),
  ofProject('/projects/:id/search'),
  ofProject('/projects/:id/-/search'),
];
