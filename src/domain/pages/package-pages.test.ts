/** Pages of packages, for those who read them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { openBrowser, signInAs } from '../../../test/support/browser.ts';
import { bodyOf } from '../../../test/support/factories.ts';
import { makeTeam, own } from '../../../test/support/packages.ts';
import { PASSWORD } from '../../../test/support/rows.ts';

const app = useApp();

test('the addresses in the records of packages lead to pages, and these to the files', async () => {
  const team = await makeTeam(app);
  const { project, developer, reporter, guest } = team;
  const publish = async (path: string) => {
    const url = `${app.url}/api/v4/projects/${project.id}/packages/${path}`;
    const sent = await fetch(url, { method: 'PUT', headers: own(developer), body: '<b>granite</b>' });
    expect(sent.status).toBe(201);
  };
  await publish('generic/stone/1.0/stone.html');
  await publish('generic/stone/1.1/stone.html');
  await publish('terraform/modules/stone/local/2.0.0/file');
  const packages = bodyOf(await app.root(`GET /projects/${project.id}/packages`), 200);
  const [first, , third] = packages.map((each: { _links: { web_path: string } }) => each._links.web_path);

  const browser = openBrowser(app);
  await signInAs(browser, reporter.username, PASSWORD);
  const list = await browser.get(`/${project.path_with_namespace}/-/packages`);
  expect(list.status).toBe(200);
  for (const path of [first, third]) expect(list.text).toContain(`href="${path}"`);
  const page = await browser.get(first);
  expect(page.text).toContain('14 bytes');
  expect(page.text).toContain('1.1');
  const [, file = ''] = /href="([^"]+\/files\/\d+)"/.exec(page.text) ?? [];
  const content = await browser.get(file);
  expect([content.text, content.headers.get('content-disposition')]).toEqual([
    '<b>granite</b>',
    expect.stringContaining('attachment'),
  ]);
  expect((await browser.get(third)).text).toContain('stone/local');

  const other = openBrowser(app);
  await signInAs(other, guest.username, PASSWORD);
  for (const path of [first, file]) expect((await other.get(path)).status).toBeGreaterThanOrEqual(403);
});
