/** Rules of endpoints for both kinds of callers: HTTP requests, and internal ones of pages. */

import { Failure, forbidden } from '../../platform/failure.ts';
import { createShare, refuseMoreData } from '../../platform/fair-share.ts';
import type { PageRequest } from '../../platform/pagination/page.ts';
import { choosePagination, type KeysetRule, type PageQuery } from '../../platform/pagination/pagination.ts';
import type { Caller } from '../actor.ts';
import type { Services } from '../services.ts';
import type { Context, Endpoint } from './endpoint.ts';

type Config = Services['config'];

/** The keyset rule of a list, if it has one. */
export const keysetRuleOf = ({ page }: Endpoint): KeysetRule | undefined =>
  typeof page === 'object' ? page : undefined;

/** 404 for an endpoint that the offering or a flag hides. */
export async function refuseHidden(
  spec: Endpoint,
  { offering }: Pick<Config, 'offering'>,
  isOn: (flag: string) => Promise<boolean>,
): Promise<void> {
  if ((spec.offering === 'self_managed' && offering === 'hosted') || (spec.flag && !(await isOn(spec.flag))))
    throw new Failure('not_found', '404 Not Found', { error: '404 Not Found' });
}

const tierOrder = { free: 0, premium: 1, ultimate: 2 } as const;

/** 403 for an endpoint of a higher tier. */
export function refuseTier(spec: Endpoint, { tier }: Pick<Config, 'tier'>): void {
  if (spec.tier && tierOrder[tier] < tierOrder[spec.tier]) throw forbidden();
}

/** Administrators end maintenance by the endpoints of the instance. */
export const endsMaintenance = ({ path }: Pick<Endpoint, 'path'>, caller: Caller): boolean =>
  path.startsWith('/application/') && caller?.admin === true;

/** The requested page; the decoded `input` of a list includes the fields of pages. */
export function pageRequestOf(spec: Endpoint, input: unknown, caller: Caller, config: Config): PageRequest {
  if (!spec.page) return { kind: 'offset', page: 1, perPage: 1, offset: 0, countLimit: 0 };
  const query = input as PageQuery;
  const chosen = choosePagination(keysetRuleOf(spec), query, caller !== undefined, config.maximumOffset);
  return { ...chosen, countLimit: config.paginationCountLimit };
}

/** Searches scan whole texts, and sizes are added up: they take a core of the database while they run. */
const searches = createShare({
  of: 'searches',
  places: 4,
  perCaller: 2,
  waitingPerCaller: 20,
  waiting: 200,
  timeoutMs: 10_000,
});

/** Whether a text is searched for, by the parameters of lists and of package programs, or sizes are asked for. */
const isSearch = (input: unknown): boolean => {
  const { search, query, q, statistics } = input as Readonly<Record<string, unknown>>;
  return statistics === true || [search, query, q].some((text) => typeof text === 'string' && text !== '');
};

/** Runs the handler; a search waits for its slot, and a list is refused over the caller's memory budget. */
export async function runHandler(
  spec: Endpoint,
  context: Context<unknown, unknown, Caller>,
): Promise<unknown> {
  if (spec.page) refuseMoreData();
  return isSearch(context.input)
    ? searches.run(() => spec.handle(context), context.request.signal)
    : spec.handle(context);
}
