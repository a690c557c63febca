/** Users with a real browser, Debian's Chromium: signing in and out, a second factor, a new password, their sessions. */
import { expect, test } from 'vitest';
import { expectGoodPage, fillSignIn, mailedLink, PASSWORD, signIn, totp, useBrowser } from './browser.ts';

const journey = useBrowser();

test('signing in and out, a wrong password, and the pages of those who are not signed in', async () => {
  const { username } = await journey.makeUser('ada');
  const { page } = await journey.visit();
  await page.goto('/');
  await expectGoodPage(page, 'Ashlar');
  await page.goto('/-/profile/password');
  await expectGoodPage(page, 'Sign in');
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('login');
  await fillSignIn(page, username, 'wrong');
  await page.getByRole('alert').waitFor();
  await expectGoodPage(page, 'Sign in');
  expect(await page.getByRole('alert').textContent()).toContain('Invalid');
  expect(await page.getByLabel('Username or email').inputValue()).toBe(username);
  await fillSignIn(page, username, PASSWORD);
  await expectGoodPage(page, 'Change password');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByLabel('New password', { exact: true }).fill('another horse battery');
  await page.getByLabel('New password again').fill('another horse battery');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expectGoodPage(page, 'Password changed');
  await page.getByRole('link', { name: 'Go on' }).click();
  await expectGoodPage(page, 'Ashlar');
  await page.goto('/admin/applications');
  await expectGoodPage(page, 'That did not work');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/users/sign_in');
  await page.goto('/-/profile/password');
  await expectGoodPage(page, 'Sign in');
  for (const [path, heading] of [
    ['/users/sign_up', 'Register'],
    ['/users/password/new', 'Set a new password'],
    ['/users/confirmation/new', 'Confirm your email address'],
    ['/users/password/edit?reset_password_token=wrong', 'Set a new password'],
  ] as const) {
    await page.goto(path);
    await expectGoodPage(page, heading);
  }
});

test('registering: nobody gets in before the link in the mail has confirmed the address', async () => {
  const settings = { email_confirmation_setting: 'hard', require_admin_approval_after_user_signup: false };
  expect((await journey.program.root('PUT /application/settings', settings)).status).toBe(200);
  const { page } = await journey.visit();
  await page.goto('/users/sign_up');
  await page.getByLabel('Name', { exact: true }).fill('Ella');
  await page.getByLabel('Username').fill('ella');
  await page.getByLabel('Email').fill('ella@example.com');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByRole('alert').waitFor();
  await expectGoodPage(page, 'Register');
  expect(await page.getByLabel('Email').inputValue()).toBe('ella@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Register' }).click();
  await expectGoodPage(page, 'You are registered');
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
  await fillSignIn(page, 'ella', PASSWORD);
  await page.getByRole('link', { name: 'Send the confirmation mail again' }).waitFor();
  await expectGoodPage(page, 'Sign in');
  await page.goto(await mailedLink(journey.program.data, 'ella@example.com'));
  await expectGoodPage(page, 'Confirm your email address');
  await page.getByRole('button', { name: 'Confirm this address' }).click();
  await expectGoodPage(page, 'Address confirmed');
  await signIn(page, 'ella', PASSWORD);
});

test('two-factor authentication: set up from the page, asked for at the next sign-in, or a recovery code', async () => {
  const { username } = await journey.makeUser('bea');
  const { page } = await journey.visit();
  await signIn(page, username, PASSWORD);
  await page.getByRole('link', { name: 'Two-factor authentication' }).click();
  await expectGoodPage(page, 'Two-factor authentication');
  const code = page.getByRole('img', { name: 'QR code' });
  const box = await code.boundingBox();
  expect(box?.width).toBeGreaterThan(150);
  expect(box?.width).toBe(box?.height);
  const key = (await page.locator('.key code').textContent()) ?? '';
  expect(key.replaceAll(' ', '')).toMatch(/^[A-Z2-7]{32}$/);
  await page.getByLabel('Code', { exact: true }).fill('12345');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('alert').waitFor();
  await expectGoodPage(page, 'Two-factor authentication');
  expect(await page.locator('.key code').textContent()).toBe(key);
  await page.getByLabel('Code', { exact: true }).fill(totp(key));
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expectGoodPage(page, 'Recovery codes');
  const [recovery = '', another = ''] = await page.locator('.codes li').allTextContents();

  const signInAgain = async (code: string) => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/users/sign_in');
    await fillSignIn(page, username, PASSWORD);
    await expectGoodPage(page, 'Two-factor authentication');
    await page.getByLabel('Code').fill('000 000');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByRole('alert').waitFor();
    await expectGoodPage(page, 'Two-factor authentication');
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('Signed in as').waitFor();
  };
  // The code of a step works once: that of the next is taken as well.
  await signInAgain(totp(key, 1));
  await signInAgain(recovery);
  await page.goto('/-/profile/two_factor_auth');
  await expectGoodPage(page, 'Two-factor authentication');
  await page.getByLabel('Code').fill(another);
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Two-factor authentication is off.').waitFor();
});

test('a forgotten password is set anew by the link in the mail', async () => {
  const { username, email } = await journey.makeUser('cleo');
  const { page } = await journey.visit();
  await page.goto('/users/sign_in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await expectGoodPage(page, 'Check your mail');
  await page.goto(await mailedLink(journey.program.data, email));
  await expectGoodPage(page, 'Set a new password');
  await page.getByLabel('New password', { exact: true }).fill('another horse battery');
  await page.getByLabel('New password again').fill('another donkey battery');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('alert').waitFor();
  await expectGoodPage(page, 'Set a new password');
  await page.getByLabel('New password', { exact: true }).fill('another horse battery');
  await page.getByLabel('New password again').fill('another horse battery');
  await page.getByRole('button', { name: 'Set password' }).click();
  await expectGoodPage(page, 'Password set');
  await signIn(page, username, 'another horse battery');
});

test('active sessions: one browser ends the session of another', async () => {
  const { username } = await journey.makeUser('dora');
  const here = await journey.visit();
  const there = await journey.visit();
  await signIn(there.page, username, PASSWORD);
  await signIn(here.page, username, PASSWORD);
  await here.page.goto('/-/profile/active_sessions');
  await expectGoodPage(here.page, 'Active sessions');
  expect(await here.page.getByRole('listitem').count()).toBe(2);
  await here.page.getByRole('button', { name: 'End this session:' }).click();
  await expect.poll(() => here.page.getByRole('listitem').count()).toBe(1);
  await there.page.goto('/-/profile/active_sessions');
  await expectGoodPage(there.page, 'Sign in');
  await here.page.reload();
  expect(await here.page.getByText('this browser').count()).toBe(1);
});
