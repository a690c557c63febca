import { expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  hiddenFields,
  openBrowser,
  signInAs,
  withSettings,
} from '../../../../test/support/browser.ts';
import {
  addMember,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'free' } });
const PATH = '/-/profile/notifications';

async function signedIn(): Promise<{ user: MadeUser; browser: Browser }> {
  const user = await makeUser(app);
  const browser = openBrowser(app);
  await withSettings(app, {}, async () => {
    expect((await signInAs(browser, user.username, 'correct horse battery staple')).status).toBe(302);
  });
  return { user, browser };
}

/** The chosen values of the page's form, by field. */
function chosen(page: string): Record<string, string> {
  const radios = [...page.matchAll(/name="(\w+)" type="(?:radio|checkbox)" value="(\w+)" checked/g)];
  const lists = [...page.matchAll(/<select id="(\w+)"[^>]*>(.*?)<\/select>/gs)].map(
    ([all, name, options = '']) => [all, name, /value="([^"]*)" selected/.exec(options)?.[1]],
  );
  return Object.fromEntries([...radios, ...lists].map(([, name = '', value = '']) => [name, value]));
}

it('leads those who are not signed in to the sign-in page', async () => {
  for (const path of [PATH, `${PATH}/projects/1`, `${PATH}/groups/1`]) {
    const response = await openBrowser(app).get(path);
    expect(response).toMatchObject({
      status: 303,
      location: `/users/sign_in?return_to=${encodeURIComponent(path)}`,
    });
  }
});

it('shows and changes the level, the events, the address and the own activity', async () => {
  const { user, browser } = await signedIn();
  const email = `${user.username}-2@example.com`;
  await app.root(`POST /users/${user.id}/emails`, { body: { email, skip_confirmation: true } });
  const before = await browser.get(PATH);
  expect(chosen(before.text)).toMatchObject({ level: 'participating', new_note: '', notification_email: '' });
  expect(before.text).not.toContain('value="global"');
  const sent = await browser.submit(PATH, {
    level: 'custom',
    new_note: 'true',
    failed_pipeline: 'false',
    notification_email: email,
    notified_of_own_activity: '1',
  });
  expect(sent).toMatchObject({ status: 303, location: `${PATH}?saved=1` });
  const after = await browser.get(`${PATH}?saved=1`);
  expect(after.text).toContain('Saved.');
  expect(chosen(after.text)).toMatchObject({
    level: 'custom',
    new_note: 'true',
    failed_pipeline: 'false',
    new_issue: '',
    notification_email: email,
    notified_of_own_activity: '1',
  });
  const { body } = await app.as(user.token)('GET /notification_settings');
  expect(body).toEqual({ level: 'custom', notification_email: email });
  await browser.submit(PATH, { level: 'watch', notification_email: '' });
  expect(chosen((await browser.get(PATH)).text)).toMatchObject({
    level: 'watch',
    new_note: '',
    notification_email: '',
  });
  expect(chosen((await browser.get(PATH)).text)).not.toHaveProperty('notified_of_own_activity');
});

it('shows and changes the language and the time zone of mail', async () => {
  const { user, browser } = await signedIn();
  expect(chosen((await browser.get(PATH)).text)).toMatchObject({ language: 'en', timezone: '' });
  const wanted = { level: 'watch', language: 'de', timezone: 'Asia/Tokyo' };
  expect((await browser.submit(PATH, wanted)).status).toBe(303);
  expect(chosen((await browser.get(PATH)).text)).toMatchObject(wanted);
  expect((await app.root(`GET /users/${user.id}`)).body.preferred_language).toBe('de');
  expect((await browser.submit(PATH, { ...wanted, timezone: 'Asia/Nowhere' })).status).toBe(400);
  await browser.submit(PATH, { ...wanted, language: 'tlh', timezone: '' });
  expect(chosen((await browser.get(PATH)).text)).toMatchObject({ language: 'de', timezone: '' });
});

it('changes nothing without the token of the session, without a level, or for an address of others', async () => {
  const { user, browser } = await signedIn();
  expect((await browser.post(PATH, { level: 'watch' })).status).toBe(403);
  const wrong = await browser.submit(PATH, { level: 'all' });
  expect(wrong).toMatchObject({ status: 422, alert: 'Choose how much you want to hear of.' });
  const other = await browser.submit(PATH, { level: 'watch', notification_email: 'root@example.com' });
  expect(other.status).toBe(400);
  expect((await app.as(user.token)('GET /notification_settings')).body.level).toBe('participating');
});

