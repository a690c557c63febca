/** The first hour of an administrator in a real browser, without a token and without a command line. */
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { expectGoodPage, fillSignIn, PASSWORD, signIn, useBrowser } from './browser.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { ROOT_PASSWORD } from './support.ts';

const mail: MailServer = await startMailServer();
afterAll(() => mail.stop());
const journey = useBrowser({ SMTP_URL: mail.url });

const link = (page: Page, area: string) =>
  page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: area, exact: true });

/** Registers somebody, who then waits. */
async function register(name: string): Promise<void> {
  const { page } = await journey.visit({ javaScriptEnabled: false });
  await page.goto('/users/sign_up');
  await page.getByLabel('Name', { exact: true }).fill(`${name} Mason`);
  await page.getByLabel('Username').fill(name.toLowerCase());
  await page.getByLabel('Email').fill(`${name.toLowerCase()}@example.com`);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByText('administrator').first().waitFor();
}

const row = (page: Page, username: string) => page.getByRole('listitem').filter({ hasText: `@${username}` });
const saved = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

test('from the first sign-in to a site that people work on', async () => {
  await register('Ada');
  await register('Mallory');
  const { page } = await journey.visit();
  await page.goto('/admin');
  await fillSignIn(page, 'root', ROOT_PASSWORD);
  await expectGoodPage(page, 'Administration');
  await page.getByText('2 people wait to be let in.').waitFor();

  // A setting; a wrong value first.
  await link(page, 'Settings').click();
  await expectGoodPage(page, 'Settings');
  for (const title of await page.locator('main .what a').allTextContents()) {
    await page.getByRole('link', { name: title, exact: true }).click();
    await expectGoodPage(page, title);
    await page.getByRole('link', { name: 'All settings' }).click();
  }
  await page.getByRole('link', { name: 'Sign-up and sign-in' }).click();
  await page.getByLabel('Minimum password length').fill('4');
  await page.getByLabel('After sign up text').fill('Root looks every morning.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expectGoodPage(page, 'Sign-up and sign-in');
  await page.locator('#minimum_password_length_problem').waitFor();
  expect(await page.getByLabel('After sign up text').inputValue()).toBe('Root looks every morning.');
  await page.getByLabel('Minimum password length').fill('10');
  await page.getByRole('button', { name: 'Save' }).click();
  await saved(page, 'Saved.');
  await expectGoodPage(page, 'Sign-up and sign-in');

  // One is let in, another turned away.
  await link(page, 'Overview').click();
  await page.getByRole('link', { name: '2 people wait to be let in.' }).click();
  await expectGoodPage(page, 'Users');
  await row(page, 'ada').getByRole('button', { name: 'Approve' }).click();
  await saved(page, 'Approved');
  await row(page, 'mallory').locator('summary').click();
  await expectGoodPage(page, 'Users');
  await row(page, 'mallory').getByRole('button', { name: 'Reject' }).click();
  await saved(page, 'Rejected');
  await page.getByText('Nobody waits.').waitFor();
  await expectGoodPage(page, 'Users');
  const ada = await journey.visit();
  await signIn(ada.page, 'ada', PASSWORD);

  // An account is made, its form wrong at first; it becomes an administrator's.
  await page.getByRole('link', { name: 'New user' }).click();
  await expectGoodPage(page, 'New user');
  await page.getByLabel('Name', { exact: true }).fill('Grace Hopper');
  await page.getByLabel('Username').fill('ada');
  await page.getByLabel('Mail address').fill('grace@example.com');
  await page.getByLabel('This one').check();
  await page.getByLabel('Password that you give them').fill('short');
  await page.getByRole('button', { name: 'Make the user' }).click();
  await expectGoodPage(page, 'New user');
  await page.locator('#password_problem').waitFor();
  await page.getByLabel('Username').fill('grace');
  await page.getByLabel('Password that you give them').fill(PASSWORD);
  await page.getByRole('button', { name: 'Make the user' }).click();
  await saved(page, 'The account is made.');
  await expectGoodPage(page, 'Grace Hopper');
  await page.locator('summary', { hasText: 'Make administrator' }).click();
  await expectGoodPage(page, 'Grace Hopper');
  await page.getByRole('button', { name: 'Make administrator' }).click();
  await saved(page, 'administrator now');

  // One is blocked, and is out at once.
  await link(page, 'Users').click();
  await page.getByLabel('Name, username or whole mail address').fill('ada');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: 'Ada Mason' }).click();
  await page.locator('summary', { hasText: 'Block' }).click();
  await page.getByRole('button', { name: 'Block' }).click();
  await saved(page, 'Blocked');
  await expectGoodPage(page, 'Ada Mason');
  await ada.page.goto('/-/profile/password');
  await ada.page.getByLabel('Username or email').waitFor();
  await link(page, 'Users').click();
  await page.getByRole('link', { name: 'Blocked', exact: true }).click();
  await row(page, 'ada').waitFor();
  await page.getByRole('navigation', { name: 'Users' }).getByRole('link', { name: 'All' }).click();
  await expectGoodPage(page, 'Users');

  // A test mail arrives; when the server is gone, the page says so.
  await link(page, 'Mail').click();
  await expectGoodPage(page, 'Mail');
  const before = mail.letters.length;
  await page.getByRole('button', { name: 'Send a test mail' }).click();
  await saved(page, 'The mail server took the mail.');
  expect(mail.letters.slice(before).map(({ subject }) => subject)).toEqual(['A test of the mail server']);
  await mail.stop();
  await page.getByRole('button', { name: 'Send a test mail' }).click();
  await page.getByRole('alert').filter({ hasText: 'Nothing listens' }).waitFor();
  await expectGoodPage(page, 'Mail');

  await link(page, 'Jobs').click();
  await expectGoodPage(page, 'Jobs');
  await link(page, 'Health').click();
  await expectGoodPage(page, 'Health');
  await page.getByText('PostgreSQL').waitFor();
  await link(page, 'Applications').click();
  await expectGoodPage(page, 'Applications of the instance');

  // The new administrator finds the way from the first page.
  const grace = await journey.visit({ javaScriptEnabled: false });
  await signIn(grace.page, 'grace', PASSWORD);
  await grace.page.getByRole('main').getByRole('link', { name: 'Administration' }).click();
  await grace.page.getByText('Nothing waits for you.').waitFor();
});

test('by the keyboard alone: a person is let in, and a setting is changed', async () => {
  await register('Kay');
  const { page } = await journey.visit();
  await signIn(page, 'grace', PASSWORD);
  await page.goto('/admin/users?show=waiting');
  /** Goes on with the tabulator until the focus is on this text. */
  const tabTo = async (text: string): Promise<void> => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate<string>(
        `document.activeElement.ariaLabel ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent`,
      );
      if (focused.includes(text)) return;
    }
    throw new Error(`the focus never comes to ${text}`);
  };
  await tabTo('Reject: Kay Mason');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Reject: Kay Mason' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Shift+Tab');
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Approve: Kay Mason');
  await page.keyboard.press('Enter');
  await saved(page, 'Approved');
  await page.goto('/admin/settings/operation');
  await tabTo('Maintenance mode message');
  await page.keyboard.type('Back at noon');
  await page.keyboard.press('Tab');
  await tabTo('Save');
  await page.keyboard.press('Enter');
  await saved(page, 'Saved.');
  expect(await page.getByLabel('Maintenance mode message').inputValue()).toBe('Back at noon');
});
