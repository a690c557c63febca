/** Users, groups and projects for tests, written as rows: a test then depends on its own capability only. */
import { randomUUID } from 'node:crypto';
import { insertUser } from '../../src/kernel/users/new-user-actions.ts';
import { now } from '../../src/platform/clock.ts';
import { inTransaction } from '../../src/platform/db/database.ts';
import { digest } from '../../src/platform/secret.ts';
import type { TestApp } from './app.ts';

export type Made = { id: number; path: string };
export type MadeUser = { id: number; username: string; email: string; token: string };

const db = (app: TestApp) => app.app.services.database.db;
const stamps = () => ({ created_at: new Date(), updated_at: new Date() });

let made = 0;
/** A name that no other test of the file uses. */
export const uniqueName = (word: string): string => `${word}-${++made}`;

export type UserColumns = Partial<Parameters<typeof insertUser>[1]>;

/** The users' password, and its hash: to make one takes a core for a while. */
export const PASSWORD = 'correct horse battery staple';
const PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$GGNZd7gRg7BC+fICe2Z03A$QH1FJ+XkhmdmZXNVSSJbyblw8bbWtGbFzrATrgC8QrA';

/** A user with a confirmed address, a personal namespace, `PASSWORD` and a token with the scope api. */
export async function makeUser(app: TestApp, columns: UserColumns = {}): Promise<MadeUser> {
  const { username = uniqueName('user') } = columns;
  const { email = `${username}@example.com` } = columns;
  const token = `glpat-${randomUUID()}`;
  const id = await inTransaction(db(app), async (tx) => {
    const user_id = await insertUser(tx, {
      ...{ username, name: username, email, confirmed_at: now() },
      ...{ password_hash: PASSWORD_HASH, password_changed_at: now() },
      ...{ projects_limit: 100_000, can_create_group: true },
      ...columns,
    });
    await tx
      .insertInto('access_tokens')
      .values({
        ...{ kind: 'personal', digest: digest(token), user_id, name: 'test', scopes: ['api'] },
        ...{ created_at: now(), updated_at: now() },
      })
      .execute();
    return user_id;
  });
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
  const { name = uniqueName('group'), visibility = 0 } = given;
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
  const { of, name = uniqueName('project'), visibility = 0 } = given;
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
