/** Labels, milestones and issues for scenarios, made through the API. */
import type { Called, TestApp } from './app.ts';
import { bodyOf, type MadeUser, uniqueName } from './factories.ts';

/** The parent: `projects/1` or `groups/1`. */
type ParentPath = `projects/${number}` | `groups/${number}`;

/** The author; root unless a user is named. */
const by = (app: TestApp, user: Pick<MadeUser, 'token'> | undefined) =>
  user ? app.as(user.token) : app.root;

/** The record of a new label; `attributes` as of POST /projects/:id/labels. */
export async function makeLabel(
  app: TestApp,
  place: ParentPath,
  attributes: Record<string, unknown> = {},
  user?: Pick<MadeUser, 'token'>,
): Promise<Called['body']> {
  const body = { name: uniqueName('label'), color: '#FF0000', ...attributes };
  return bodyOf(await by(app, user)(`POST /${place}/labels`, { body }), 201);
}

/** The record of a new milestone; `attributes` as of POST /projects/:id/milestones. */
export async function makeMilestone(
  app: TestApp,
  place: ParentPath,
  attributes: Record<string, unknown> = {},
  user?: Pick<MadeUser, 'token'>,
): Promise<Called['body']> {
  const body = { title: uniqueName('milestone'), ...attributes };
  return bodyOf(await by(app, user)(`POST /${place}/milestones`, { body }), 201);
}

/** The record of a new issue; `attributes` as of POST /projects/:id/issues. */
export async function makeIssue(
  app: TestApp,
  project: { id: number },
  attributes: Record<string, unknown> = {},
  user?: Pick<MadeUser, 'token'>,
): Promise<Called['body']> {
  const body = { title: uniqueName('issue'), ...attributes };
  return bodyOf(await by(app, user)(`POST /projects/${project.id}/issues`, { body }), 201);
}
