/** Search scopes: the owner of each kind of thing tells how it is found, and as which record it is shown. */
import type { Static, TSchema } from 'typebox';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { Failure } from '../../platform/failure.ts';
import type { Page } from '../../platform/pagination/page.ts';
import type { SearchRequest } from './request.ts';
import type { ScopeName } from './schema.ts';

export type SearchScope<T extends TSchema = TSchema> = { record: T } & (
  | { find(request: SearchRequest): Promise<Page<Static<T>>> }
  | {
      findInProject(request: SearchRequest, project: AuthorizedProject): Promise<Page<Static<T>>>;
      /** There is none: outside of a project the search is refused. */
      index: 'advanced search' | 'advanced search or exact code search';
    }
);

export type SearchScopes = Readonly<Record<ScopeName, SearchScope>>;

/** One page of the scope's results for the caller; 408 when it takes too long. */
export async function runSearch(
  scopes: SearchScopes,
  request: SearchRequest,
  name: ScopeName,
): Promise<Page<unknown>> {
  try {
    return await find(scopes[name], request);
  } catch (error) {
    throw isCutOff(error) ? tookTooLong(error) : error;
  }
}

async function find(scope: SearchScope, request: SearchRequest): Promise<Page<unknown>> {
  if ('find' in scope) return scope.find(request);
  if (request.container.in === 'project') return scope.findInProject(request, request.container.project);
  const refusal = `Scope supported only with ${scope.index}`;
  throw new Failure('bad_request', refusal, { error: refusal });
}

/** PostgreSQL ended the statement at its timeout. */
const isCutOff = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '57014';

const tookTooLong = (cause: unknown): Failure =>
  new Failure('request_timeout', 'Request timed out', { cause });
