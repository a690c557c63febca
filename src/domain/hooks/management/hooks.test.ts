/** Webhooks over HTTP: who manages them, what they keep, and what no record shows. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let group: MadeGroup;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  ({ maintainer } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer'));
  ({ developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer'));
});

const homes = {
  project: () => `/projects/${project.id}/hooks`,
  group: () => `/groups/${group.id}/hooks`,
  instance: () => '/hooks',
};
const url = 'https://example.com/hook';
const make = async (path: string, body: object = {}) =>
  bodyOf(await ashlar.root(`POST ${path}`, { body: { url, ...body } }), 201);

describe.each(['project', 'group', 'instance'] as const)('a hook of %s', (kind) => {
  const path = () => homes[kind]();

  test('is made with its flags, shown, changed and deleted', async () => {
    const made = await make(path(), {
      tag_push_events: true,
      merge_requests_events: true,
      token: 'the token',
    });
    expect(made).toMatchObject({
      url,
      name: null,
      description: null,
      push_events: kind !== 'instance',
      tag_push_events: true,
      merge_requests_events: true,
      enable_ssl_verification: true,
      branch_filter_strategy: 'wildcard',
      push_events_branch_filter: null,
      custom_webhook_template: null,
      alert_status: 'executable',
      disabled_until: null,
      url_variables: [],
      custom_headers: [],
    });
    if (kind === 'project') expect(made).toMatchObject({ project_id: project.id, issues_events: false });
    if (kind === 'group') expect(made).toMatchObject({ group_id: group.id, subgroup_events: false });
    if (kind === 'instance') expect(made.repository_update_events).toBe(true);
    expect(JSON.stringify(made)).not.toContain('the token');
    expect(bodyOf(await ashlar.root(`GET ${path()}/${made.id}`), 200)).toEqual(made);
    const { url_variables: _, custom_headers: __, ...listed } = made;
    expect(bodyOf(await ashlar.root(`GET ${path()}`), 200)).toContainEqual(listed);
    const body = { name: 'CI', push_events: false, enable_ssl_verification: false };
    const changed = bodyOf(await ashlar.root(`PUT ${path()}/${made.id}`, { body }), 200);
    expect(changed).toEqual({ ...made, ...body });
    expect((await ashlar.root(`DELETE ${path()}/${made.id}`)).status).toBe(204);
    expect((await ashlar.root(`GET ${path()}/${made.id}`)).status).toBe(404);
    const { sql } = ashlar.app.services.database;
    const events = await sql`select event_name from audit_events where details ->> 'target_type' = 'WebHook'
      and details ->> 'target_id' = ${String(made.id)} order by id`;
    expect(events.map(({ event_name }) => event_name)).toEqual([
      'webhook_created',
      'webhook_updated',
      'webhook_deleted',
    ]);
  });

  test('has headers and variables, whose values no record shows', async () => {
    const made = await make(path(), {
      url: 'https://example.com/{secret}',
      url_variables: [{ key: 'secret', value: 'hidden-1' }],
      custom_headers: [{ key: 'X-One', value: 'hidden-2' }],
    });
    expect(made).toMatchObject({
      url: 'https://example.com/{secret}',
      url_variables: [{ key: 'secret' }],
      custom_headers: [{ key: 'X-One' }],
    });
    const one = `${path()}/${made.id}`;
    bodyOf(await ashlar.root(`PUT ${one}/custom_headers/X-Two`, { body: { value: 'hidden-3' } }), 200);
    bodyOf(await ashlar.root(`PUT ${one}/url_variables/more`, { body: { value: 'hidden-4' } }), 200);
    const shown = bodyOf(await ashlar.root(`GET ${one}`), 200);
    expect(shown.custom_headers).toEqual([{ key: 'X-One' }, { key: 'X-Two' }]);
    expect(shown.url_variables).toEqual([{ key: 'secret' }, { key: 'more' }]);
    expect(JSON.stringify(shown)).not.toContain('hidden');
    expect((await ashlar.root(`DELETE ${one}/custom_headers/X-One`)).status).toBe(204);
    expect((await ashlar.root(`DELETE ${one}/custom_headers/X-One`)).status).toBe(404);
    expect((await ashlar.root(`DELETE ${one}/url_variables/more`)).status).toBe(204);
    expect((await ashlar.root(`DELETE ${one}/url_variables/secret`)).status).toBe(422);
    const { sql } = ashlar.app.services.database;
    const [row] = await sql`select h::text as text from hooks h where id = ${made.id}`;
    expect(row?.text).not.toContain('hidden');
  });

  test('has nothing of its secrets at another address', async () => {
    const made = await make(path(), {
      url: 'https://example.com/{secret}',
      url_variables: [{ key: 'secret', value: 'hidden' }],
      custom_headers: [{ key: 'X-One', value: 'hidden' }],
    });
    const one = `${path()}/${made.id}`;
    const refused = await ashlar.root(`PUT ${one}`, { body: { url: 'https://attacker.example/{secret}' } });
    expect(refused.status).toBe(422);
    const moved = bodyOf(
      await ashlar.root(`PUT ${one}`, { body: { url: 'https://attacker.example/' } }),
      200,
    );
    expect(moved).toMatchObject({ url_variables: [], custom_headers: [] });
  });

  test('sends no secrets to another server that a variable names', async () => {
    const made = await make(path(), {
      url: 'https://{host}/{secret}',
      url_variables: [
        { key: 'host', value: 'example.com' },
        { key: 'secret', value: 'hidden' },
      ],
      custom_headers: [{ key: 'X-One', value: 'hidden' }],
    });
    const one = `${path()}/${made.id}`;
    const set = (key: string, value: string) =>
      ashlar.root(`PUT ${one}/url_variables/${key}`, { body: { value } });
    expect((await set('secret', 'other')).status).toBe(200);
    expect(bodyOf(await ashlar.root(`GET ${one}`), 200).custom_headers).toEqual([{ key: 'X-One' }]);
    expect((await set('host', 'attacker.example')).status).toBe(422);
    const body = {
      url_variables: [
        { key: 'host', value: 'attacker.example' },
        { key: 'secret', value: 'known' },
      ],
    };
    const moved = bodyOf(await ashlar.root(`PUT ${one}`, { body }), 200);
    expect(moved.custom_headers).toEqual([]);
  });

  test.each([
    [{ url: 'ftp://example.com' }, 'Invalid url given'],
    [{ url: 'https://exa mple.com' }, 'Invalid url given'],
    [{ custom_headers: [{ key: 'X-Gitlab-Token', value: 'x' }] }, 'Custom headers validation failed'],
    [{ url: 'https://a%zz:b@example.com' }, 'Invalid url given'],
    [{ custom_headers: [{ key: 'Host', value: 'x' }] }, 'Custom headers validation failed'],
    [{ custom_headers: [{ key: 'X--Two', value: 'x' }] }, 'Custom headers validation failed'],
    [{ custom_headers: [{ key: 'X-One', value: 'a\r\nb: c' }] }, 'Custom headers validation failed'],
    [{ branch_filter_strategy: 'regex', push_events_branch_filter: '(' }, 'Invalid branch filter given'],
  ])('is refused %j', async (body, error) => {
    const refused = await ashlar.root(`POST ${path()}`, { body: { url, ...body } });
    expect(refused.status).toBe(422);
    expect(refused.body.error).toBe(error);
  });

  test('is refused a token that no header can have', async () => {
    const refused = await ashlar.root(`POST ${path()}`, { body: { url, token: 'a\u{20ac}' } });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toEqual({ token: ['has characters that a header cannot have'] });
  });

  test('is refused without its variables, and a change of nothing', async () => {
    const body = { url: 'https://example.com/{a}/{b}', url_variables: [{ key: 'a', value: '1' }] };
    const refused = await ashlar.root(`POST ${path()}`, { body });
    expect(refused.body.message).toEqual({ url: ['Invalid URL template. Missing keys: ["b"]'] });
    const { id } = await make(path());
    expect((await ashlar.root(`PUT ${path()}/${id}`)).body.message).toContain('No parameters provided');
  });

  test('is refused an address of this network, unless that is allowed', async () => {
    const addresses = [
      'http://127.0.0.1/',
      'http://[::1]:9/',
      'http://localhost/',
      'http://169.254.169.254/',
    ];
    for (const address of addresses)
      expect((await ashlar.root(`POST ${path()}`, { body: { url: address } })).status).toBe(
        kind === 'instance' ? 201 : 422,
      );
  });

  test('is managed by Maintainers of projects, Owners of groups, and administrators', async () => {
    const { id } = await make(path());
    const stranger = await makeUser(ashlar);
    const statuses = async (user: MadeUser) => {
      const found: number[] = [];
      for (const request of [`GET ${path()}`, `GET ${path()}/${id}`, `POST ${path()}`, `PUT ${path()}/${id}`])
        found.push(
          (await ashlar.as(user.token)(request, request.startsWith('P') ? { body: { url } } : {})).status,
        );
      return found;
    };
    const none = kind === 'instance' ? 403 : 404;
    expect(await statuses(stranger)).toEqual([none, none, none, none]);
    expect(await statuses(developer)).toEqual([403, 403, 403, 403]);
    expect(await statuses(maintainer)).toEqual(
      kind === 'project' ? [200, 200, 201, 200] : [403, 403, 403, 403],
    );
  });
});

test('a project has a hundred hooks at most, however many are made at once', async () => {
  const full = await makeProject(ashlar);
  const { sql } = ashlar.app.services.database;
  await make(`/projects/${full.id}/hooks`);
  await sql`insert into hooks (project_id, url_sealed, events, enable_ssl_verification, branch_filter_strategy,
    created_at, updated_at) select project_id, url_sealed, events, true, 'wildcard', now(), now()
    from hooks, generate_series(1, 97) where project_id = ${full.id}`;
  const made = await Promise.all(
    Array.from({ length: 6 }, () => ashlar.root(`POST /projects/${full.id}/hooks`, { body: { url } })),
  );
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422, 422, 422]);
  expect(made.find(({ status }) => status === 422)?.body.message).toEqual({
    base: ['Maximum number of project hooks (100) exceeded'],
  });
});

test("another project's hook is not found", async () => {
  const other = await makeProject(ashlar);
  const { id } = await make(homes.project());
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(
      (await ashlar.root(`${method} /projects/${other.id}/hooks/${id}`, { query: 'name=x' })).status,
    ).toBe(404);
});
