/** The three containers of search, two of them with two addresses (facts: Further groups, Search). */
import Type, { type TSchema } from 'typebox';
import { onGroup, onProject, signedIn } from '../../kernel/access/access.ts';
import type { Caller } from '../../kernel/actor.ts';
import { type CallLimit, type Context, type Endpoint, listing } from '../../kernel/api/endpoint.ts';
import { badRequest } from '../../platform/failure.ts';
import type { SearchContainer, SearchRequest } from './request.ts';
import { GroupInput, InstanceInput, ProjectInput, type ScopeName } from './schema.ts';
import { runSearch, type SearchScopes } from './scopes.ts';

const limit: CallLimit = {
  name: 'search',
  setting: 'search_rate_limit',
  anonymousSetting: 'search_rate_limit_unauthenticated',
  periodSeconds: 60,
};

type Input = Pick<SearchRequest, 'search' | 'state' | 'confidential' | 'ref'> & {
  scope: ScopeName;
  include_archived?: boolean;
};

export function searchEndpoints(scopes: SearchScopes): Endpoint[] {
  function searchIn(context: Context<Input, unknown, Caller>, container: SearchContainer) {
    const { db, services, settings, actor, input, page } = context;
    const { scope, search, state, confidential, ref, include_archived } = input;
    if (page.kind !== 'offset') throw badRequest('pagination is by offset');
    const includeArchived = include_archived ?? false;
    const request = { db, services, settings, actor, container, search, state, confidential, ref, page };
    return runSearch(scopes, { ...request, includeArchived }, scope);
  }

  const records = new Set(Object.values(scopes).map(({ record }) => record));
  const item: TSchema = Type.Union([...records]);
  const shared = { method: 'GET', page: 'offset', item, limit, also: [408, 422] } as const;

  const ofGroup = (path: string): Endpoint =>
    listing({
      ...shared,
      path,
      summary: 'Searches in a group and all that is below it.',
      access: onGroup('read_group'),
      input: GroupInput,
      handle: (context) => searchIn(context, { in: 'group', group: context.subject }),
    });

  const ofProject = (path: string): Endpoint =>
    listing({
      ...shared,
      path,
      summary: 'Searches in a project.',
      access: onProject('read_project'),
      input: ProjectInput,
      handle: (context) => searchIn(context, { in: 'project', project: context.subject }),
    });

  return [
    listing({
      ...shared,
      path: '/search',
      summary: 'Searches in all that the caller sees.',
      access: signedIn,
      input: InstanceInput,
      handle: (context) => searchIn(context, { in: 'instance' }),
    }),
    ofGroup('/groups/:id/search'),
    ofGroup('/groups/:id/-/search'),
    ofProject('/projects/:id/search'),
    ofProject('/projects/:id/-/search'),
  ];
}
