/** CI variables over HTTP: who manages them, what they keep, and what no record shows. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Call, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let group: MadeGroup;
let project: MadeProject;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
});

const homes = {
  project: () => `/projects/${project.id}/variables`,
  group: () => `/groups/${group.id}/variables`,
  instance: () => '/admin/ci/variables',
};
const missing = { project: 'Variable', group: 'GroupVariable', instance: 'InstanceVariable' };
const events = { project: 'ci_variable', group: 'ci_group_variable', instance: 'ci_instance_variable' };

const uniqueKey = (): string => uniqueName('KEY').replace(/\W/g, '_').toUpperCase();
const make = async (path: string, body: object = {}) =>
  bodyOf(await ashlar.root(`POST ${path}`, { body: { key: uniqueKey(), value: 'granite', ...body } }), 201);
const refusal = async (request: string, body: object) =>
  bodyOf(await ashlar.root(request, { body }), 400).message;

describe.each(['project', 'group', 'instance'] as const)('a variable of %s', (kind) => {
  const path = () => homes[kind]();
  const scoped = kind === 'instance' ? {} : { hidden: false, environment_scope: '*' };

  test('is made, shown, changed and deleted', async () => {
    const key = uniqueKey();
    const made = await make(path(), { key: ` ${key} ` });
    expect(made).toEqual({
      key,
      value: 'granite',
      variable_type: 'env_var',
      protected: false,
      masked: false,
      raw: false,
      description: null,
      ...scoped,
    });
    const one = `${path()}/${key}`;
    expect(bodyOf(await ashlar.root(`GET ${one}`), 200)).toEqual(made);
    expect(bodyOf(await ashlar.root(`GET ${path()}`), 200)).toContainEqual(made);
    const body = {
      value: 'a$b,c d',
      variable_type: 'file',
      protected: true,
      raw: true,
      description: 'Of the quarry',
    };
    expect(bodyOf(await ashlar.root(`PUT ${one}`, { body }), 200)).toEqual({ ...made, ...body });
    expect(bodyOf(await ashlar.root(`PUT ${one}`, { body: {} }), 200)).toEqual({ ...made, ...body });
    expect((await ashlar.root(`DELETE ${one}`)).status).toBe(204);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, body } = await ashlar.root(`${method} ${one}`, method === 'PUT' ? { body: {} } : {});
      expect([method, status, body]).toEqual([method, 404, { message: `404 ${missing[kind]} Not Found` }]);
    }
    const { sql } = ashlar.app.services.database;
    const audits = await sql<{ event_name: string; details: object }[]>`select event_name, details
      from audit_events where details ->> 'target_details' = ${key} order by id`;
    const [event, changed] = [events[kind], (change: string) => [`${events[kind]}_updated`, change]];
    expect(
      audits.map(({ event_name, details }) => [event_name, ...('change' in details ? [details.change] : [])]),
    ).toEqual([
      [`${event}_created`],
      ...['value', 'variable_type', 'protected', 'raw', 'description'].map(changed),
      [`${event}_deleted`],
    ]);
    expect(JSON.stringify(audits)).not.toMatch(/granite|a\$b/);
  });

  test('is sealed in the database', async () => {
    const { key } = await make(path(), { value: 'never-in-the-clear' });
    const { sql } = ashlar.app.services.database;
    const [row] = await sql`select v::text as text from ci_variables v where key = ${key}`;
    expect(row?.text).toContain(key);
    expect(row?.text).not.toContain('clear');
  });

  test('is refused in the public words', async () => {
    const { key } = await make(path());
    const post = `POST ${path()}`;
    const put = `PUT ${path()}/${key}`;
    expect(await refusal(post, { key, value: '' })).toEqual({ key: [`(${key}) has already been taken`] });
    expect(await refusal(post, { key: 'A-B', value: '' })).toEqual({
      key: ["can contain only letters, digits and '_'."],
    });
    expect(await refusal(post, { key: 'x'.repeat(256), value: '' })).toEqual({
      key: ['is too long (maximum is 255 characters)'],
    });
    expect(await refusal(post, { key: uniqueKey(), value: 'short', masked: true })).toEqual({
      value: ['is invalid'],
    });
    expect(await refusal(put, { value: 'x'.repeat(10_001) })).toEqual({
      value: ['The value of the provided variable exceeds the 10000 character limit'],
    });
    // Masked as it is.
    expect(await refusal(put, { masked: true })).toEqual({ value: ['is invalid'] });
    expect(await refusal(put, { description: 'x'.repeat(256) })).toEqual({
      description: ['is too long (maximum is 255 characters)'],
    });
    for (const body of [{ value: 'x' }, { key: uniqueKey() }])
      expect((await ashlar.root(post, { body })).status).toBe(400);
    expect((await ashlar.root(put, { body: { variable_type: 'other' } })).status).toBe(400);
  });

  test('that is asked for many times at once is made once', async () => {
    const body = { key: uniqueKey(), value: 'granite' };
    const all = await Promise.all(Array.from({ length: 6 }, () => ashlar.root(`POST ${path()}`, { body })));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
    for (const { status, body: refused } of all)
      if (status === 400)
        expect(refused).toEqual({ message: { key: [`(${body.key}) has already been taken`] } });
    const one = `${path()}/${body.key}`;
    const gone = await Promise.all(Array.from({ length: 4 }, () => ashlar.root(`DELETE ${one}`)));
    expect(gone.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404]);
  });

  test('is one too many', async () => {
    const { sql } = ashlar.app.services.database;
    const own = { project: project.id, group: group.id, instance: null };
    const [noun, most] = {
      project: ['project ci variables', 8_000] as const,
      group: ['group ci variables', 30_000] as const,
      instance: ['ci instance level variables', 25] as const,
    }[kind];
    const is = (at: string) => (kind === at ? own[kind] : null);
    const count = async () => {
      const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from ci_variables
        where project_id is not distinct from ${is('project')} and namespace_id is not distinct from ${is('group')}`;
      return row?.count ?? 0;
    };
    const filled = most - 1 - (await count());
    await sql`insert into ci_variables (project_id, namespace_id, key, value_sealed, variable_type, protected, masked,
        hidden, raw, environment_scope, created_at, updated_at)
      select ${is('project')}, ${is('group')}, 'FILLER_' || n, '', 'env_var', false, false, false, false, '*', now(), now()
      from generate_series(1, ${filled}) n`;
    const all = await Promise.all(
      Array.from({ length: 4 }, () =>
        ashlar.root(`POST ${path()}`, { body: { key: uniqueKey(), value: '' } }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    expect(all.find(({ status }) => status === 400)?.body).toEqual({
      message: { base: [`Maximum number of ${noun} (${most}) exceeded`] },
    });
    await sql`delete from ci_variables where key like 'FILLER%'`;
  });

  test('is for those who manage what it belongs to', async () => {
    const { key } = await make(path());
    const { maintainer, owner } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer', 'owner');
    const { developer } = await makeMembers(ashlar, `groups/${group.id}`, 'developer');
    const inProject = await makeMembers(ashlar, `projects/${project.id}`, 'developer', 'owner');
    const stranger = await makeUser(ashlar);
    const managers: Record<typeof kind, MadeUser[]> = {
      project: [maintainer, owner, inProject.owner],
      group: [owner],
      instance: [],
    };
    const send = async (call: Call) => {
      const body = { key: uniqueKey(), value: 'marble' };
      const one = `${path()}/${key}`;
      const statuses = [
        await call(`GET ${path()}`),
        await call(`GET ${one}`),
        await call(`PUT ${one}`, { body }),
        await call(`POST ${path()}`, { body }),
      ].map(({ status }) => status);
      return [...statuses, (await call(`DELETE ${path()}/${body.key}`)).status];
    };
    for (const user of [maintainer, owner, developer, inProject.developer, inProject.owner])
      expect(await send(ashlar.as(user.token))).toEqual(
        managers[kind].includes(user) ? [200, 200, 200, 201, 204] : Array(5).fill(403),
      );
    expect(await send(ashlar.as(stranger.token))).toEqual(Array(5).fill(kind === 'instance' ? 403 : 404));
    expect(await send(ashlar.call)).toEqual(Array(5).fill(401));
  });
});

describe.each(['project', 'group'] as const)('hidden and scoped variables of %s', (kind) => {
  const path = () => homes[kind]();
  const at = (scope: string) => `filter[environment_scope]=${encodeURIComponent(scope)}`;

  test('no record shows a hidden value, and it stays hidden', async () => {
    const made = await make(path(), { masked_and_hidden: true, value: 'granite-1' });
    expect(made).toMatchObject({ value: null, masked: true, hidden: true });
    const one = `${path()}/${made.key}`;
    expect(bodyOf(await ashlar.root(`GET ${one}`), 200)).toEqual(made);
    expect(bodyOf(await ashlar.root(`PUT ${one}`, { body: { value: 'granite-2' } }), 200)).toEqual(made);
    expect(JSON.stringify((await ashlar.root(`GET ${path()}`)).body)).not.toMatch(/granite-[12]/);
    const base = ['The visibility setting cannot be changed for masked and hidden variables.'];
    expect(await refusal(`PUT ${one}`, { masked: false })).toEqual({ base });
    expect(await refusal(`PUT ${one}`, { value: 'short' })).toEqual({ value: ['is invalid'] });
    expect(bodyOf(await ashlar.root(`GET ${one}`), 200)).toEqual(made);
    // Only new ones are hidden: a change passes it over.
    const shown = await make(path());
    for (const [changed, before] of [
      [one, made],
      [`${path()}/${shown.key}`, shown],
    ] as const)
      for (const masked_and_hidden of [true, false])
        expect(bodyOf(await ashlar.root(`PUT ${changed}`, { body: { masked_and_hidden } }), 200)).toEqual(
          before,
        );
  });

  test('several variables of one key are told apart by their scopes', async () => {
    const any = await make(path());
    const { key } = any;
    const review = await make(path(), { key, environment_scope: 'review/*', value: 'sandstone' });
    expect(review).toEqual({ ...any, environment_scope: 'review/*', value: 'sandstone' });
    const one = `${path()}/${key}`;
    const message =
      "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'";
    for (const [method, options] of [
      ['GET', {}],
      ['GET', { query: 'filter[environment_scope]=' }],
      ['PUT', { body: { value: 'x' } }],
      ['DELETE', {}],
    ] as const) {
      const { status, body } = await ashlar.root(`${method} ${one}`, options);
      expect([status, body]).toEqual([409, { message }]);
    }
    expect(bodyOf(await ashlar.root(`GET ${one}`, { query: at('review/*') }), 200)).toEqual(review);
    expect(bodyOf(await ashlar.root(`GET ${one}`, { query: at('*') }), 200)).toEqual(any);
    expect((await ashlar.root(`GET ${one}`, { query: at('review/1') })).status).toBe(404);
    const filter = { environment_scope: 'review/*' };
    const taken = { key: [`(${key}) has already been taken`] };
    expect(await refusal(`PUT ${one}`, { filter, environment_scope: '*' })).toEqual(taken);
    expect(await refusal(`POST ${path()}`, { key, value: '', environment_scope: ' review/* ' })).toEqual(
      taken,
    );
    const moved = bodyOf(
      await ashlar.root(`PUT ${one}`, { body: { filter, environment_scope: 'production' } }),
      200,
    );
    expect(moved).toEqual({ ...review, environment_scope: 'production' });
    expect((await ashlar.root(`DELETE ${one}`, { query: at('production') })).status).toBe(204);
    expect(bodyOf(await ashlar.root(`GET ${one}`), 200)).toEqual(any);
    expect(await refusal(`PUT ${one}`, { environment_scope: 'a,b' })).toEqual({
      environment_scope: [expect.stringContaining('can contain only')],
    });
  });

  test('of two that are given one scope at once, one is', async () => {
    const key = uniqueKey();
    const scopes = ['one', 'two', 'three'];
    for (const environment_scope of scopes) await make(path(), { key, environment_scope });
    const all = await Promise.all(
      scopes.map((environment_scope) =>
        ashlar.root(`PUT ${path()}/${key}`, {
          body: { filter: { environment_scope }, environment_scope: 'production' },
        }),
      ),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});

test('a list has pages, and the variables of other places are not in it', async () => {
  const elsewhere = await makeProject(ashlar, { namespace_id: group.id });
  const path = `/projects/${elsewhere.id}/variables`;
  const keys: string[] = [];
  for (let n = 0; n < 3; n++) keys.push((await make(path)).key);
  const { body, headers } = await ashlar.root(`GET ${path}`, { query: 'per_page=2&page=2' });
  expect(body.map(({ key }: { key: string }) => key)).toEqual(keys.slice(2));
  expect(headers.get('x-total')).toBe('3');
  expect((await ashlar.root(`GET ${homes.project()}/${keys[0]}`)).status).toBe(404);
});

test('an archived project keeps its variables, and they can be changed', async () => {
  const archived = await makeProject(ashlar, { namespace_id: group.id });
  const path = `/projects/${archived.id}/variables`;
  const { key } = await make(path);
  bodyOf(await ashlar.root(`POST /projects/${archived.id}/archive`), 201);
  expect(bodyOf(await ashlar.root(`PUT ${path}/${key}`, { body: { value: 'x' } }), 200).value).toBe('x');
});

test('only tokens that may write write', async () => {
  const made = bodyOf(
    await ashlar.root(`POST /projects/${project.id}/access_tokens`, {
      body: { name: 'reader', scopes: ['read_api'], access_level: 40 },
    }),
    201,
  );
  const as = ashlar.as(made.token);
  expect((await as(`GET ${homes.project()}`)).status).toBe(200);
  expect((await as(`POST ${homes.project()}`, { body: { key: 'A', value: '' } })).status).toBe(403);
});

test('a DELETE of what changed meanwhile is refused', async () => {
  const { key } = await make(homes.project());
  const headers = { 'if-unmodified-since': new Date(0).toUTCString() };
  expect((await ashlar.root(`DELETE ${homes.project()}/${key}`, { headers })).status).toBe(412);
});

test('variables go with their project and group', async () => {
  const outer = await makeGroup(ashlar);
  const inner = await makeProject(ashlar, { namespace_id: outer.id });
  for (const path of [`/groups/${outer.id}/variables`, `/projects/${inner.id}/variables`]) await make(path);
  const { sql } = ashlar.app.services.database;
  const left = async () => {
    const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from ci_variables
      where project_id = ${inner.id} or namespace_id = ${outer.id}`;
    return row?.count;
  };
  expect(await left()).toBe(2);
  await sql`delete from projects where id = ${inner.id}`;
  await sql`delete from namespaces where id = ${outer.id}`;
  expect(await left()).toBe(0);
});
