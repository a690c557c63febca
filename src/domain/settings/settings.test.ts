/** Settings, statistics, feature flags and licence of the instance, over HTTP. */
import { describe, expect, test } from 'vitest';
import { SECRET_KEY, useApp } from '../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';
import type { FeatureGates } from '../../kernel/settings/features.ts';
import { unseal } from '../../platform/secret.ts';

const app = useApp();
const put = (body: unknown) => app.root('PUT /application/settings', { body });
const read = async () => (await app.root('GET /application/settings')).body;

/** The audit log's changes of one setting, oldest first. */
const audited = (name: string) =>
  app.app.services.database.sql`
    select details from audit_events where event_name = 'application_setting_updated' and details ->> 'change' = ${name}
    order by id`;

describe('application settings (facts: Application settings & statistics)', () => {
  test('are for administrators', async () => {
    const user = await makeUser(app);
    for (const request of [
      'GET /application/settings',
      'PUT /application/settings',
      'GET /application/statistics',
      'GET /features',
      'GET /license',
    ]) {
      expect((await app.call(request)).status).toBe(401);
      expect((await app.as(user.token)(request)).status).toBe(403);
    }
  });

  test('a change is there at once, and in the audit log once', async () => {
    const changed = await put({ max_login_attempts: 5, domain_denylist: ['a.example'], colour: 'blue' });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ id: 1, max_login_attempts: 5, domain_denylist_raw: 'a.example' });
    expect(changed.body).not.toHaveProperty('colour');
    expect(await read()).toEqual(changed.body);
    await put({ max_login_attempts: 5 });
    expect(await audited('max_login_attempts')).toMatchObject([
      { details: { from: 10, to: 5, author_name: 'Administrator', entity_path: 'instance' } },
    ]);
  });

  test('what is not sent stays as it was', async () => {
    await put({ session_expire_delay: 60 });
    await put({ minimum_password_length: 12 });
    expect(await read()).toMatchObject({ session_expire_delay: 60, minimum_password_length: 12 });
  });

  test('forms and other names are taken', async () => {
    const { status, body } = await app.root('PUT /application/settings', {
      form: 'signin_enabled=false&restricted_visibility_levels[]=public&domain_allowlist_raw=a.example%0Ab.example',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      password_authentication_enabled: false,
      password_authentication_enabled_for_web: false,
      restricted_visibility_levels: ['public'],
      domain_allowlist: ['a.example', 'b.example'],
    });
  });

  test('names of the public API that nothing obeys are refused, and nothing is stored', async () => {
    const { status, body } = await put({ kroki_enabled: true, kroki_url: '', signup_enabled: false });
    expect(status).toBe(400);
    expect(body.message).toEqual({
      kroki_enabled: ['is not supported'],
      kroki_url: ['is not supported'],
    });
    expect(await read()).toMatchObject({ signup_enabled: true });
  });

  test.each([
    [{ deletion_adjourned_period: 91 }, 'deletion_adjourned_period'],
    [{ deletion_adjourned_period: 0 }, 'deletion_adjourned_period'],
    [{ default_branch_protection: 5 }, 'default_branch_protection'],
    [{ session_expire_delay: 'soon' }, 'session_expire_delay'],
    [{ restricted_visibility_levels: ['private'] }, 'default_project_visibility'],
    [{ default_project_visibility: 'secret' }, 'default_project_visibility'],
  ])('%j is refused', async (body, name) => {
    const before = await read();
    const response = await put(body);
    expect(response.status).toBe(400);
    expect(Object.keys(response.body.message)).toContain(name);
    expect(await read()).toEqual(before);
  });

  test('null for a setting that is never null leaves it as it was', async () => {
    const before = await read();
    expect((await put({ signup_enabled: null, session_expire_delay: null })).status).toBe(200);
    expect(await read()).toEqual(before);
  });

  test('secrets are stored sealed, and shown nowhere', async () => {
    const secret = 'a-key-of-the-spam-service';
    const changed = await put({ akismet_enabled: true, akismet_api_key: secret });
    expect(changed.status).toBe(200);
    await put({ akismet_api_key: secret });
    expect(changed.text + (await app.root('GET /application/settings')).text).not.toMatch(
      /a-key-of|akismet_api_key|recaptcha_private_key/,
    );
    expect(await audited('akismet_api_key')).toMatchObject([{ details: { from: '', to: '[hidden]' } }]);
    const [stored] = await app.app.services.database.sql`select values::text from application_settings`;
    expect(stored?.values).not.toContain(secret);
    const { akismet_api_key: sealed } = await app.app.services.settings.read();
    expect(unseal(SECRET_KEY, sealed)).toBe(secret);
    expect((await put({ akismet_api_key: '' })).body.message).toEqual({
      akismet_api_key: ["can't be blank"],
    });
    expect((await put({ akismet_enabled: false, akismet_api_key: '' })).status).toBe(200);
    expect((await app.app.services.settings.read()).akismet_api_key).toBe('');
  });

  test('the record of branch protection and its number say the same', async () => {
    const defaults = { allowed_to_push: [{ access_level: 30 }] };
    expect((await put({ default_branch_protection_defaults: defaults })).body).toMatchObject({
      default_branch_protection: 1,
      default_branch_protection_defaults: {
        allowed_to_push: [{ access_level: 30 }],
        allowed_to_merge: [{ access_level: 40 }],
      },
    });
    expect((await put({ default_branch_protection: 4 })).body.default_branch_protection_defaults).toEqual({
      allowed_to_push: [{ access_level: 40 }],
      allow_force_push: false,
      allowed_to_merge: [{ access_level: 40 }],
      developer_can_initial_push: true,
    });
  });

  test('two changes at once are checked one after the other', async () => {
    await put({ restricted_visibility_levels: [], default_group_visibility: 'private' });
    const responses = await Promise.all([
      put({ restricted_visibility_levels: ['internal'] }),
      put({ default_group_visibility: 'internal' }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});

test('statistics are texts with thousands separators', async () => {
  await app.app.services.database.sql`
    insert into users (username, name, email, projects_limit, can_create_group, created_at, updated_at)
    select 'crowd' || n, 'crowd', 'crowd' || n || '@example.com', 10, true, now(), now()
    from generate_series(1, 1200) n`;
  const { status, body } = await app.root('GET /application/statistics');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    issues: '0',
    merge_requests: '0',
    projects: '0',
    forks: '0',
    milestones: '0',
  });
  expect(body.users).toMatch(/^1,2\d\d$/);
  expect(body.active_users).toBe(body.users);
});

describe('feature flags of the instance (spec: Versioning)', () => {
  const name = 'generic_alert_fingerprinting';
  const isOn: FeatureGates['isOn'] = (...requested) => app.app.services.features.isOn(...requested);
  const set = (flag: string, body: unknown) => app.root(`POST /features/${flag}`, { body });
  const gatesOf = async (flag: string, body: unknown) => bodyOf(await set(flag, body), 201).gates;

  test('exist, are set, and are given their default again', async () => {
    expect((await app.root('GET /features')).body).toEqual([]);
    const definitions = (await app.root('GET /features/definitions')).body;
    expect(definitions).toContainEqual(expect.objectContaining({ name, default_enabled: true }));
    expect(await isOn(name)).toBe(true);
    const off = await set(name, { value: false });
    expect(off.status).toBe(201);
    expect(off.body).toEqual({
      name,
      state: 'off',
      gates: [{ key: 'boolean', value: false }],
      definition: definitions.find((each: { name: string }) => each.name === name),
    });
    expect(await isOn(name)).toBe(false);
    expect((await app.root('GET /features')).body).toEqual([off.body]);
    expect((await app.root(`POST /features/${name}`, { form: 'value=true' })).body.state).toBe('on');
    expect((await app.root(`DELETE /features/${name}`)).status).toBe(204);
    expect((await app.root(`DELETE /features/${name}`)).status).toBe(204);
    expect((await app.root('GET /features')).body).toEqual([]);
    expect(await isOn(name)).toBe(true);
  });

  test('have any name; what nothing obeys has no definition', async () => {
    for (const [flag, body] of [
      ['a_flag_of_mine', { value: true }],
      ['constructor', { value: 'true', force: true }],
      ['with%2Fslash%20and%20%C3%A9', { value: true, force: false }],
    ] as const) {
      expect(bodyOf(await set(flag, body), 201)).toEqual({
        name: decodeURIComponent(flag),
        state: 'on',
        gates: [{ key: 'boolean', value: true }],
        definition: null,
      });
      expect(await isOn(decodeURIComponent(flag))).toBe(true);
      expect((await app.root(`DELETE /features/${flag}`)).status).toBe(204);
    }
    expect((await set('x'.repeat(256), { value: true })).status).toBe(400);
  });

  test('are on for users, groups, namespaces and projects by their names', async () => {
    const [ada, bob] = [await makeUser(app), await makeUser(app)];
    const [group, project] = [await makeGroup(app), await makeProject(app)];
    const flag = 'for_some';
    const boolean = { key: 'boolean', value: false };
    const named = {
      value: true,
      user: `${ada.username.toUpperCase()},${bob.username}`,
      group: group.full_path,
    };
    expect(await gatesOf(flag, named)).toEqual([
      boolean,
      { key: 'actors', value: [`User:${ada.id}`, `User:${bob.id}`, `Group:${group.id}`] },
    ]);
    const more = { value: true, namespace: group.full_path, project: project.path_with_namespace };
    expect(bodyOf(await set(flag, more), 201)).toMatchObject({
      state: 'conditional',
      gates: [
        boolean,
        { value: [`User:${ada.id}`, `User:${bob.id}`, `Group:${group.id}`, `Project:${project.id}`] },
      ],
    });
    const is = (actor: string) => isOn(flag, async () => actor);
    expect([await is(`User:${ada.id}`), await is('User:0'), await isOn(flag)]).toEqual([true, false, false]);
    await set(flag, { value: false, user: ada.username });
    expect([await is(`User:${ada.id}`), await is(`User:${bob.id}`)]).toEqual([false, true]);
    // A gate for everybody removes those for some.
    expect(await gatesOf(flag, { value: true })).toEqual([{ key: 'boolean', value: true }]);
    expect(await gatesOf(flag, { value: 0 })).toEqual([boolean]);
    expect([await is(`User:${bob.id}`), await isOn(flag)]).toEqual([false, false]);
  });

  test('are on for a percentage of the time or of actors', async () => {
    const boolean = { key: 'boolean', value: false };
    const time = { key: 'percentage_of_time', value: 100 };
    expect(bodyOf(await set('sometimes', { value: 100 }), 201)).toMatchObject({
      state: 'on',
      gates: [boolean, time],
    });
    expect(await isOn('sometimes')).toBe(true);
    const actors = { key: 'percentage_of_actors', value: 12.5 };
    expect(
      bodyOf(await set('for_a_share', { value: '12.5', key: 'percentage_of_actors' }), 201),
    ).toMatchObject({
      state: 'conditional',
      gates: [boolean, actors],
    });
    const share = async () => {
      const found = [];
      for (let id = 0; id < 800; id++)
        if (await isOn('for_a_share', async () => `User:${id}`)) found.push(id);
      return found;
    };
    const some = await share();
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(800);
    expect(await share()).toEqual(some);
    expect(await isOn('for_a_share')).toBe(false);
    await set('for_a_share', { value: 100, key: 'percentage_of_actors' });
    expect((await share()).length).toBe(800);
    expect((await app.root('GET /features')).body.map((flag: { name: string }) => flag.name)).toEqual([
      'for_a_share',
      'for_some',
      'sometimes',
    ]);
  });

  const range = { value: ['must be true, false or a percentage from 0 to 100'] };
  test.each([
    [{ value: 101 }, range],
    [{ value: -1 }, range],
    [{ value: 'yes' }, range],
    [{ value: { a: {} } }, range],
    [{ value: [true] }, range],
    [{}, '400 Bad request - "value" not given'],
    [{ value: 30, user: 'root' }, { value: ['must be true or false beside user'] }],
    [
      { value: true, key: 'percentage_of_time', user: 'root', project: 'x' },
      '400 Bad request - key, user, project are mutually exclusive',
    ],
    [{ value: true, user: 'root,nobody-at-all' }, '400 Bad request - nobody-at-all is not found'],
    [{ value: true, project: 'root' }, '400 Bad request - root is not found'],
    [{ value: true, group: 'root' }, '400 Bad request - root is not found'],
    [{ value: true, user: '' }, { user: ["can't be blank"] }],
    [{ value: true, feature_group: 'staff' }, { feature_group: ['is not supported'] }],
    [{ value: true, repository: 'x' }, { repository: ['is not supported'] }],
  ])('%j is refused', async (body, message) => {
    const response = await set('refused', body);
    expect(response.status).toBe(400);
    expect(response.body.message).toEqual(message);
    expect((await app.root('GET /features')).body).not.toContainEqual(
      expect.objectContaining({ name: 'refused' }),
    );
  });

  test('changes are in the audit log', async () => {
    await set('told', { value: true });
    await set('told', { value: 30 });
    await app.root('DELETE /features/told');
    const { sql } = app.app.services.database;
    const rows = await sql`select details from audit_events where details ->> 'change' = 'told' order by id`;
    const both = JSON.stringify({
      boolean: 'true',
      actors: [],
      percentage_of_actors: 0,
      percentage_of_time: 30,
    });
    expect(rows.map(({ details }) => [details.from, details.to])).toEqual([
      [null, 'true'],
      ['true', both],
      [both, null],
    ]);
  });

  test('a flag that was set again is not reset by who saw it before', async () => {
    await app.root(`POST /features/${name}`, { body: { value: true } });
    const headers = { 'if-unmodified-since': new Date(0).toUTCString() };
    expect((await app.root(`DELETE /features/${name}`, { headers })).status).toBe(412);
  });
});

describe('licence (facts: License)', () => {
  test('is the tier, for everybody and without an end', async () => {
    const { status, body } = await app.root('GET /license');
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: 1, plan: 'ultimate', expired: false, expires_at: null, overage: 0 });
    expect(body.active_users).toBeGreaterThan(0);
    expect((await app.root('GET /license/1')).body).toEqual(body);
    expect((await app.root('GET /license/2')).status).toBe(404);
    const { active_users, ...license } = body;
    expect((await app.root('GET /licenses')).body).toEqual([license]);
    expect(active_users).toBe(license.maximum_user_count);
  });

  test('its use is counted by day, and exported as a table', async () => {
    const table = async () => {
      const { status, headers, text } = await app.root('GET /license/usage_export');
      expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(headers.get('content-disposition')).toBe('attachment; filename="license-usage.csv"');
      return text.trimEnd().split('\n');
    };
    const { active_users: active } = (await app.root('GET /license')).body;
    const first = await table();
    expect(first.slice(0, 1)).toEqual(['License Key,ultimate']);
    expect(first[7]).toBe('Date,Billable User Count');
    expect(first.slice(8)).toEqual([
      expect.stringMatching(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d,${active}$`),
    ]);
    await app.app.services.database.sql`
      insert into user_counts (day, users, counted_at) values ('2020-01-01', 4711, '2020-01-01T23:48:00Z')`;
    const counted = await app.root('PUT /license/1/refresh_billable_users');
    expect([counted.status, counted.body]).toEqual([202, { success: true }]);
    expect((await app.root('PUT /license/1/refresh_billable_users')).status).toBe(202);
    expect((await table()).slice(8, -1)).toEqual([
      '2020-01-01 23:48:00,4711',
      expect.stringMatching(new RegExp(`,${active}$`)),
    ]);
    expect((await app.root('GET /license')).body).toMatchObject({
      historical_max: 4_711,
      maximum_user_count: 4_711,
      active_users: active,
    });
    await app.app.services.database.sql`delete from user_counts`;
    expect((await app.root('PUT /license/2/refresh_billable_users')).status).toBe(404);
    const user = await makeUser(app);
    for (const line of ['PUT /license/1/refresh_billable_users', 'GET /license/usage_export']) {
      expect((await app.call(line)).status).toBe(401);
      expect((await app.as(user.token)(line)).status).toBe(403);
    }
  });
});
