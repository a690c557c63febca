/** Broadcast messages: who writes them, and where they are shown. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { openBrowser, signInAs, withSettings } from '../../../../test/support/browser.ts';
import {
  bodyOf,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { makeTeam, openToAll } from '../../../../test/support/packages.ts';
import { moveClock } from '../../../platform/clock.ts';

const app = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const tell = async (body: Record<string, unknown>) =>
  bodyOf(await app.root('POST /broadcast_messages', { body }), 201);
const list = async () => bodyOf(await app.call('GET /broadcast_messages'), 200);

afterEach(async () => {
  for (const { id } of await list())
    expect((await app.root(`DELETE /broadcast_messages/${id}`)).status).toBe(204);
});

describe('the API', () => {
  test('is read by everybody and written by administrators', async () => {
    const user = await makeUser(app);
    const made = await tell({ message: 'Down at noon' });
    expect(made).toMatchObject({
      message: 'Down at noon',
      color: '#E75E40',
      font: '#FFFFFF',
      target_access_levels: [],
      target_path: null,
      broadcast_type: 'banner',
      theme: 'indigo',
      dismissable: false,
      active: true,
    });
    expect(Date.parse(made.ends_at) - Date.parse(made.starts_at)).toBe(3_600_000);
    const path = `/broadcast_messages/${made.id}`;
    expect(await list()).toEqual([made]);
    expect(bodyOf(await app.call(`GET ${path}`), 200)).toEqual(made);
    const body = { message: 'x' };
    for (const line of ['POST /broadcast_messages', `PUT ${path}`, `DELETE ${path}`]) {
      expect([line, (await app.call(line, { body })).status]).toEqual([line, 401]);
      expect([line, (await app.as(user.token)(line, { body })).status]).toEqual([line, 403]);
    }
  });

  test('a change keeps what is not sent, and is in the audit log', async () => {
    const { id, ends_at } = await tell({ message: 'One', target_access_levels: [10, 40], theme: 'red' });
    const changed = bodyOf(
      await app.root(`PUT /broadcast_messages/${id}`, {
        body: { message: 'Two', starts_at: '2030-01-01T00:00:00Z', target_path: '/a/*' },
      }),
      200,
    );
    expect(changed).toMatchObject({
      message: 'Two',
      starts_at: '2030-01-01T00:00:00.000Z',
      ends_at,
      target_access_levels: [10, 40],
      target_path: '/a/*',
      theme: 'red',
      active: false,
    });
    const events = await app.app.services.database.sql`
      select event_name from audit_events where details ->> 'target_type' = 'System::BroadcastMessage'
        and (details ->> 'target_id')::bigint = ${id} order by id`;
    expect(events.map(({ event_name }) => event_name)).toEqual([
      'broadcast_message_created',
      'broadcast_message_updated',
    ]);
  });

  test.each([
    ['message', {}],
    ['message', { message: '' }],
    ['message', { message: 'a'.repeat(4_001) }],
    ['theme', { message: 'a', theme: 'pink' }],
    ['broadcast_type', { message: 'a', broadcast_type: 'mail' }],
    ['color', { message: 'a', color: 'red;}body{display:none' }],
    ['starts_at', { message: 'a', starts_at: 'soon' }],
    ['target_access_levels', { message: 'a', target_access_levels: [7] }],
    ['target_path', { message: 'a', target_path: 'a'.repeat(256) }],
  ])('a wrong %s is refused', async (name, body) => {
    const { status, text } = await app.root('POST /broadcast_messages', { body });
    expect([status, text.includes(name)]).toEqual([400, true]);
    expect(await list()).toEqual([]);
  });

  test('404 for one that is not there', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, body } = await app.root(`${method} /broadcast_messages/999999`);
      expect([method, status, body.message]).toEqual([method, 404, '404 BroadcastMessage Not Found']);
    }
  });
});

describe('pages', () => {
  test('show it to everybody, as text, from the moment of the answer until it ends', async () => {
    const browser = openBrowser(app);
    await tell({ message: '<script>alert(1)</script> & "down"', theme: 'light-red' });
    for (const path of ['/', '/users/sign_in', '/users/password/new']) {
      const { text } = await browser.get(path);
      expect(text).toContain('<aside class="broadcast light-red banner"');
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;down&quot;');
      expect(text).not.toContain('<script>');
    }
    const back = moveClock(3_601_000);
    try {
      app.app.services.instance.forget();
      expect((await browser.get('/')).text).not.toContain('<aside');
    } finally {
      back();
      app.app.services.instance.forget();
    }
  });

  test('show it however many are to come', async () => {
    await tell({ message: 'Down now' });
    const times = { starts_at: '2090-01-01T00:00:00Z', ends_at: '2090-01-02T00:00:00Z' };
    for (let count = 0; count < 20; count += 1) await tell({ message: 'Later', ...times });
    const { text } = await openBrowser(app).get('/users/sign_in');
    expect([text.includes('Down now'), text.includes('Later')]).toEqual([true, false]);
  });

  test('show it to nobody at addresses that name nothing', async () => {
    const user = await makeUser(app);
    await tell({ message: 'For developers', target_access_levels: [30] });
    const browser = openBrowser(app);
    await signInAs(browser, user.username, 'correct horse battery staple');
    for (const path of ['/a/%00', '/groups/%00/b', '/%E2%80%AE/%FF', '/12', '/a%2Fb']) {
      const { status, text } = await browser.get(path);
      expect([path, [400, 404].includes(status), text.includes('For developers')]).toEqual([
        path,
        true,
        false,
      ]);
    }
  });

  test('show it where its path fits', async () => {
    const browser = openBrowser(app);
    await tell({ message: 'Sign in', target_path: '*/sign_in' });
    expect((await browser.get('/users/sign_in')).text).toContain('Sign in</p>');
    expect((await browser.get('/')).text).not.toContain('<aside');
  });

  test('show it to members of the level, in the project and the group', () =>
    withSettings(app, {}, async () => {
      const team = await makeTeam(app);
      await openToAll(app, team);
      const { group, project } = team;
      const { reporter, developer } = await makeMembers(app, `groups/${group.id}`, 'reporter', 'developer');
      await tell({ message: 'For developers', target_access_levels: [30] });
      const sees = async (username: string | undefined, path: string) => {
        const browser = openBrowser(app);
        if (username !== undefined) await signInAs(browser, username, 'correct horse battery staple');
        const { status, text } = await browser.get(path);
        expect(status).toBe(200);
        return text.includes('For developers');
      };
      const path = `/${project.path_with_namespace}`;
      expect(await sees(developer.username, path)).toBe(true);
      expect(await sees(developer.username, `/${group.full_path}`)).toBe(true);
      expect(await sees(developer.username, '/')).toBe(false);
      expect(await sees(reporter.username, path)).toBe(false);
      expect(await sees(undefined, path)).toBe(false);
    }));

  test('whoever puts it away does not see it again, and others do', async () => {
    const [browser, other] = [openBrowser(app), openBrowser(app)];
    const { id } = await tell({ message: 'Read me', dismissable: true });
    const action = `/-/broadcast_messages/${id}/dismiss`;
    const { status, location } = await browser.submit('/users/sign_in?return_to=%2Fa', {}, action);
    expect([status, location]).toEqual([303, '/users/sign_in?return_to=%2Fa']);
    expect((await browser.get('/')).text).not.toContain('Read me');
    expect((await other.get('/')).text).toContain('Read me');
    expect((await other.post(action, { return_to: 'https://evil.example' })).location).toBe('/');
  });

  test('one that cannot be put away stays', async () => {
    const browser = openBrowser(app);
    const { id } = await tell({ message: 'Important' });
    expect((await browser.get('/')).text).not.toContain('/dismiss');
    const { headers } = await browser.post(`/-/broadcast_messages/${id}/dismiss`, {});
    expect(headers.getSetCookie()).toEqual([]);
    browser.cookies.set(`hide_broadcast_message_${id}`, 'true');
    expect((await browser.get('/')).text).toContain('Important');
    for (const name of ['999999', 'x', '%00'])
      expect(
        (await browser.post(`/-/broadcast_messages/${name}/dismiss`, {})).headers.getSetCookie(),
      ).toEqual([]);
  });
});

