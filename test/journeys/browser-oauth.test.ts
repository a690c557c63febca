/** Applications and users with a real browser, Debian's Chromium: registered, approved, refused, revoked; devices. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectGoodPage, fillSignIn, PASSWORD, signIn, totp, useBrowser } from './browser.ts';
import { type Application, STATE, useClient } from './browser-client.ts';
import { ROOT_PASSWORD } from './support.ts';

const journey = useBrowser();
const client = useClient(journey);

/** Registers a confidential application by its form, from its owner's list; checks all pages of it. */
async function register(
  page: Page,
  name: string,
  more: { trusted?: boolean; alsoTo?: string } = {},
): Promise<Application> {
  await page.getByRole('link', { name: 'Register an application' }).click();
  await expectGoodPage(page, 'Register an application');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Redirect URIs').fill([client.callback, more.alsoTo ?? ''].join('\n'));
  if (more.trusted) await page.getByLabel('Trusted').check();
  await page.getByLabel('read_user', { exact: true }).check();
  await page.getByRole('button', { name: 'Register' }).click();
  await expectGoodPage(page, name);
  const uid = (await page.locator('#application_id').textContent()) ?? '';
  const secret = (await page.locator('#secret').textContent()) ?? '';
  expect(secret).toMatch(/^gloas-[0-9a-f]{64}$/);
  return { uid, secret, name };
}

const consentTo = (application: { name: string }): string => `Authorize “${application.name}”?`;

test('not signed in, sign in, consent, approve: the code arrives with state, and is good for a token', async () => {
  const application = await client.makeApplication('Garden');
  const { username } = await journey.makeUser('emma');
  const { page } = await journey.visit();
  await page.goto(client.authorizeUrl(application));
  await expectGoodPage(page, 'Sign in');
  await fillSignIn(page, username, PASSWORD);
  await expectGoodPage(page, consentTo(application));
  expect(await page.getByRole('main').textContent()).toContain('Read your profile');
  await page.getByRole('button', { name: 'Authorize' }).click();
  const sent = await client.arrival(page);
  expect(sent).toEqual({ code: expect.stringMatching(/^\S{20,}$/), state: STATE });
  const response = await client.callUser(await client.exchange(application, sent.code));
  expect(await response.json()).toMatchObject({ username });
});

test('denied: access_denied arrives, with state', async () => {
  const application = await client.makeApplication('Orchard');
  const { page } = await journey.visit();
  await signIn(page, (await journey.makeUser('finn')).username, PASSWORD);
  await page.goto(client.authorizeUrl(application));
  await page.getByRole('button', { name: 'Deny' }).click();
  expect(await client.arrival(page)).toMatchObject({ error: 'access_denied', state: STATE });
});

test('a client without an address of its own: the code is shown, to be copied', async () => {
  const redirect_uri = 'urn:ietf:wg:oauth:2.0:oob';
  const application = await client.makeApplication('Terminal', redirect_uri);
  const { page } = await journey.visit();
  await signIn(page, (await journey.makeUser('gina')).username, PASSWORD);
  await page.goto(client.authorizeUrl(application, { redirect_uri, scope: 'api read_user openid' }));
  await expectGoodPage(page, consentTo(application));
  await page.getByRole('button', { name: 'Authorize' }).click();
  await expectGoodPage(page, 'Authorization code');
  const code = (await page.locator('.key code').textContent()) ?? '';
  await client.exchange(application, code, redirect_uri);
});

test('with the keyboard alone, on rings that are seen, from signing in to the consent', async () => {
  const application = await client.makeApplication('Keys');
  const { username } = await journey.makeUser('hugo');
  const { page } = await journey.visit();
  await page.goto(client.authorizeUrl(application));
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.keyboard.type(username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: consentTo(application) }).waitFor();
  await page.waitForLoadState();
  const names: string[] = [];
  for (let stops = 0; stops < 20 && names.at(-1) !== 'Authorize'; stops++) {
    await page.keyboard.press('Tab');
    const [name, ring] = await page.evaluate<string[]>(
      `[document.activeElement.textContent.trim(), getComputedStyle(document.activeElement).outlineStyle]`,
    );
    expect(ring, `the ring around ${name}`).toBe('solid');
    names.push(name ?? '');
  }
  expect(names.at(-1), `reached: ${names.join()}`).toBe('Authorize');
  await page.keyboard.press('Enter');
  await client.exchange(application, (await client.arrival(page)).code);
});

