/** Settings, statistics, feature flags and licence of the instance, over HTTP. */
import { describe, expect, test } from 'vitest';
import { SECRET_KEY, useApp } from '../../../test/support/app.ts';
import { makeUser } from '../../../test/support/factories.ts';
import { unseal } from '../../platform/secret.ts';

const app = useApp();
const put = (body: unknown) => app.root('PUT /application/settings', { body });
const read = async () => (await app.root('GET /application/settings')).body;

/** What the audit log says of one setting, oldest first. */
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
    const answer = await put(body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.message)).toContain(name);
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
    const answers = await Promise.all([
      put({ restricted_visibility_levels: ['internal'] }),
      put({ default_group_visibility: 'internal' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
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

  test('exist, are set, and are given their default again', async () => {
    expect((await app.root('GET /features')).body).toEqual([]);
    expect((await app.root('GET /features/definitions')).body).toContainEqual(
      expect.objectContaining({ name, default_enabled: false }),
    );
    const set = await app.root(`POST /features/${name}`, { body: { value: true } });
    expect(set.status).toBe(201);
    expect(set.body).toMatchObject({ name, state: 'on', gates: [{ key: 'boolean', value: true }] });
    expect(await app.app.services.features.isOn(name)).toBe(true);
    expect((await app.root('GET /features')).body).toEqual([set.body]);
    expect((await app.root(`POST /features/${name}`, { form: 'value=false' })).body.state).toBe('off');
    expect((await app.root(`DELETE /features/${name}`)).status).toBe(204);
    expect((await app.root(`DELETE /features/${name}`)).status).toBe(204);
    expect((await app.root('GET /features')).body).toEqual([]);
    expect(await app.app.services.features.isOn(name)).toBe(false);
  });

  test.each([
    [name, { value: 30 }, { value: ['must be true or false: percentages are not supported'] }],
    [name, { value: '1' }, { value: ['must be true or false: percentages are not supported'] }],
    [name, { value: true, user: 'root' }, { user: ['is not supported'] }],
    [name, { value: { a: {} } }, { value: ['must be true or false: percentages are not supported'] }],
    [name, {}, '400 Bad request - "value" not given'],
    ['no_such_flag', { value: true }, '400 Bad request - there is no feature flag no_such_flag'],
    ['constructor', { value: true }, '400 Bad request - there is no feature flag constructor'],
  ])('%s %j is refused', async (flag, body, message) => {
    const answer = await app.root(`POST /features/${flag}`, { body });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toEqual(message);
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
});