it.each(['group', 'project'] as const)('shows and changes what is said of a %s', async (kind) => {
  const { user, browser } = await signedIn();
  const place = kind === 'group' ? await makeGroup(app) : await makeProject(app);
  const path = `${PATH}/${kind}s/${place.id}`;
  expect((await browser.get(path)).status).toBe(404);
  const token = hiddenFields((await browser.get(PATH)).text, PATH);
  expect((await browser.post(path, { ...token, level: 'watch' })).status).toBe(404);
  await addMember(app, `${kind}s/${place.id}`, user, 10);
  expect(chosen((await browser.get(path)).text)).toMatchObject({ level: 'global', new_issue: '' });
  expect((await browser.submit(path, { level: 'custom', new_issue: 'true' })).location).toBe(
    `${path}?saved=1`,
  );
  expect(chosen((await browser.get(path)).text)).toMatchObject({ level: 'custom', new_issue: 'true' });
  // Free has no epics, so the setting is not shown.
  const epics = { body: { new_epic: true } };
  const { body } = await app.as(user.token)(`PUT /${kind}s/${place.id}/notification_settings`, epics);
  expect(body).toMatchObject({ level: 'custom', events: { new_issue: true, new_note: null } });
  expect(body.events).not.toHaveProperty('new_epic');
  expect((await browser.submit(path, { level: 'nothing' })).status).toBe(422);
});

it('lists the places of the user with their levels, page by page, and none that is no longer seen', async () => {
  const { user, browser } = await signedIn();
  const call = app.as(user.token);
  const hidden = await makeProject(app, { path: 'earlier' });
  const open = await makeProject(app, { path: 'later', visibility: 'public' });
  const group = await makeGroup(app);
  await addMember(app, `groups/${group.id}`, user, 10);
  await addMember(app, `projects/${hidden.id}`, user, 10);
  for (const id of [hidden.id, open.id])
    await call(`PUT /projects/${id}/notification_settings`, { body: { level: 'watch' } });
  const rows = async (query = '') => {
    const { text } = await browser.get(`${PATH}${query}`);
    const found = text.matchAll(/<tr><td><a href="([^"]+)">([^<]+)<\/a><\/td><td>(\w+)<\/td><td>([^<]+)</g);
    return [...found].map(([, href, name, kind, level]) => ({ href, name, kind, level }));
  };
  expect(await rows()).toEqual([
    { href: `${PATH}/groups/${group.id}`, name: group.full_path, kind: 'Group', level: 'As for the rest' },
    {
      href: `${PATH}/projects/${hidden.id}`,
      name: hidden.path_with_namespace,
      kind: 'Project',
      level: 'Everything',
    },
    {
      href: `${PATH}/projects/${open.id}`,
      name: open.path_with_namespace,
      kind: 'Project',
      level: 'Everything',
    },
  ]);
  await app.root(`DELETE /projects/${hidden.id}/members/${user.id}`);
  expect((await rows()).map(({ name }) => name)).toEqual([group.full_path, open.path_with_namespace]);

  const { sql } = app.app.services.database;
  await sql`
    with made as (
      insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
      select 'group', '{}', 'many', 'many-' || i, 'many-' || i, 'many', 20, now(), now() from generate_series(10, 69) i
      returning id)
    insert into notification_settings (user_id, namespace_id, level, created_at, updated_at)
    select ${user.id}, id, 'mention', now(), now() from made`;
  await sql`update namespaces set ancestor_ids = array[id] where path like 'many-%'`;
  const [first, second] = [await rows(), await rows('?page=2')];
  expect(first).toHaveLength(50);
  expect(new Set([...first, ...second].map(({ name }) => name)).size).toBe(62);
  expect((await browser.get(PATH)).text).toContain(`href="${PATH}?page=2"`);
  expect((await browser.get(`${PATH}?page=2`)).text).not.toContain('?page=3');
});

it('leads from the old path of a project to the page of the project', async () => {
  const { browser } = await signedIn();
  const project = await makeProject(app, { visibility: 'public' });
  await app.root(`PUT /projects/${project.id}`, { body: { path: `moved-${project.id}` } });
  const old = `${PATH}/projects/${encodeURIComponent(project.path_with_namespace)}`;
  expect(await browser.get(old)).toMatchObject({ status: 303, location: `${PATH}/projects/${project.id}` });
  await app.root(`PUT /projects/${project.id}`, { body: { visibility: 'private' } });
  expect((await browser.get(old)).status).toBe(404);
});
