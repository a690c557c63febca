/** Callers of every kind, with the names that the world of the tests has for them. */
import { randomUUID } from 'node:crypto';
import { digest } from '../../src/platform/secret.ts';
import { ROOT_TOKEN, type TestApp } from './app.ts';
import type { SampleIds } from './inventory.ts';
import { type MadeUser, makeMember, makeUser } from './rows.ts';

/** Roles are in the group; bots have them by their tokens. */
const roles = {
  minimal: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
  blocked: 50,
  projectBot: 40,
  groupBot: 50,
} as const;

/**
 * `author` wrote the objects of the world that requests name, and is a Guest. `holder` is the user whom paths
 * name, and the owner of personal objects: a Developer through a group that was invited.
 */
export const callers = [
  'anonymous',
  'blocked',
  'outsider',
  'external',
  'auditor',
  'minimal',
  'guest',
  'author',
  'planner',
  'reporter',
  'developer',
  'holder',
  'maintainer',
  'owner',
  'projectBot',
  'groupBot',
  'admin',
] as const;
export type CallerName = (typeof callers)[number];

/** The tokens of all of them; the anonymous one has none. The world's root is an administrator no more: it is the holder. */
export async function makeCallers(app: TestApp, places: SampleIds): Promise<ReadonlyMap<CallerName, string>> {
  const { sql } = app.app.services.database;
  const tokens = new Map<CallerName, string>([['holder', ROOT_TOKEN]]);
  for (const name of callers) {
    if (name === 'anonymous' || name === 'holder' || name.endsWith('Bot') || name === 'author') continue;
    const user = await makeUser(app, { username: `the-${name}` });
    tokens.set(name, user.token);
    const level = Object.entries(roles).find(([role]) => role === name)?.[1];
    if (level !== undefined) await makeMember(app, { namespace_id: places.group }, user, level);
  }
  await sql`update users set admin = (username = 'the-admin'), auditor = (username = 'the-auditor'),
    external = (username = 'the-external') where username in ('root', 'the-admin', 'the-auditor', 'the-external')`;
  await sql`update users set state = 'blocked' where username = 'the-blocked'`;
  tokens.set('author', await makeAuthor(app));
  tokens.set('projectBot', await makeBot(app, 'project', places));
  tokens.set('groupBot', await makeBot(app, 'group', places));
  return tokens;
}

/** The first user of the world, who keeps only the role of a guest. */
async function makeAuthor(app: TestApp): Promise<string> {
  const { sql } = app.app.services.database;
  await sql`update members set access_level = 10 where user_id = (select id from users where username = 'person-1')`;
  const token = `glpat-${randomUUID()}`;
  await sql`insert into access_tokens (kind, digest, user_id, name, scopes, created_at, updated_at)
    select 'personal', ${digest(token)}, id, 'test', array['api'], now(), now() from users where username = 'person-1'`;
  return token;
}

async function makeBot(app: TestApp, kind: 'project' | 'group', places: SampleIds): Promise<string> {
  const { sql } = app.app.services.database;
  const level = roles[`${kind}Bot`];
  const user: MadeUser = await makeUser(app, { username: `the-${kind}-bot`, kind: `${kind}_bot` });
  const place = kind === 'project' ? { project_id: places.project } : { namespace_id: places.group };
  await makeMember(app, place, user, level);
  await sql`update access_tokens set kind = ${kind}, access_level = ${level},
    project_id = ${kind === 'project' ? places.project : null},
    namespace_id = ${kind === 'group' ? places.group : null} where user_id = ${user.id}`;
  return user.token;
}
