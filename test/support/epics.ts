/** Epics for scenarios, made through the API. */
import type { Called, TestApp } from './app.ts';
import { bodyOf, type MadeUser, uniqueName } from './factories.ts';

/**
 * The record of a new epic of the group; `attributes` as of POST /groups/:id/epics. By root unless a user is
 * named.
 */
export async function makeEpic(
  app: TestApp,
  group: { id: number },
  attributes: Record<string, unknown> = {},
  user?: Pick<MadeUser, 'token'>,
): Promise<Called['body']> {
  const body = { title: uniqueName('epic'), ...attributes };
  return bodyOf(
    await (user ? app.as(user.token) : app.root)(`POST /groups/${group.id}/epics`, { body }),
    201,
  );
}
