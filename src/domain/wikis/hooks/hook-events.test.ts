/** Pages of wikis, as hooks are told of them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit } from '../../../../test/support/git.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));
let project: { id: number; path_with_namespace: string };

beforeEach(async () => {
  project = await makeProject(ashlar);
  receiver.clear();
});
const reach = async (count: number) => {
  await expect.poll(() => receiver.payloads('Wiki Page Hook').length).toBe(count);
  return receiver.payloads('Wiki Page Hook');
};

test('a page is told when it is made, changed and deleted, with its commit', async () => {
  const at = `/projects/${project.id}`;
  await receiver.listen(ashlar, at, { wiki_page_events: true });
  const page = { title: 'The vault/Ribs', content: 'Of stone', front_matter: { mood: 'solid' } };
  bodyOf(await ashlar.root(`POST ${at}/wikis`, { body: page }), 201);
  const one = `${at}/wikis/The-vault%2FRibs`;
  bodyOf(await ashlar.root(`PUT ${one}`, { body: { content: 'Of limestone' } }), 200);
  await reach(2);
  bodyOf(await ashlar.root(`DELETE ${one}`), 204);
  const [made, changed, gone] = await reach(3);
  const web = `${ashlar.url}/${project.path_with_namespace}`;
  const sha = expect.stringMatching(/^[0-9a-f]{40}$/);
  expect(made).toEqual({
    object_kind: 'wiki_page',
    user: expect.objectContaining({ id: 1, email: '[REDACTED]' }),
    project: expect.objectContaining({ id: project.id }),
    wiki: {
      web_url: `${web}/-/wikis/home`,
      git_ssh_url: '',
      git_http_url: `${web}.wiki.git`,
      path_with_namespace: `${project.path_with_namespace}.wiki`,
      default_branch: 'main',
    },
    object_attributes: {
      slug: 'The-vault/Ribs',
      title: 'Ribs',
      format: 'markdown',
      message: 'root created page: The vault/Ribs',
      version_id: sha,
      content: 'Of stone',
      url: `${web}/-/wikis/The-vault/Ribs`,
      action: 'create',
      diff_url: `${web}/-/wikis/The-vault/Ribs/diff?version_id=${made.object_attributes.version_id}`,
    },
  });
  expect(changed.object_attributes).toMatchObject({ action: 'update', content: 'Of limestone' });
  expect(gone.object_attributes).toMatchObject({
    action: 'delete',
    message: 'root deleted page: Ribs',
    version_id: sha,
  });
  expect(gone.object_attributes).not.toHaveProperty('content');
});

test('pages that are pushed are told, with the commit that has them', async () => {
  const path = `/projects/${project.id}`;
  await receiver.listen(ashlar, path, { wiki_page_events: true });
  bodyOf(await ashlar.root(`POST ${path}/wikis`, { body: { title: 'Home', content: 'Walls' } }), 201);
  await reach(1);
  const work = join(home, 'wiki');
  const url = addressOf(ashlar.url, `${project.path_with_namespace}.wiki`, ROOT_TOKEN);
  await mustGit(home, ['clone', '--quiet', url, work]);
  await commitFiles(work, { 'Home.md': 'Thick walls', 'Roof.md': 'Slate' }, 'Go on');
  await mustGit(work, ['push', '--quiet', 'origin', 'HEAD']);
  const head = (await mustGit(work, ['rev-parse', 'HEAD'])).trim();
  const told = (await reach(3)).slice(1).map(({ object_attributes }) => object_attributes);
  const page = { message: 'Go on', version_id: head };
  expect(told).toMatchObject([
    { slug: 'Home', content: 'Thick walls', action: 'update', ...page },
    { slug: 'Roof', content: 'Slate', action: 'create', ...page },
  ]);
});

test("a page of a group's wiki is told to the group's hooks, with the group", async () => {
  const group = await makeGroup(ashlar);
  const at = `/groups/${group.id}`;
  await receiver.listen(ashlar, at, { wiki_page_events: true });
  bodyOf(await ashlar.root(`POST ${at}/wikis`, { body: { title: 'Home', content: 'Walls' } }), 201);
  const [made] = await reach(1);
  expect(made).toMatchObject({
    group: { group_id: group.id, full_path: group.full_path },
    object_attributes: { action: 'create', url: `${ashlar.url}/groups/${group.full_path}/-/wikis/Home` },
  });
  bodyOf(await ashlar.root(`DELETE ${at}/wikis/Home`), 204);
  expect((await reach(2))[1].object_attributes.action).toBe('delete');
});

test('a test sends a page, and says where there is none', async () => {
  const at = `/projects/${project.id}`;
  const hook = await receiver.listen(ashlar, at, {});
  const sample = () => ashlar.root(`POST ${at}/hooks/${hook.id}/test/wiki_page_events`);
  expect(bodyOf(await sample(), 422).message).toBe('Ensure the wiki is enabled and has pages.');
  bodyOf(await ashlar.root(`POST ${at}/wikis`, { body: { title: 'Home', content: 'Walls' } }), 201);
  bodyOf(await sample(), 201);
  expect((await reach(1))[0].object_attributes).toMatchObject({ slug: 'Home', content: 'Walls' });
});
