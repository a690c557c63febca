/** Wikis over HTTP: those of projects and groups, and pages that came by git. */
import { describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import { bodyOf } from '../../../test/support/factories.ts';
import {
  createPage,
  groupWikiParent,
  projectWikiParent,
  pushPages,
  slugsOf,
  type WikiParent,
} from '../../../test/support/wikis.ts';
import { gitText } from '../../platform/git/program/program.ts';

const ashlar = useApp();
const NOT_THERE = { message: '404 Wiki Page Not Found' };

const folderOf = ({ key }: WikiParent): string => ashlar.app.services.repositories.folder(key, 'default');

const logOf = async (place: WikiParent): Promise<string[]> =>
  (await gitText(['log', '--format=%an: %s', 'HEAD'], { folder: folderOf(place) })).trim().split('\n');

describe.each([
  ['project', () => projectWikiParent(ashlar)],
  ['group', () => groupWikiParent(ashlar)],
])('the wiki of a %s', (_, makeTeam) => {
  test('is empty until it has a page, and no question makes a repository', async () => {
    const place = await makeTeam();
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}`), 200)).toEqual([]);
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}/home`), 404)).toEqual(NOT_THERE);
    expect(bodyOf(await ashlar.root(`PUT ${place.wikis}/home`, { body: { content: 'x' } }), 404)).toEqual(
      NOT_THERE,
    );
    expect(bodyOf(await ashlar.root(`DELETE ${place.wikis}/home`), 404)).toEqual(NOT_THERE);
    const { sql } = ashlar.app.services.database;
    const { kind, id } = place.key;
    expect(
      await sql`select from repositories where container = ${kind} and container_id = ${id} and wiki`,
    ).toHaveLength(0);
  });

  test('makes, shows, changes, renames and deletes pages', async () => {
    const place = await makeTeam();
    const page = await createPage(ashlar, place, { title: 'A page', content: 'Hello' });
    expect(page).toEqual({
      format: 'markdown',
      slug: 'A-page',
      title: 'A page',
      wiki_page_meta_id: expect.any(Number),
      content: 'Hello',
      encoding: 'UTF-8',
      front_matter: {},
    });
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}/A-page`), 200)).toEqual(page);
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}/A%20page`), 200)).toEqual(page);
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}/a-PAGE`), 200)).toEqual(page);

    const changed = bodyOf(
      await ashlar.root(`PUT ${place.wikis}/A-page`, {
        body: { title: 'folder/Another', content: 'Bye', format: 'asciidoc' },
      }),
      200,
    );
    expect(changed).toEqual({
      ...page,
      format: 'asciidoc',
      slug: 'folder/Another',
      title: 'Another',
      content: 'Bye',
    });
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}/folder%2FAnother`), 200)).toEqual(changed);
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}/A-page`), 404)).toEqual(NOT_THERE);

    await createPage(ashlar, place, { title: 'home', content: 'At home', format: 'rdoc' });
    const { content: _c, encoding: _e, front_matter: _f, ...basic } = changed;
    const list = bodyOf(await ashlar.root(`GET ${place.wikis}`), 200);
    expect(list).toEqual([basic, expect.objectContaining({ slug: 'home', format: 'rdoc' })]);
    const full = bodyOf(await ashlar.root(`GET ${place.wikis}`, { query: 'with_content=1&per_page=1' }), 200);
    expect(full).toEqual([changed]);

    expect((await ashlar.root(`DELETE ${place.wikis}/folder%2FAnother`)).status).toBe(204);
    expect(await slugsOf(ashlar, place)).toEqual(['home']);
    expect(await logOf(place)).toEqual([
      'Administrator: root deleted page: Another',
      'Administrator: root created page: home',
      'Administrator: root updated page: folder/Another',
      'Administrator: root created page: A page',
    ]);
  });

  test('shows what came by git, with ids that stay', async () => {
    const place = await makeTeam();
    await createPage(ashlar, place, { title: 'home', content: 'x' });
    await pushPages(ashlar, place, {
      '_sidebar.md': 'side',
      'a/b/c.org': 'deep',
      'pushed.md': '---\ntitle: Shown\n---\ntext',
      'picture.png': 'no page',
    });
    const list = bodyOf(await ashlar.root(`GET ${place.wikis}`), 200);
    expect(list.map(({ slug }: { slug: string }) => slug)).toEqual(['_sidebar', 'a/b/c', 'pushed']);
    expect(bodyOf(await ashlar.root(`GET ${place.wikis}`), 200)).toEqual(list);
    const pushed = bodyOf(await ashlar.root(`GET ${place.wikis}/pushed`), 200);
    expect(pushed).toMatchObject({ ...list[2], content: 'text', front_matter: { title: 'Shown' } });
  });

  test('keeps attachments beside the pages', async () => {
    const place = await makeTeam();
    const upload = async (name: string, fields: Record<string, string> = {}) => {
      const form = new FormData();
      form.append('file', new File(['bytes'], name));
      for (const [key, value] of Object.entries(fields)) form.append(key, value);
      const response = await fetch(`${ashlar.url}/api/v4${place.wikis}/attachments`, {
        method: 'POST',
        headers: { 'private-token': ROOT_TOKEN },
        body: form,
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    const { status, body } = await upload('dk.png');
    expect(status).toBe(201);
    const path = expect.stringMatching(/^uploads\/[0-9a-f]{32}\/dk\.png$/);
    expect(body).toEqual({
      file_name: 'dk.png',
      file_path: path,
      branch: 'main',
      link: { url: body.file_path, markdown: `![dk](${body.file_path})` },
    });
    const folder = folderOf(place);
    expect(await gitText(['cat-file', 'blob', `HEAD:${body.file_path}`], { folder })).toBe('bytes');
    expect(await slugsOf(ashlar, place)).toEqual([]);
    expect((await upload('.git')).body.file_name).toBe('_git');
    expect(await upload('dk.png', { branch: '--upload-pack=touch' })).toEqual({
      status: 400,
      body: { message: 'You can only create or edit files when you are on a branch' },
    });
    expect(await ashlar.root(`POST ${place.wikis}/attachments`)).toMatchObject({
      status: 400,
      body: { error: 'file is missing' },
    });
  });
});

test('an older version is read by its commit', async () => {
  const place = await projectWikiParent(ashlar);
  await createPage(ashlar, place, { title: 'home', content: 'one' });
  const first = (await gitText(['rev-parse', 'HEAD'], { folder: folderOf(place) })).trim();
  await ashlar.root(`PUT ${place.wikis}/home`, { body: { content: 'two' } });
  await ashlar.root(`DELETE ${place.wikis}/home`);
  const query = `version=${first}`;
  expect(bodyOf(await ashlar.root(`GET ${place.wikis}/home`, { query }), 200).content).toBe('one');
  for (const version of ['0'.repeat(40), '--all', 'HEAD:home.md', ''])
    expect(
      bodyOf(await ashlar.root(`GET ${place.wikis}/home`, { query: `version=${version}` }), 404),
    ).toEqual(NOT_THERE);
});

test('front matter is written before the content and shown apart', async () => {
  const place = await projectWikiParent(ashlar);
  const page = await createPage(ashlar, place, {
    title: 'home',
    content: 'text',
    front_matter: { title: 'Shown: so' },
  });
  expect(page).toMatchObject({ title: 'home', content: 'text', front_matter: { title: 'Shown: so' } });
  const put = async (body: unknown) => bodyOf(await ashlar.root(`PUT ${place.wikis}/home`, { body }), 200);
  expect(await put({ format: 'org' })).toMatchObject({ format: 'org', front_matter: { title: 'Shown: so' } });
  expect(await put({ front_matter: { title: 'New' } })).toMatchObject({
    content: 'text',
    front_matter: { title: 'New' },
  });
  expect(await put({ front_matter: { title: '' } })).toMatchObject({ content: 'text', front_matter: {} });
  const body = { title: 'other', content: 'text', front_matter: { 'a: b': 'x' } };
  expect(await createPage(ashlar, place, body, 400)).toEqual({ message: { front_matter: ['is invalid'] } });
});

test('the feed hears of every change in projects, by an id that stays', async () => {
  const place = await projectWikiParent(ashlar);
  const { wiki_page_meta_id: id } = await createPage(ashlar, place, { title: 'home', content: 'x' });
  await ashlar.root(`PUT ${place.wikis}/home`, { body: { title: 'moved' } });
  await ashlar.root(`DELETE ${place.wikis}/moved`);
  const { sql } = ashlar.app.services.database;
  const events = await sql`
    select action, target_type, target_id, author_id, details from activity_events
    where project_id = ${place.id} and target_type = 'WikiPage::Meta' order by id`;
  const event = (action: string, slug: string) => ({
    action,
    target_type: 'WikiPage::Meta',
    target_id: id,
    author_id: 1,
    details: {
      target_title: slug,
      wiki_page: { format: 'markdown', slug, title: slug, wiki_page_meta_id: id },
    },
  });
  expect(events).toEqual([event('created', 'home'), event('updated', 'moved'), event('destroyed', 'moved')]);
  const [repository] = await sql`select writes from repositories where container_id = ${place.id} and wiki`;
  expect(repository).toEqual({ writes: 3 });
});
