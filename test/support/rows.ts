/** Users, groups and projects for tests, written as rows: a test then depends on its own capability only. */
import { randomUUID } from 'node:crypto';
import { digest } from '../../src/platform/secret.ts';
import type { TestApp } from './app.ts';

export type Made = { id: number; path: string };
export type MadeUser = { id: number; username: string; email: string; token: string };

const db = (app: TestApp) => app.app.services.database.db;
const stamps = () => ({ created_at: new Date(), updated_at: new Date() });
const unique = (word: string): string => `${word}-${randomUUID().slice(0, 8)}`;

/** A user with a confirmed address, a personal namespace and a token with the scope api. */
export async function makeUser(
  app: TestApp,
  given: { username?: string; kind?: string } = {},
): Promise<MadeUser> {
  const { username = unique('user'), kind = 'human' } = given;
  const email = `${username}@example.org`;
  const confirmed_at = new Date();
  const { id } = await db(app)
    .insertInto('users')
    .values({
      ...{ username, name: username, email, kind, confirmed_at },
      ...{ projects_limit: 100, can_create_group: true, ...stamps() },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db(app)
    .insertInto('emails')
    .values({ user_id: id, email, confirmed_at, ...stamps() })
    .execute();
  await makeNamespace(app, { kind: 'user', name: username, path: username, owner_id: id, visibility: 20 });
  const token = `glpat-${randomUUID()}`;
  await db(app)
    .insertInto('access_tokens')
    .values({
      kind: 'personal',
      digest: digest(token),
      user_id: id,
      name: 'test',
      scopes: ['api'],
      ...stamps(),
    })
    .execute();
  return { id, username, email, token };
}

type Namespace = { name: string; path: string; visibility: number; parent_id?: number } & (
  | { kind: 'group' }
  | { kind: 'user'; owner_id: number }
);

async function makeNamespace(app: TestApp, row: Namespace): Promise<Made> {
  const parent = await db(app)
    .selectFrom('namespaces')
    .select(['full_path', 'full_name', 'ancestor_ids'])
    .where('id', '=', row.parent_id ?? 0)
    .executeTakeFirst();
  const full_path = parent ? `${parent.full_path}/${row.path}` : row.path;
  const full_name = parent ? `${parent.full_name} / ${row.name}` : row.name;
  const { id } = await db(app)
    .insertInto('namespaces')
    .values({ ...row, full_path, full_name, ancestor_ids: [], ...stamps() })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db(app)
    .updateTable('namespaces')
    .set({ ancestor_ids: [...(parent?.ancestor_ids ?? []), id] })
    .where('id', '=', id)
    .execute();
  return { id, path: full_path };
}

/** A group, private by default, with its owner as a member. */
export async function makeGroup(
  app: TestApp,
  given: { name?: string; parent?: Made; owner?: MadeUser; visibility?: number } = {},
): Promise<Made> {
  const { name = unique('group'), visibility = 0 } = given;
  const parent = given.parent && { parent_id: given.parent.id };
  const path = name.toLowerCase();
  const group = await makeNamespace(app, { kind: 'group', name, path, visibility, ...parent });
  if (given.owner) await makeMember(app, { namespace_id: group.id }, given.owner, 50);
  return group;
}

/** A project of a group, or of a user's personal namespace; private by default. */
export async function makeProject(
  app: TestApp,
  given: { of: Made | MadeUser; name?: string; visibility?: number },
): Promise<Made> {
  const { of, name = unique('project'), visibility = 0 } = given;
  const full_path = 'path' in of ? of.path : of.username;
  const path = name.toLowerCase();
  const namespace = await db(app)
    .selectFrom('namespaces')
    .select('id')
    .where('full_path', '=', full_path)
    .executeTakeFirstOrThrow();
  const { id } = await db(app)
    .insertInto('projects')
    .values({ namespace_id: namespace.id, name, path, visibility, last_activity_at: new Date(), ...stamps() })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, path: `${full_path}/${path}` };
}

/** A membership of one project or one group. */
export async function makeMember(
  app: TestApp,
  place: { project_id: number } | { namespace_id: number },
  user: { id: number },
  access_level: number,
  expires_at: string | null = null,
): Promise<void> {
  await db(app)
    .insertInto('members')
    .values({ ...place, user_id: user.id, access_level, expires_at, ...stamps() })
    .execute();
}
