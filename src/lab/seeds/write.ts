/** A running instance as a seed: what planted elsewhere is the same world, as far as seeds describe it. */
import { stringify } from 'yaml';
import { personsOf, type SeedApp } from './api.ts';
import { ROOT } from './planting.ts';
import { projectOf } from './project-as-seed.ts';
import { newRoom } from './read-history.ts';
import type { SeedApplication, SeedDocument, SeedGroup, SeedUser } from './schema.ts';
import { applicationDetails } from './secret-queries.ts';
import {
  filled,
  inOrder,
  membersOf,
  one,
  planningOf,
  type Reading,
  type TokenRecord,
  tokensOf,
  usualOf,
} from './writing.ts';

/** Without passwords, which nobody can read; tokens and secrets by their SHA-256. */
export async function writeSeed(app: SeedApp): Promise<SeedDocument> {
  const api = await personsOf(app).as(ROOT);
  type Listed = { id: number };
  const users = await api.all<UserRecord>('GET /users', {
    humans: true,
    exclude_internal: true,
    order_by: 'id',
    sort: 'asc',
  });
  const usernames = new Set(users.map(({ username }) => username));
  const reading: Reading = { app, api, usernames, room: newRoom() };
  const groups = await api.all<Listed>('GET /groups', { all_available: true, order_by: 'id', sort: 'asc' });
  const projects = await api.all<Listed>('GET /projects', { order_by: 'id', sort: 'asc' });
  return filled({
    users: (await inOrder(users, (user) => userOf(reading, user))).filter(
      ({ username, tokens }) => username !== ROOT || tokens !== undefined,
    ),
    groups: await inOrder(groups, ({ id }) => groupOf(reading, id)),
    projects: await inOrder(projects, ({ id }) => projectOf(reading, id)),
    applications: await applicationsOf(reading),
  });
}

/** The document as YAML. */
export const seedText = (document: SeedDocument): string =>
  stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });

type UserRecord = {
  id: number;
  username: string;
  name: string;
  email: string;
  bio: string | null;
  state: string;
  is_admin: boolean;
  external: boolean;
};
/** The one of the first start, which each instance has. */
const ROOT_TOKEN = 'root token';

async function userOf({ app, api }: Reading, user: UserRecord): Promise<SeedUser> {
  const { id, username, name, email, bio, state, is_admin: admin, external } = user;
  const all = await api.all<TokenRecord>('GET /personal_access_tokens', { user_id: id, state: 'active' });
  const tokens = all.filter((token) => username !== ROOT || token.name !== ROOT_TOKEN);
  const described = { tokens: await tokensOf(app, tokens) };
  // Of root the rest is each instance's own.
  if (username === ROOT) return filled<SeedUser>({ username, ...described });
  const isBlocked = state.includes('blocked') || state === 'banned';
  const usual = {
    name: username,
    email: `${username}@example.com`,
    admin: false,
    external: false,
    state: 'active',
  };
  return filled<SeedUser>(
    { username, name, email, bio, admin, external, state: isBlocked ? 'blocked' : 'active', ...described },
    usual,
  );
}

type GroupRecord = {
  id: number;
  name: string;
  full_path: string;
  description: string | null;
  visibility: SeedGroup['visibility'];
};

async function groupOf(reading: Reading, id: number): Promise<SeedGroup> {
  const {
    name,
    full_path: path,
    description,
    visibility,
  } = await one<GroupRecord>(reading, 'GET /groups/:id', { id, with_projects: false });
  const planning = await planningOf(reading, '/groups/:id', id);
  return filled<SeedGroup>(
    {
      path,
      name,
      description,
      visibility,
      members: await membersOf(reading, '/groups/:id', id),
      ...planning,
    },
    usualOf(path),
  );
}

async function applicationsOf({ app, api }: Reading): Promise<SeedApplication[]> {
  type Record = {
    id: number;
    application_id: string;
    application_name: string;
    callback_url: string;
    confidential: boolean;
  };
  const records = await api.all<Record>('GET /applications', {});
  const details = new Map((await applicationDetails(app.services.database.db)).map((row) => [row.id, row]));
  return records.flatMap(({ id, application_id, application_name: name, callback_url, confidential }) => {
    const { scopes, dynamic, sha256 } = details.get(id) ?? {};
    if (dynamic) return [];
    const redirect_uris = callback_url.split('\n');
    return filled<SeedApplication>(
      { name, id: application_id, sha256, redirect_uris, scopes, confidential },
      { confidential: true },
    );
  });
}