describe('git', () => {
  const pushTo = async (project: { path_with_namespace: string }, password: string) => {
    const work = join(home, uniqueName('work'));
    await mustGit(home, ['init', '-q', '-b', 'main', work]);
    await commitFiles(work, { 'a.txt': uniqueName('a') });
    return runGit(work, [
      'push',
      addressOf(app.url, project.path_with_namespace, password),
      'HEAD:refs/heads/main',
      '--force',
    ]);
  };

  test('shows banners to whoever pushes', async () => {
    const project = await makeProject(app);
    await tell({ message: 'Down at noon\nup at one' });
    await tell({ message: 'Only on pages', broadcast_type: 'notification' });
    await tell({ message: 'Elsewhere', target_path: '/other/*' });
    await tell({ message: 'Here', target_path: `/${project.path_with_namespace}` });
    await tell({ message: 'For guests', target_access_levels: [10] });
    const { code, output } = await pushTo(project, ROOT_TOKEN);
    expect(code).toBe(0);
    expect(output).toMatch(/remote: Here\s*\n[\s\S]*remote: Down at noon\s*\nremote: up at one/);
    for (const text of ['Only on pages', 'Elsewhere', 'For guests']) expect(output).not.toContain(text);
  });

  test('shows those for a level to members of it', async () => {
    const { project, maintainer, developer } = await makeTeam(app);
    await tell({ message: 'For maintainers', target_access_levels: [40] });
    const first = await pushTo(project, maintainer.token);
    expect([first.code, first.output.includes('For maintainers')]).toEqual([0, true]);
    const work = join(home, uniqueName('work'));
    await mustGit(home, [
      'clone',
      '-q',
      addressOf(app.url, project.path_with_namespace, developer.token),
      work,
    ]);
    await commitFiles(work, { 'b.txt': 'b' });
    const second = await runGit(work, ['push', 'origin', 'HEAD:refs/heads/topic']);
    expect([second.code, second.output.includes('For maintainers')]).toEqual([0, false]);
  });
});