test('a trusted application asks for no consent, and the redirects after both sign-in forms reach it', async () => {
  const admin = await journey.visit();
  await signIn(admin.page, 'root', ROOT_PASSWORD);
  await admin.page.getByRole('main').getByRole('link', { name: 'Administration' }).click();
  await admin.page.getByRole('navigation').getByRole('link', { name: 'Applications' }).click();
  await expectGoodPage(admin.page, 'Applications of the instance');
  const application = await register(admin.page, 'Trusted', { trusted: true });

  await journey.program.root('POST /groups', { name: 'Guild', path: 'guild' });
  await admin.page.goto('/groups/guild/-/settings/applications');
  await expectGoodPage(admin.page, 'Applications of Guild');
  await register(admin.page, 'Of the guild');

  const { username } = await journey.makeUser('gwen');
  const first = await journey.visit();
  await first.page.goto(client.authorizeUrl(application));
  await fillSignIn(first.page, username, PASSWORD);
  const sent = await client.arrival(first.page);
  expect(sent).toMatchObject({ state: STATE });
  await client.exchange(application, sent.code);

  await first.page.goto(`${journey.program.url}/-/profile/two_factor_auth`);
  const key = (await first.page.locator('.key code').textContent()) ?? '';
  await first.page.getByLabel('Code', { exact: true }).fill(totp(key));
  await first.page.getByLabel('Current password').fill(PASSWORD);
  await first.page.getByRole('button', { name: 'Turn on' }).click();
  await first.page.getByRole('heading', { name: 'Recovery codes' }).waitFor();

  const second = await journey.visit();
  await second.page.goto(client.authorizeUrl(application));
  await fillSignIn(second.page, username, PASSWORD);
  await second.page.getByLabel('Code').fill(totp(key, 1));
  await second.page.getByRole('button', { name: 'Verify' }).click();
  await client.exchange(application, (await client.arrival(second.page)).code);
});

test('what another site asks for in vain: an address that is not registered, a frame around the consent', async () => {
  const application = await client.makeApplication('Fence');
  const { page, complaints } = await journey.visit();
  await signIn(page, (await journey.makeUser('ivan')).username, PASSWORD);
  const before = client.received.length;
  await page.goto(client.authorizeUrl(application, { redirect_uri: `${client.callback}/elsewhere` }));
  await expectGoodPage(page, 'This application cannot be authorized');
  expect(new URL(page.url()).origin).toBe(journey.program.url);
  expect(client.received.length).toBe(before);

  const frame = client.authorizeUrl(application);
  await page.goto(`${client.neighbour}/?${new URLSearchParams({ frame })}`);
  await expect.poll(() => complaints.join()).toContain("frame-ancestors 'none'");
  complaints.length = 0;
  expect(await page.frameLocator('iframe').getByRole('button').count()).toBe(0);
});

