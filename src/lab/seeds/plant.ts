/** Makes what a seed describes, or what of it is not there yet, by the endpoints of the API. */
import { checkPassword } from '../../platform/secret.ts';
import { personsOf, type SeedApp } from './api.ts';
import type { Seed } from './parse.ts';
import { fillProject, type Here, makeProject, plantHistory } from './plant-project.ts';
import {
  creatorOf,
  differences,
  given,
  type Planting,
  plantMembers,
  plantPlanning,
  ROOT,
  within,
} from './planting.ts';
import type { Path } from './read-document.ts';
import { emailOf, fullPathOf, lastPart, parentPath } from './references.ts';
import type { SeedApplication, SeedGroup, SeedProject, SeedUser } from './schema.ts';
import { setApplicationValues, setTokenValue } from './secret-actions.ts';
import { passwordHashOf, tokenWithDigest } from './secret-queries.ts';
import { signerOf } from './write-history.ts';

/** What is there now of what the seed describes: ids by usernames, full paths and client ids. */
export type Planted = {
  users: Readonly<Record<string, number>>;
  groups: Readonly<Record<string, number>>;
  projects: Readonly<Record<string, number>>;
  applications: Readonly<Record<string, number>>;
};

/** Twice does no more than once. Throws a SeedError where what is there cannot become what is described; the rest may be planted then. */
export async function plantSeed(app: SeedApp, seed: Seed): Promise<Planted> {
  const persons = personsOf(app);
  const { users = [], groups = [], projects = [], applications = [] } = seed.document;
  const byPath = new Map(groups.map((group) => [group.path.toLowerCase(), group]));
  const planting: Planting = {
    app,
    seed,
    persons,
    signer: signerOf(users),
    users: new Map(),
    groups: byPath,
    groupIds: new Map(),
  };
  const root = await persons.as(ROOT);
  planting.users.set(ROOT, root.actor.id);
  // One after the other, so that the same document gets the same ids.
  for (const [index, user] of users.entries())
    await within(seed, ['users', index], () => plantUser(planting, user, ['users', index]));
  // A group is there before those in it.
  const depth = ({ path }: SeedGroup): number => path.split('/').length;
  for (const [index, group] of [...groups.entries()].sort(
    ([, left], [, right]) => depth(left) - depth(right),
  ))
    await within(seed, ['groups', index], () => plantGroup(planting, group));
  const projectIds = await plantProjects(planting, projects);
  const applicationIds: Record<string, number> = {};
  for (const [index, application] of applications.entries())
    await within(seed, ['applications', index], async () => {
      applicationIds[application.id] = await plantApplication(planting, application);
    });
  // Listeners were told nothing of writes that no request made.
  app.services.wake();
  const idsOf = (names: readonly string[], ids: ReadonlyMap<string, number>) =>
    Object.fromEntries(names.map((name) => [name, ids.get(name.toLowerCase()) ?? 0]));
  return {
    users: idsOf([ROOT, ...users.map(({ username }) => username)], planting.users),
    groups: idsOf(
      groups.map(({ path }) => path),
      planting.groupIds,
    ),
    projects: projectIds,
    applications: applicationIds,
  };
}

/** Histories may be written beside what makes the next projects: nothing of them has an id of the instance. */
const HISTORIES_AT_ONCE = 8;

async function plantProjects(
  planting: Planting,
  projects: readonly SeedProject[],
): Promise<Record<string, number>> {
  const { seed } = planting;
  const made: { here: Here; history: ReturnType<typeof plantHistory> }[] = [];
  try {
    for (const [index, project] of projects.entries()) {
      const path = ['projects', index];
      const here = await within(seed, path, () => makeProject(planting, project, path));
      const history = within(seed, path, () => plantHistory(here));
      // It is waited for below.
      history.catch(() => undefined);
      made.push({ here, history });
      await made.at(-HISTORIES_AT_ONCE)?.history;
    }
    for (const { here, history } of made) {
      const planned = await history;
      await within(seed, here.path, () => fillProject(here, planned));
    }
  } finally {
    await Promise.allSettled(made.map(({ history }) => history));
  }
  return Object.fromEntries(made.map(({ here }) => [fullPathOf(here.project), here.id]));
}

type UserRecord = { id: number; state: string } & Record<string, unknown>;

