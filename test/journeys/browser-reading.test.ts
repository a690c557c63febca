/** Users with a real browser read: every kind of page on a phone and on a desk, light and dark, from one link to the next. */
import { expect, test } from 'vitest';
import { siteAt } from '../support/app.ts';
import { makeReadable, OWNER_PASSWORD } from '../support/readable.ts';
import { expectGoodPage, fillSignIn, signIn, useBrowser } from './browser.ts';
import { ROOT_TOKEN } from './support.ts';

const journey = useBrowser();

test('each page is laid out well, and the browser complains of nothing', async () => {
  const world = await makeReadable(siteAt(journey.program.url, ROOT_TOKEN));
  const { page } = await journey.visit();
  const project = `/${world.project.path_with_namespace}`;
  const group = `/groups/${world.group.full_path}`;
  const issue = `${project}/-/issues/${world.issue.iid}`;
  await page.goto(issue);
  await expectGoodPage(page, 'Page not found');
  await page.getByRole('link', { name: 'sign in', exact: true }).click();
  await fillSignIn(page, world.owner.username, OWNER_PASSWORD);
  await expectGoodPage(page, 'The third course leans to the left');
  for (const [path, heading] of [
    [project, 'Dry Wall'],
    [`${project}/-/commits`, 'Commits'],
    [`${project}/-/commit/${world.head}`, 'Commit 2'],
    [`${project}/-/compare/main~1...main`, 'Changes'],
    [`${project}/-/branches`, 'Branches'],
    [`${project}/-/tags`, 'Tags'],
    [`${project}/-/pipelines`, 'Pipelines'],
    [`${project}/-/pipelines/1`, 'Pipeline #1'],
    [`${project}/-/releases`, 'Releases'],
    [`${project}/-/issues?state=all`, 'Issues'],
    [`${project}/-/merge_requests`, 'Merge requests'],
    [`${project}/-/merge_requests/${world.mergeRequest.iid}`, 'Mortar, after all'],
    [`${project}/-/milestones`, 'Milestones'],
    [`${project}/-/milestones/1`, 'First course'],
    [`${project}/-/labels`, 'Labels'],
    [`${project}/-/snippets`, 'Snippets'],
    [`${project}/-/snippets/${world.snippet.id}`, 'Plumb line'],
    [`/-/snippets/${world.personal.id}`, 'Mine'],
    [`${project}/-/wikis`, 'Wiki'],
    [`${project}/-/wikis/home`, 'home'],
    [group, 'The Quarry'],
    [`${group}/-/epics`, 'Epics'],
    [`${group}/-/epics/${world.epic.iid}`, 'Fences'],
    [`${group}/-/issues`, 'Issues'],
    [`${group}/-/merge_requests`, 'Merge requests'],
    [`/${world.owner.username}`, 'Ada Mason'],
    [`${project}/-/tree/main`, 'dry-wall at main'],
    [`${project}/-/blob/main/README.md`, 'dry-wall / README.md at main'],
    [`${project}/-/blob/main/docs/stone.png`, 'dry-wall / docs / stone.png at main'],
    [`${project}/-/blob/main/odd%20name%20%231%3F.txt`, 'dry-wall / odd name #1?.txt at main'],
  ] as const) {
    await page.goto(path);
    await expectGoodPage(page, heading);
  }
});

test('a link to a note shows that note, and pictures of a README are there', async () => {
  const world = await makeReadable(siteAt(journey.program.url, ROOT_TOKEN));
  const { page } = await journey.visit({ javaScriptEnabled: false });
  await signIn(page, world.owner.username, OWNER_PASSWORD);
  const project = `/${world.project.path_with_namespace}`;
  await page.goto(`${project}/-/issues/${world.issue.iid}#note_${world.note.id}`);
  expect(await page.locator(':target').textContent()).toContain('It leans by 2 cm');
  await page.getByRole('link', { name: 'Milestones' }).click();
  await page.getByRole('link', { name: 'First course' }).click();
  await page.getByRole('link', { name: 'The third course leans to the left' }).click();
  await page.getByRole('link', { name: 'urgent' }).click();
  await page.getByRole('heading', { level: 1, name: 'Issues' }).waitFor();
  await page.getByRole('link', { name: 'Files' }).click();
  const width = () => page.evaluate(`document.querySelector('img[alt="picture"]').naturalWidth`);
  await expect.poll(width).toBe(1);
  await page.getByRole('link', { name: 'guide', exact: true }).click();
  await page.getByRole('link', { name: 'the start' }).click();
  await page.getByRole('link', { name: 'Source' }).click();
  await page.getByText('| granite | 2.7 |').waitFor();
});