test('registering one: the secret is shown once, long names and addresses wrap, and it can be changed and deleted', async () => {
  const { page } = await journey.visit();
  const { id, username } = await journey.makeUser('jane');
  await journey.program.root(`PUT /users/${id}`, { name: 'Jane'.repeat(50) });
  await signIn(page, username, PASSWORD);
  await page.getByRole('link', { name: 'Applications' }).click();
  await expectGoodPage(page, 'Your applications');
  await page.getByRole('link', { name: 'Register an application' }).click();
  await expectGoodPage(page, 'Register an application');
  await page.getByLabel('Name', { exact: true }).fill('Wrong');
  await page.getByLabel('Redirect URIs').fill('//client.example.org/callback');
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByRole('alert').waitFor();
  await expectGoodPage(page, 'Register an application');
  expect(await page.getByRole('alert').textContent()).toContain('must be an absolute URI.');
  await page.goto('/-/profile/applications');

  const name = `Long${'n'.repeat(200)}`;
  const application = await register(page, name, {
    alsoTo: `https://${'long.'.repeat(30)}example/${'path'.repeat(100)}`,
  });
  await page.getByRole('link', { name: 'All applications' }).click();
  await expectGoodPage(page, 'Your applications');
  await page.goto(client.authorizeUrl(application));
  await expectGoodPage(page, consentTo(application));
  await page.getByRole('button', { name: 'Authorize' }).click();
  const token = await client.exchange(application, (await client.arrival(page)).code);

  await page.goto(`${journey.program.url}/-/profile/applications`);
  await page.getByRole('link', { name }).click();
  await expectGoodPage(page, name);
  expect(await page.getByRole('main').textContent()).not.toContain('gloas-');
  await page.getByRole('link', { name: 'Edit' }).click();
  await expectGoodPage(page, `Edit ${name}`);
  await page.getByLabel('Name', { exact: true }).fill('Short');
  await page.getByRole('button', { name: 'Save' }).click();
  await expectGoodPage(page, 'Short');
  await page.getByText('Renew secret').first().click();
  await page.getByRole('button', { name: 'Renew secret' }).click();
  await page.locator('#secret').waitFor();
  expect(await page.locator('#secret').textContent()).not.toBe(application.secret);
  expect((await client.callUser(token)).status).toBe(200);
  await page.getByText('Delete application').first().click();
  await expectGoodPage(page, 'Short');
  await page.getByRole('button', { name: 'Delete application' }).click();
  await expectGoodPage(page, 'Your applications');
  expect((await client.callUser(token)).status).toBe(401);
});

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

test('a device: the code is typed and approved, the token works until the application is revoked', async () => {
  const application = await client.makeApplication('Television');
  const { username } = await journey.makeUser('kate');
  const { page } = await journey.visit();
  const { body: device } = await client.ask(application, 'authorize_device', { scope: 'read_user' });
  await page.goto(device.verification_uri ?? '');
  await expectGoodPage(page, 'Sign in');
  await fillSignIn(page, username, PASSWORD);
  await expectGoodPage(page, 'Connect a device');
  await page.getByLabel('Code').fill('BBBB-BBBB');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  await expectGoodPage(page, 'Connect a device');
  await page.getByLabel('Code').fill((device.user_code ?? '').toLowerCase().replace('-', ' '));
  await page.getByRole('button', { name: 'Continue' }).click();
  await expectGoodPage(page, 'Connect “Television”?');
  await page.getByRole('button', { name: 'Approve' }).click();
  await expectGoodPage(page, 'Device connected');
  const grant = { grant_type: DEVICE_GRANT, device_code: device.device_code ?? '' };
  const { access_token: token = '' } = (await client.ask(application, 'token', grant)).body;
  expect(await (await client.callUser(token)).json()).toMatchObject({ username });

  await page.goto('/-/profile/applications');
  await expectGoodPage(page, 'Your applications');
  await page.getByRole('button', { name: 'Revoke Television' }).click();
  await page.getByText('You have not authorised any application.').waitFor();
  expect((await client.callUser(token)).status).toBe(401);
});

test('without JavaScript: a device by its whole link, denied; then consent, approved', async () => {
  const application = await client.makeApplication('Radio');
  const { page } = await journey.visit({ javaScriptEnabled: false });
  const { body: device } = await client.ask(application, 'authorize_device', { scope: 'read_user' });
  await page.goto(device.verification_uri_complete ?? '');
  await fillSignIn(page, (await journey.makeUser('liam')).username, PASSWORD);
  await expectGoodPage(page, 'Connect a device');
  expect(await page.getByLabel('Code').inputValue()).toBe(device.user_code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expectGoodPage(page, 'Connect “Radio”?');
  await page.getByRole('button', { name: 'Deny' }).click();
  await expectGoodPage(page, 'Request denied');
  const grant = { grant_type: DEVICE_GRANT, device_code: device.device_code ?? '' };
  expect((await client.ask(application, 'token', grant)).body).toMatchObject({ error: 'access_denied' });

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(client.authorizeUrl(application));
  await fillSignIn(page, 'liam', PASSWORD);
  await expectGoodPage(page, consentTo(application));
  await page.getByRole('button', { name: 'Authorize' }).click();
  await client.exchange(application, (await client.arrival(page)).code);
  await page.goto(`${journey.program.url}/-/profile/applications`);
  await page.getByRole('button', { name: 'Revoke Radio' }).click();
  await page.getByText('You have not authorised any application.').waitFor();
});
