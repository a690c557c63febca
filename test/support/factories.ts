/** Users with a token, groups, projects and members for scenarios; all but users are made through the API as root. */
import { ok } from 'node:assert/strict';
import type { Called, Site, TestApp } from './app.ts';
import { type MadeUser, makeUser, PASSWORD, uniqueName } from './rows.ts';

export { type MadeUser, makeUser, uniqueName } from './rows.ts';

/** The body of a response that must have this status. */
export function bodyOf(called: Called, status: number): Called['body'] {
  ok(called.status === status, `status ${called.status} instead of ${status}: ${called.text}`);
  return called.body;
}

/** A user made by an administrator's request, with attributes as of POST /users, and with a token of the scope api. */
export async function createUser(app: Site, attributes: Record<string, unknown>): Promise<MadeUser> {
  const username = uniqueName('user');
  const body = {
    username,
    name: username,
    email: `${username}@example.com`,
    password: PASSWORD,
    skip_confirmation: true,
    ...attributes,
  };
  const { id, ...user } = bodyOf(await app.root('POST /users', { body }), 201);
  const path = `POST /users/${id}/personal_access_tokens`;
  const { token } = bodyOf(await app.root(path, { body: { name: 'test', scopes: ['api'] } }), 201);
  return { id, username: user.username, email: user.email, token };
}

export type MadeGroup = { id: number; full_path: string };

/** A private group of root's; `attributes` as of POST /groups. */
export async function makeGroup(app: TestApp, attributes: Record<string, unknown> = {}): Promise<MadeGroup> {
  const path = uniqueName('group');
  const body = { name: path, path, visibility: 'private', ...attributes };
  return bodyOf(await app.root('POST /groups', { body }), 201);
}

export type MadeProject = { id: number; path_with_namespace: string };

/** A private project of root's; `attributes` as of POST /projects. */
export async function makeProject(
  app: TestApp,
  attributes: Record<string, unknown> = {},
): Promise<MadeProject> {
  const path = uniqueName('project');
  const body = { name: path, path, visibility: 'private', ...attributes };
  return bodyOf(await app.root('POST /projects', { body }), 201);
}

/** Files as a new snippet takes them, each with its path for a content. */
export const snippetFiles = (...paths: string[]): { file_path: string; content: string }[] =>
  paths.map((file_path) => ({ file_path, content: `of ${file_path}` }));

/** The record of a new private snippet of the user's, at `/snippets` or `/projects/1/snippets`. */
export async function makeSnippet(
  app: TestApp,
  path: string,
  user: Pick<MadeUser, 'token'>,
  attributes: Record<string, unknown> = {},
): Promise<Called['body']> {
  const body = { title: 'Snippet', visibility: 'private', files: snippetFiles('a.txt'), ...attributes };
  return bodyOf(await app.as(user.token)(`POST ${path}`, { body }), 201);
}

/** Makes the user a member of `projects/1` or `groups/1` with an access level. */
export async function addMember(
  app: TestApp,
  source: `projects/${number}` | `groups/${number}`,
  user: Pick<MadeUser, 'id'>,
  accessLevel: number,
): Promise<void> {
  const body = { user_id: user.id, access_level: accessLevel };
  bodyOf(await app.root(`POST /${source}/members`, { body }), 201);
}

/** The names of the audit events about a user, newest first. */
export async function auditEventsOf(app: TestApp, userId: number): Promise<string[]> {
  const query = `entity_type=User&entity_id=${userId}&per_page=100`;
  const events = bodyOf(await app.root('GET /audit_events', { query }), 200);
  return events.map((event: { event_name: string }) => event.event_name);
}

const levels = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 };

/** A new user for each of the roles in `projects/1` or `groups/1`. */
export async function makeMembers<Role extends keyof typeof levels>(
  app: TestApp,
  source: `projects/${number}` | `groups/${number}`,
  ...roles: readonly Role[]
): Promise<Record<Role, MadeUser>> {
  const made: [Role, MadeUser][] = [];
  for (const role of roles) {
    const user = await makeUser(app);
    await addMember(app, source, user, levels[role]);
    made.push([role, user]);
  }
  return Object.fromEntries(made) as Record<Role, MadeUser>; // one for each
}
