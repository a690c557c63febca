/**
 * Lists and their pages, for the contract tests: the endpoints that list, the pages of a `Link` header, a
 * walk by the links.
 */
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import type { Call, Called, TestApp } from './app.ts';
import { titleOf } from './inventory.ts';
import { isEmptyList, isFixedList } from './samples.ts';

/** The message for a client that requests keyset pages of a list without them. */
export const noKeyset = 'Keyset pagination is not yet available for this type of request';

export const lists = (app: TestApp): Endpoint[] => app.app.endpoints.filter(({ page }) => page !== undefined);

/** The lists that the world of the tests makes as long as the others. */
export const filledLists = (app: TestApp): Endpoint[] =>
  lists(app).filter((spec) => !isEmptyList(titleOf(spec)) && !isFixedList(titleOf(spec)));

/** The pages that a `Link` header names. */
export function linksOf({ headers }: Called): Record<string, string> {
  const found = (headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(prev|next|first|last)"/g);
  return Object.fromEntries([...found].map(([, url = '', relation = '']) => [relation, url]));
}

/** The items of all pages, by the links alone, and the last response. */
export async function walk(
  app: TestApp,
  call: Call,
  path: string,
  query: string,
): Promise<{ items: string[]; last: Called }> {
  const items: string[] = [];
  let last = await call(`GET ${path}`, { query });
  for (let pages = 1; pages < 100; pages++) {
    if (last.status !== 200) throw new Error(`${path}?${query}: ${last.status} ${last.text}`);
    items.push(...last.body.map((item: unknown) => JSON.stringify(item)));
    const { next } = linksOf(last);
    if (next === undefined) break;
    last = await call(`GET ${next.replace(app.url, '')}`, { raw: true });
  }
  return { items, last };
}
