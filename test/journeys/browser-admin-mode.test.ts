/** Admin mode in a real browser: what it opens, and that it is left behind. */
import { expect, test } from 'vitest';
import { expectGoodPage, fillSignIn, PASSWORD, useBrowser } from './browser.ts';

const journey = useBrowser();

test('an administrator is asked for the password where it is needed, and leaves again', async () => {
  const { program } = journey;
  const { id, username } = await journey.makeUser('warden');
  expect((await program.root(`PUT /users/${id}`, { admin: true })).status).toBe(200);
  expect((await program.root('PUT /application/settings', { admin_mode: true })).status).toBe(200);
  const { page } = await journey.visit({ javaScriptEnabled: false });
  await page.goto('/users/sign_in');
  await fillSignIn(page, username, PASSWORD);
  await expectGoodPage(page, 'Ashlar');
  expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
  await page.goto('/admin/applications');
  await expectGoodPage(page, 'Enter admin mode');
  await page.getByLabel('Current password').fill('wrong');
  await page.getByRole('button', { name: 'Enter admin mode' }).click();
  await page.getByRole('alert').waitFor();
  await expectGoodPage(page, 'Enter admin mode');
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Enter admin mode' }).click();
  await page.waitForURL('**/admin/applications');
  await page.goto('/');
  expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(1);
  await page.getByRole('link', { name: 'Leave admin mode' }).click();
  await expectGoodPage(page, 'Admin mode');
  await page.getByRole('button', { name: 'Leave admin mode' }).click();
  await expectGoodPage(page, 'Admin mode');
  await page.goto('/admin/applications');
  await expectGoodPage(page, 'Enter admin mode');
});