async function plantUser(planting: Planting, user: SeedUser, path: Path): Promise<void> {
  const { app, persons, seed } = planting;
  const root = await persons.as(ROOT);
  const { username, password, state = 'active' } = user;
  const wished = {
    username,
    name: user.name ?? username,
    email: emailOf(user),
    admin: user.admin,
    external: user.external,
    bio: user.bio,
  };
  const { db } = app.services.database;
  const there = await persons.find(username);
  let record: UserRecord;
  if (there) {
    record = (await root.find<UserRecord>('GET /users/:id', { id: there.id })) as UserRecord; // just found
    // Root's name and address are the program's, unless the document has others.
    const own = username.toLowerCase() === ROOT ? { ...wished, name: user.name, email: user.email } : wished;
    const changed = differences({ ...record, admin: record.is_admin }, own) ?? {};
    if (password !== undefined && !(await checkPassword(password, await passwordHashOf(db, there.id))).right)
      changed.password = password;
    if (Object.keys(changed).length > 0)
      await root.change('PUT /users/:id', { id: there.id, skip_reconfirmation: true, ...changed });
  } else {
    const secret = password === undefined ? { force_random_password: true } : { password };
    record = await root.change('POST /users', { ...given(wished), ...secret, skip_confirmation: true });
  }
  const { id } = record;
  planting.users.set(username.toLowerCase(), id);
  if (state === 'blocked' && record.state !== 'blocked') await root.change('POST /users/:id/block', { id });
  if (user.state === 'active' && record.state === 'blocked')
    await root.change('POST /users/:id/unblock', { id });
  for (const [index, token] of (user.tokens ?? []).entries())
    await within(seed, [...path, 'tokens', index], async () => {
      const known = await tokenWithDigest(db, token);
      if (known?.user_id === id && known.name === token.name) return;
      if (known) throw seed.complain([...path, 'tokens', index], 'another token has this value');
      const { name, scopes = ['api'], expires_at } = token;
      const terms = given({ name, scopes, expires_at });
      const made = await root.change<{ id: number }>('POST /users/:user_id/personal_access_tokens', {
        user_id: id,
        ...terms,
      });
      await setTokenValue(db, made.id, token);
    });
}

async function plantGroup(planting: Planting, group: SeedGroup): Promise<void> {
  const { persons, groupIds } = planting;
  const above = parentPath(group.path);
  const api = await persons.as(creatorOf(planting, group.members, above));
  const { description, visibility } = group;
  const wished = { name: group.name ?? lastPart(group.path), description, visibility };
  let record = await api.find<{ id: number }>('GET /groups/:id', { id: group.path, with_projects: false });
  const isNew = record === undefined;
  if (record) {
    const changed = differences(record, wished);
    if (changed) await api.change('PUT /groups/:id', { id: record.id, ...changed });
  } else {
    const parent_id = above === '' ? undefined : groupIds.get(above.toLowerCase());
    const made = { path: lastPart(group.path), parent_id, ...wished, visibility: visibility ?? 'private' };
    record = await api.change<{ id: number }>('POST /groups', given(made));
  }
  groupIds.set(group.path.toLowerCase(), record.id);
  await plantMembers(planting, api, `/groups/:id`, record.id, group.members);
  await plantPlanning(api, `/groups/:id`, record.id, group, isNew);
}

async function plantApplication({ app, persons }: Planting, application: SeedApplication): Promise<number> {
  const api = await persons.as(ROOT);
  const { db } = app.services.database;
  const { id: uid, secret, sha256, name, redirect_uris, scopes = ['api'], confidential = true } = application;
  type Row = {
    id: number;
    application_id: string;
    application_name: string;
    callback_url: string;
    confidential: boolean;
  };
  const there = (await api.all<Row>('GET /applications', {})).find(
    ({ application_id }) => application_id === uid,
  );
  const redirect_uri = redirect_uris.join('\n');
  const isSame =
    there?.application_name === name &&
    there.callback_url === redirect_uri &&
    there.confidential === confidential;
  // The API changes none: another one takes the place of one that is different.
  if (there && !isSame) await api.change('DELETE /applications/:id', { id: there.id });
  const made =
    there && isSame
      ? there
      : await api.change<Row>('POST /applications', {
          name,
          redirect_uri,
          scopes: scopes.join(' '),
          confidential,
        });
  const hasSecret = secret !== undefined || sha256 !== undefined;
  await setApplicationValues(db, made.id, uid, hasSecret ? { value: secret, sha256 } : undefined);
  return made.id;
}
