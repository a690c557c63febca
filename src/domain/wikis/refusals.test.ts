/** Wikis over HTTP: refusals, hostile names, and many callers at once. */
import { describe, expect, test } from 'vitest';
import { type Call, useApp } from '../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeMembers, makeUser } from '../../../test/support/factories.ts';
import {
  createPage,
  groupWikiParent,
  projectWikiParent,
  pushPages,
  slugsOf,
  type WikiParent,
} from '../../../test/support/wikis.ts';

const ashlar = useApp();
const NOT_THERE = { message: '404 Wiki Page Not Found' };

describe('what is refused', () => {
  const duplicate = { message: { base: ['Duplicate page: A page with that title already exists'] } };

  test('a title that another page has, in whatever capitals or format', async () => {
    const place = await projectWikiParent(ashlar);
    await createPage(ashlar, place, { title: 'A page', content: 'x' });
    await createPage(ashlar, place, { title: 'other', content: 'x' });
    for (const body of [{ title: 'A page' }, { title: 'a-PAGE' }, { title: 'A page', format: 'org' }])
      expect(await createPage(ashlar, place, { ...body, content: 'y' }, 400)).toEqual(duplicate);
    const renamed = await ashlar.root(`PUT ${place.wikis}/other`, { body: { title: 'a page' } });
    expect(bodyOf(renamed, 400)).toEqual(duplicate);
    const capitals = await ashlar.root(`PUT ${place.wikis}/other`, { body: { title: 'Other' } });
    expect(bodyOf(capitals, 200).slug).toBe('Other');
    expect(await slugsOf(ashlar, place)).toEqual(['A-page', 'Other']);
  });

  test('a page in the place of a folder, and a folder in the place of a page', async () => {
    const place = await projectWikiParent(ashlar);
    await pushPages(ashlar, place, { 'folder.md/inside.md': 'x', 'page.md': 'y' });
    expect(await createPage(ashlar, place, { title: 'folder', content: 'z' }, 400)).toEqual(duplicate);
    expect(await createPage(ashlar, place, { title: 'page.md/z', content: 'z' }, 400)).toEqual({
      message: { title: ['has a page in the place of a folder'] },
    });
    expect(await slugsOf(ashlar, place)).toEqual(['folder.md/inside', 'page']);
  });

  test('missing parameters and hostile titles', async () => {
    const place = await projectWikiParent(ashlar);
    const refused = async (body: Record<string, unknown>, response: object) =>
      expect([body, await createPage(ashlar, place, body, 400)]).toEqual([
        body,
        expect.objectContaining(response),
      ]);
    await refused({ content: 'x' }, { error: 'title is missing' });
    await refused({ title: 'x' }, { error: 'content is missing' });
    await refused(
      { title: 'x', content: 'x', format: 'html' },
      { error: 'format does not have a valid value' },
    );
    await refused({ title: '..', content: 'x' }, { message: { title: ["can't be blank"] } });
    for (const title of ['.git/config', 'a/.GIT/hooks', 'a\nb'])
      await refused({ title, content: 'x' }, { message: { title: ['is invalid'] } });
    await refused(
      { title: 'x'.repeat(300), content: 'x' },
      { message: { title: ['exceeds the limit of 245 bytes'] } },
    );
    expect((await ashlar.root(`POST ${place.wikis}`, { body: { title: 'a\0b', content: 'x' } })).status).toBe(
      400,
    );
    expect((await createPage(ashlar, place, { title: '../../outside', content: 'x' })).slug).toBe('outside');
    expect(await slugsOf(ashlar, place)).toEqual(['outside']);
    for (const slug of ['..%2F..%2Fconfig', '.git%2Fconfig', '--help', '%0A', 'x'.repeat(300)])
      expect(bodyOf(await ashlar.root(`GET ${place.wikis}/${slug}`), 404)).toEqual(NOT_THERE);
    expect((await ashlar.root(`GET ${place.wikis}/a%00b`)).status).toBe(404);
    expect(bodyOf(await ashlar.root(`PUT ${place.wikis}/outside`, { body: {} }), 400)).toEqual({
      message: '400 Bad request',
      error: 'content, title, format, front_matter are missing, at least one parameter must be provided',
    });
  });

  test('more content than the setting allows', async () => {
    const place = await projectWikiParent(ashlar);
    const { services } = ashlar.app;
    const settings = { wiki_page_max_content_bytes: 1_024 };
    bodyOf(await ashlar.root('PUT /application/settings', { body: settings }), 200);
    const response = await createPage(ashlar, place, { title: 'x', content: 'é'.repeat(600) }, 400);
    expect(response).toEqual({
      message: { content: ['is too long (1200 Bytes). The maximum size is 1024 Bytes.'] },
    });
    await services.settings.write(services.database.db, { wiki_page_max_content_bytes: 5_242_880 });
    services.settings.forget();
    const large = 'x'.repeat(3_000_000);
    expect((await createPage(ashlar, place, { title: 'x', content: large })).content).toBe(large);
  });

  test('more front matter than is read', async () => {
    const place = await projectWikiParent(ashlar);
    const page = (length: number) => ({
      title: 'x',
      content: 'x',
      front_matter: { title: 'x'.repeat(length) },
    });
    expect(await createPage(ashlar, place, page(4_096), 400)).toEqual({
      message: { front_matter: ['is too long'] },
    });
    expect(await createPage(ashlar, place, page(4_000))).toMatchObject(page(4_000));
  });

  test('a page that changed since, by its own history', async () => {
    const place = await projectWikiParent(ashlar);
    await pushPages(ashlar, place, { 'old.md': 'x' });
    await createPage(ashlar, place, { title: 'new', content: 'x' });
    const headers = { 'if-unmodified-since': 'Sat, 01 Jan 2024 00:00:00 GMT' };
    expect((await ashlar.root(`DELETE ${place.wikis}/new`, { headers })).status).toBe(412);
    expect((await ashlar.root(`DELETE ${place.wikis}/old`, { headers })).status).toBe(204);
    expect(await slugsOf(ashlar, place)).toEqual(['new']);
  });
});

describe('who may', () => {
  const requested = async (call: Call, { wikis }: WikiParent): Promise<number[]> => {
    const body = { title: `by-${Math.random()}`, content: 'x' };
    return [
      (await call(`GET ${wikis}`)).status,
      (await call(`GET ${wikis}/home`)).status,
      (await call(`POST ${wikis}`, { body })).status,
      (await call(`PUT ${wikis}/home`, { body: { content: 'y' } })).status,
      (await call(`DELETE ${wikis}/gone`)).status,
    ];
  };

  test.each([
    ['public', 'enabled', [200, 200, 401, 401, 401], [200, 200, 403, 403, 403]],
    ['public', 'private', [403, 403, 401, 401, 401], [200, 200, 403, 403, 403]],
    ['private', 'enabled', [404, 404, 401, 401, 401], [200, 200, 403, 403, 403]],
    ['public', 'disabled', [403, 403, 401, 401, 401], [403, 403, 403, 403, 403]],
  ])('a %s project whose wiki is %s', async (visibility, level, anonymous, guest) => {
    const place = await projectWikiParent(ashlar, { visibility });
    await createPage(ashlar, place, { title: 'home', content: 'x' });
    await ashlar.root(`PUT /projects/${place.id}`, { body: { wiki_access_level: level } });
    const user = await makeUser(ashlar);
    await addMember(ashlar, `projects/${place.id}`, user, 10);
    expect(await requested(ashlar.call, place)).toEqual(anonymous);
    expect(await requested(ashlar.as(user.token), place)).toEqual(guest);
    if (level === 'disabled') expect(await requested(ashlar.root, place)).toEqual(guest);
  });

  test('developers write, maintainers delete, in projects and in groups', async () => {
    for (const [source, place] of [
      ['projects', await projectWikiParent(ashlar)],
      ['groups', await groupWikiParent(ashlar)],
    ] as const) {
      await createPage(ashlar, place, { title: 'home', content: 'x' });
      const { developer, maintainer } = await makeMembers(
        ashlar,
        `${source}/${place.id}`,
        'developer',
        'maintainer',
      );
      expect(await requested(ashlar.as(developer.token), place)).toEqual([200, 200, 201, 200, 403]);
      expect(await requested(ashlar.as(maintainer.token), place)).toEqual([200, 200, 201, 200, 404]);
    }
  });
});

describe('at once', () => {
  test('of many who make the same page one does, and the rest are told', async () => {
    for (const place of [await projectWikiParent(ashlar), await groupWikiParent(ashlar)]) {
      const responses = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          ashlar.root(`POST ${place.wikis}`, { body: { title: 'home', content: `by ${index}` } }),
        ),
      );
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 400)]);
      const winner = responses.find(({ status }) => status === 201)?.body;
      expect(bodyOf(await ashlar.root(`GET ${place.wikis}/home`), 200)).toEqual(winner);
    }
  });

  test('no page that was acknowledged is lost', async () => {
    const place = await projectWikiParent(ashlar);
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        ashlar.root(`POST ${place.wikis}`, { body: { title: `page-${index}`, content: 'x' } }),
      ),
    );
    const made = responses.filter(({ status }) => status === 201).map(({ body }) => body.slug);
    expect(made.length).toBeGreaterThan(0);
    expect((await slugsOf(ashlar, place)).sort()).toEqual(made.sort());
    for (const { status, text } of responses)
      if (status !== 201)
        expect([status, text]).toEqual([400, expect.stringContaining('refresh and try again')]);
  });

  test('readers who look at pushed pages together agree on their ids', async () => {
    const place = await projectWikiParent(ashlar);
    await pushPages(
      ashlar,
      place,
      Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`p${index}.md`, 'x'])),
    );
    const lists = await Promise.all(Array.from({ length: 6 }, () => ashlar.root(`GET ${place.wikis}`)));
    for (const list of lists) expect(bodyOf(list, 200)).toEqual(bodyOf(lists[0] ?? list, 200));
  });
});

test('a wiki that moves is not written', async () => {
  const place = await projectWikiParent(ashlar);
  await createPage(ashlar, place, { title: 'home', content: 'x' });
  await ashlar.app.services.database
    .sql`update projects set repository_read_only = true where id = ${place.id}`;
  expect(await createPage(ashlar, place, { title: 'other', content: 'x' }, 403)).toEqual({
    message: 'The repository is temporarily read-only. Please try again later.',
  });
  expect(await slugsOf(ashlar, place)).toEqual(['home']);
});

describe('in the free tier', () => {
  const free = useApp({ env: { ASHLAR_TIER: 'free' } });

  test('groups have no wiki', async () => {
    const { id } = await makeGroup(free);
    expect((await free.root(`GET /groups/${id}/wikis`)).status).toBe(403);
  });
});
