/** Pages to read: their content, their readers, and their addresses. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { type Browser, openBrowser, signInAs, withSettings } from '../../../test/support/browser.ts';
import {
  addMember,
  bodyOf,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';
import { makeIssue } from '../../../test/support/planning.ts';
import { makeReadable, OWNER_PASSWORD, type Readable } from '../../../test/support/readable.ts';
import { fillProject } from '../../../test/support/repositories.ts';

const ashlar = useApp();
let world: Readable;
let owner: Browser;
let home: string;

async function browserOf(user: { username: string }): Promise<Browser> {
  const browser = openBrowser(ashlar);
  await withSettings(ashlar, {}, () => signInAs(browser, user.username, OWNER_PASSWORD));
  return browser;
}

beforeAll(async () => {
  world = await makeReadable(ashlar);
  owner = await browserOf(world.owner);
  home = `/${world.project.path_with_namespace}`;
});

const BROWSER = { accept: 'text/html,*/*;q=0.8' };

describe('what is shown', () => {
  test('an issue with its labels, its people and what was said, each note an anchor', async () => {
    const { text } = await owner.get(`${home}/-/issues/${world.issue.iid}`);
    for (const part of [
      '<h1>The third course leans to the left</h1>',
      `id="note_${world.note.id}"`,
      'It leans by <strong>2 cm</strong>',
      'heavy &amp; hard',
      'Only for the team.',
      '>Fences</a>',
      '1 of 2 checklist items completed',
      '<ins> to the left</ins>',
    ])
      expect(text).toContain(part);
  });

  test('a merge request with its branches, its people and what was said', async () => {
    const path = `${home}/-/merge_requests/${world.mergeRequest.iid}`;
    const { text } = await owner.get(path);
    for (const part of [
      '<h1>Mortar, after all</h1>',
      '<code>mortar</code> → <code>main</code>',
      'A <strong>dry</strong> wall has none.',
      'heavy &amp; hard',
      `href="${home}/-/merge_requests?label_name=heavy%20%26%20hard"`,
      '>First course</a>',
      '1 of 2 checklist items completed',
      '<dt>Reviewers</dt>',
      '<ins>,</ins>',
      `href="${path}/diffs">1 file</a>`,
    ])
      expect(text).toContain(part);
    const { base_sha, head_sha } = world.mergeRequest.diff_refs;
    const compared = `${home}/-/compare/${base_sha}...${head_sha}`;
    expect((await owner.get(`${path}/diffs`)).location).toBe(compared);
    expect((await owner.get(`${path}/diffs?diff_id=1&start_sha=//evil.example`)).location).toBe(compared);
    const since = await owner.get(`${path}/diffs?diff_id=1&start_sha=${world.head}`);
    expect(since.location).toBe(`${home}/-/compare/${world.head}..${head_sha}`);
    expect((await owner.get(since.location ?? '')).text).toContain('mortar.txt');
  });

  test('merge requests of a project and of its groups, by state and label', async () => {
    const named = '>Mortar, after all</a>';
    for (const place of [home, `/groups/${world.group.full_path}`]) {
      const list = `${place}/-/merge_requests`;
      const text = async (query: string) => (await owner.get(`${list}${query}`)).text;
      expect(await text('')).toContain(named);
      expect(await text('?state=merged')).not.toContain(named);
      expect(await text('?state=all&label_name=heavy%20%26%20hard')).toContain(named);
      expect(await text('?label_name=none')).not.toContain(named);
      expect((await owner.get(place)).text).toContain(`href="${list}"`);
    }
  });

  test('a project with its README, whose links lead to its files', async () => {
    const { text } = await owner.get(home);
    expect(text).toContain(`href="${home}/-/blob/main/docs/guide.md"`);
    expect(text).toContain(`src="${home}/-/raw/main/docs/stone.png"`);
    expect(text).toContain('<td>granite</td>');
    expect(text).toMatch(/<h2 [^<>]*id="ashlar-in-short"[^<>]*>Ashlar in short<a href="#ashlar-in-short"/);
    expect(text).not.toContain('user-content-');
    expect(text).not.toContain('alert(1)');
  });

  test('a file in a folder leads back out of it, and a picture is sent as one', async () => {
    const { text } = await owner.get(`${home}/-/blob/main/docs/guide.md`);
    expect(text).toContain(`href="${home}/-/blob/main/README.md"`);
    const picture = await owner.get(`${home}/-/raw/main/docs/stone.png`);
    expect(picture.headers.get('content-type')).toBe('image/png');
    const source = await owner.get(`${home}/-/raw/main/README.md`);
    expect(source.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('a drawing is shown as a picture, and runs nothing where it is opened by itself', async () => {
    const address = `${home}/-/raw/main/docs/picture.svg`;
    expect((await owner.get(home)).text).toContain(`src="${address}"`);
    const drawing = await owner.get(address);
    expect(Object.fromEntries(drawing.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const file = `${home}/-/blob/main/docs/picture.svg`;
    const shown = (await owner.get(file)).text;
    expect(shown).toContain(`<img src="${address}" alt="picture.svg">`);
    expect(shown).toContain('href="?plain=1">Source</a>');
    const source = (await owner.get(`${file}?plain=1`)).text;
    expect(source).toContain('&lt;script&gt;alert(1)');
    expect(source).not.toContain('<img src=');
    expect((await ashlar.call(`GET ${address}`, { raw: true })).status).toBe(404);
  });

  test('where other programs have forms, the way through the API is shown', async () => {
    const projectApi = `/api/v4/projects/${world.project.id}`;
    for (const [path, request] of [
      [`${home}/-/issues/new`, `${projectApi}/issues`],
      [`${home}/-/issues/new?issue[title]=x`, `${projectApi}/issues`],
      [`${home}/-/merge_requests/new?merge_request[source_branch]=x`, `${projectApi}/merge_requests`],
      [`${home}/-/branches/new`, `${projectApi}/repository/branches`],
      [`${home}/-/tags/new`, `${projectApi}/repository/tags`],
      [`${home}/-/labels/new`, `${projectApi}/labels`],
      [`${home}/-/milestones/new`, `${projectApi}/milestones`],
      [`${home}/-/snippets/new`, `${projectApi}/snippets`],
      [`/groups/${world.group.full_path}/-/epics/new`, `/api/v4/groups/${world.group.id}/epics`],
      [`/groups/${world.group.full_path}/-/labels/new`, `/api/v4/groups/${world.group.id}/labels`],
      ['/-/snippets/new', '/api/v4/snippets'],
      ['/projects/new', '/api/v4/projects'],
      ['/groups/new', '/api/v4/groups'],
    ] as const) {
      const { status, text } = await owner.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain(`"${ashlar.url}${request}"</pre>`);
      expect(text).toContain('href="/api/docs#');
    }
    for (const path of [
      `${home}/-/epics/new`,
      `${home}/-/merge_requests/0`,
      `${home}/-/issues/news`,
      `${home}/-/issues/0`,
      `${home}/-/issues/1x`,
      `${home}/-/milestones/news`,
      `${home}/-/snippets/news`,
      `${home}/-/alert_management/x/details`,
      `/groups/${world.group.full_path}/-/epics/news`,
      `${home}-not/-/issues/new`,
      `/groups/${world.group.full_path}/-/issues/new`,
      `/groups/${world.group.full_path}/-/branches/new`,
    ])
      expect([path, (await owner.get(path)).status]).toEqual([path, 404]);
    const hidden = await ashlar.call(`GET ${home}/-/issues/new`, { raw: true, headers: BROWSER });
    expect(hidden.status).toBe(404);
  });

  test('parameters that a page does not know are told, with those that it does', async () => {
    const note = async (path: string) =>
      /<p class="message" role="status">(.*?)<\/p>/s.exec((await owner.get(path)).text)?.[1];
    const issues = `${home}/-/issues`;
    for (const query of ['', '?state=all&page=1&label_name[]=a&label_name=b', '?state='])
      expect([query, await note(`${issues}${query}`)]).toEqual([query, undefined]);
    const mistyped = await note(`${issues}?staet=closed&state=closd&state=all`);
    expect(mistyped).toContain('<code>staet=closed</code>, <code>state=closd</code>');
    expect(mistyped).toMatch(/It knows(?: <code>\w+<\/code>(?: \([a-z, ]+\))?,?)+\./);
    for (const name of ['state', 'label_name', 'page']) expect(mistyped).toContain(`<code>${name}</code>`);
    expect(mistyped).toContain('<code>state</code> (opened, closed, all)');
    expect(await note(`${home}?x=%3Cscript%3E`)).toContain('<code>x=&lt;script&gt;</code>');
    expect(await note(`${home}?x=1`)).toContain('It takes no parameters.');
    const many = await note(`${home}?${'y'.repeat(500)}=1&b&c&d&e&f&g`);
    expect(many?.match(/<code>/g)).toHaveLength(5);
    expect(many).toContain(`<code>${'y'.repeat(50)}</code>`);
  });

  test.each([
    ['/-/tree/course/upper/docs', 'guide.md'],
    ['/-/tree/v1.0', 'README.md'],
    ['/-/blob/course/upper/docs/uploads/notes.txt', '<code>notes</code>'],
    ['/-/blob/main/odd%20name%20%231%3F.txt', '<code>odd</code>'],
    ['/-/commits/main/src/wall.ts', 'Commit 2'],
    ['/-/compare/main~1...main', 'Commit 2'],
    ['/-/commits/main', 'Commit 1'],
    ['/-/wikis/tools/hammer', 'A hammer.'],
    ['/-/issues?state=closed', 'Order more granite'],
    ['/-/issues?label_name=urgent', 'The third course leans'],
    ['/-/labels', 'Two people'],
    ['/-/pipelines/1', 'level'],
  ])('%s', async (path, part) => {
    const { status, text } = await owner.get(`${home}${path}`);
    expect(status).toBe(200);
    expect(text).toContain(part);
  });

  test('the address of a folder as a file’s, and of a file as a folder’s, lead to the other', async () => {
    expect((await owner.get(`${home}/-/blob/main/docs`)).location).toBe(`${home}/-/tree/main/docs`);
    expect((await owner.get(`${home}/-/tree/main/README.md`)).location).toBe(`${home}/-/blob/main/README.md`);
  });

  test('a commit shows both sides of each line', async () => {
    const { text } = await owner.get(`${home}/-/commit/${world.head}`);
    expect(text).toContain(
      '<tr class="removed"><td class="number">1</td><td class="number"></td><td><code>-export const course0 = 0;',
    );
    expect(text).toContain(
      '<tr class="added"><td class="number"></td><td class="number">1</td><td><code>+export const wall = true;',
    );
    expect(text).toContain('Straight.');
  });
});

describe('to whom', () => {
  test('nobody reads what is public, and no more of it than at the API', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
    await fillProject(ashlar, id);
    const shown = await makeIssue(ashlar, { id });
    const secret = await makeIssue(ashlar, { id }, { confidential: true });
    const status = async (rest: string) =>
      (await ashlar.call(`GET /${path}${rest}`, { raw: true, headers: BROWSER })).status;
    expect([await status(''), await status('/-/tree/main'), await status(`/-/issues/${shown.iid}`)]).toEqual([
      200, 200, 200,
    ]);
    expect(await status(`/-/issues/${secret.iid}`)).toBe(404);
    const list = await ashlar.call(`GET /${path}/-/issues`, { raw: true, headers: BROWSER });
    expect(list.text).toContain(shown.title);
    expect(list.text).not.toContain(secret.title);
    bodyOf(
      await ashlar.root(`PUT /projects/${id}`, {
        body: { repository_access_level: 'private', issues_access_level: 'disabled' },
      }),
      200,
    );
    expect([
      await status(''),
      await status('/-/tree/main'),
      await status('/-/issues'),
      await status('/-/commits'),
    ]).toEqual([200, 404, 404, 404]);
    const page = await ashlar.call(`GET /${path}`, { raw: true, headers: BROWSER });
    expect(page.text).not.toContain('/-/tree/');
    expect(page.text).not.toContain('/-/issues');
  });

  test('the tabs of a project are those of what its reader may see', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
    await fillProject(ashlar, id);
    const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
    const member = await browserOf(developer);
    const tabsOf = (text: string) =>
      [
        ...(/<nav[^>]*aria-label="Project"[^>]*>(.*?)<\/nav>/s.exec(text)?.[1] ?? '').matchAll(
          /<a[^>]*>([^<]+)</g,
        ),
      ]
        .map(([, label]) => label)
        .filter((label) => label !== 'Overview');
    const anybody = async () =>
      tabsOf((await ashlar.call(`GET /${path}`, { raw: true, headers: BROWSER })).text);
    const all = tabsOf((await member.get(`/${path}`)).text);
    expect(all).toEqual(
      'Files,Commits,Branches,Tags,Releases,Issues,Merge requests,Pipelines,Packages,Alerts,Errors,Milestones,Labels,Snippets,Wiki'.split(
        ',',
      ),
    );
    expect(await anybody()).toEqual(all.filter((label) => label !== 'Alerts' && label !== 'Errors'));
    for (const [part, hidden] of [
      ['merge_requests', ['Merge requests']],
      ['repository', ['Files', 'Commits', 'Branches', 'Tags', 'Pipelines']],
      ['issues', ['Issues']],
      ['snippets', ['Snippets']],
      ['wiki', ['Wiki']],
    ] as const) {
      const before = await anybody();
      const body = { [`${part}_access_level`]: 'private' };
      bodyOf(await ashlar.root(`PUT /projects/${id}`, { body }), 200);
      const rest = before.filter((label) => !(hidden as readonly (string | undefined)[]).includes(label));
      expect([part, await anybody()]).toEqual([part, rest]);
    }
    expect(tabsOf((await member.get(`/${path}`)).text)).toEqual(all);
  });

  test('the tabs of a group are those of what its reader may see', async () => {
    const group = await makeGroup(ashlar);
    const inside = await makeProject(ashlar, { namespace_id: group.id });
    const [member, within] = [await makeUser(ashlar), await makeUser(ashlar)];
    await addMember(ashlar, `groups/${group.id}`, member, 10);
    await addMember(ashlar, `projects/${inside.id}`, within, 10);
    const tabs = async (user: { username: string }) => {
      const { text } = await (await browserOf(user)).get(`/groups/${group.full_path}`);
      const [, nav = ''] = /<nav[^>]*aria-label="Group"[^>]*>(.*?)<\/nav>/s.exec(text) ?? [];
      return [...nav.matchAll(/<a[^>]*>([^<]+)</g)].map(([, label]) => label);
    };
    expect(await tabs(member)).toEqual(
      'Overview,Issues,Merge requests,Epics,Milestones,Labels,Wiki'.split(','),
    );
    expect(await tabs(within)).toEqual(['Overview', 'Issues', 'Merge requests']);
  });

  test('who has Minimal Access is shown the project, and no tabs of what is in it', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar);
    const user = await makeUser(ashlar);
    await addMember(ashlar, `projects/${id}`, user, 10);
    await ashlar.app.services.database.sql`update members set access_level = 5 where user_id = ${user.id}`;
    const { status, text } = await (await browserOf(user)).get(`/${path}`);
    expect(status).toBe(200);
    for (const part of ['issues', 'merge_requests', 'milestones', 'labels', 'snippets', 'wikis'])
      expect(text).not.toContain(`/${path}/-/${part}`);
  });

  test('who reads the code is told that there is none yet, and from where it is cloned', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar);
    const { guest, reporter } = await makeMembers(ashlar, `projects/${id}`, 'guest', 'reporter');
    const [reading, view] = [await browserOf(reporter), await browserOf(guest)];
    const shown = async (browser: Browser) => {
      const { text } = await browser.get(`/${path}`);
      return [text.includes('The repository is empty.'), text.includes(`/${path}.git`)];
    };
    expect(await shown(reading)).toEqual([true, true]);
    expect(await shown(view)).toEqual([false, false]);
    await fillProject(ashlar, id, [{ 'README.md': 'Read me first' }]);
    const readme = async (browser: Browser) => (await browser.get(`/${path}`)).text.includes('Read me first');
    expect([await readme(reading), await readme(view)]).toEqual([true, false]);
  });

  test('how many issues there are is told to those who read them', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
    await makeIssue(ashlar, { id });
    const stranger = await browserOf(await makeUser(ashlar));
    expect((await stranger.get(`/${path}`)).text).toContain('Open issues');
    const body = { issues_access_level: 'private' };
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body }), 200);
    expect((await stranger.get(`/${path}`)).text).not.toContain('Open issues');
  });

  test('a Guest sees neither confidential issues nor internal notes', async () => {
    const { guest } = await makeMembers(ashlar, `projects/${world.project.id}`, 'guest');
    const browser = await browserOf(guest);
    const { status, text } = await browser.get(`${home}/-/issues/${world.issue.iid}`);
    expect([status, text.includes('Shall we take it down?'), text.includes('Only for the team.')]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await browser.get(`${home}/-/issues/2`)).status).toBe(404);
    expect((await browser.get(`${home}/-/tree/main`)).status).toBe(404);
  });

  test('a Guest, who reads no code, sees no merge requests', async () => {
    const { guest, reporter } = await makeMembers(
      ashlar,
      `projects/${world.project.id}`,
      'guest',
      'reporter',
    );
    const [hidden, shown] = [await browserOf(guest), await browserOf(reporter)];
    const one = `${home}/-/merge_requests/${world.mergeRequest.iid}`;
    for (const path of [`${home}/-/merge_requests`, one, `${one}/diffs`]) {
      expect([path, (await hidden.get(path)).status]).toEqual([path, 404]);
      expect([path, (await shown.get(path)).status < 400]).toEqual([path, true]);
    }
    expect((await hidden.get(`/groups/${world.group.full_path}/-/merge_requests`)).text).not.toContain(one);
  });

  test('people are hidden from nobody in particular where the instance is not public', () =>
    withSettings(ashlar, { restricted_visibility_levels: ['public'] }, async () => {
      const response = await ashlar.call(`GET /${world.owner.username}`, { raw: true, headers: BROWSER });
      expect(response.status).toBe(404);
      expect((await owner.get(`/${world.owner.username}`)).status).toBe(200);
    }));

  test('whoever is not signed in is shown the way to sign in, and back', async () => {
    const path = `${home}/-/issues/1`;
    const { status, text } = await ashlar.call(`GET ${path}`, { raw: true, headers: BROWSER });
    expect(status).toBe(404);
    expect(text).toContain(`href="/users/sign_in?return_to=${encodeURIComponent(path)}"`);
    const signed = await browserOf(await makeUser(ashlar));
    const refused = await ashlar.call(`GET ${path}`, {
      raw: true,
      headers: { ...BROWSER, cookie: signed.cookieHeader() },
    });
    expect([refused.status, refused.text.includes('/users/sign_in?')]).toEqual([404, false]);
  });

  test('the old address of a project leads to the new one, for those who see it', async () => {
    const { id, path_with_namespace: old } = await makeProject(ashlar, { visibility: 'public' });
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { path: 'elsewhere' } }), 200);
    const ask = (path: string) =>
      ashlar.call(`GET ${path}`, { raw: true, query: 'state=all', headers: BROWSER });
    const fresh = `/${old.split('/')[0]}/elsewhere`;
    expect((await ask(`/${old}`)).headers.get('location')).toBe(`${fresh}?state=all`);
    expect((await ask(`/${old}/-/issues`)).headers.get('location')).toBe(`${fresh}/-/issues?state=all`);
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { visibility: 'private' } }), 200);
    expect((await ask(`/${old}/-/issues`)).status).toBe(404);
  });
});

test('long lists come in pages, with the filters of the first', async () => {
  const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
  for (let made = 0; made < 21; made++) await makeIssue(ashlar, { id }, { title: `Issue ${made}` });
  const open = (query: string) =>
    ashlar.call(`GET /${path}/-/issues`, { raw: true, headers: BROWSER, query });
  const first = (await open('state=all')).text;
  expect(first).toContain('<a rel="next" href="?state=all&amp;page=2">');
  expect(first).not.toContain('rel="prev"');
  const second = (await open('state=all&page=2')).text;
  expect(second).toContain('<a rel="prev" href="?state=all&amp;page=1">');
  expect(second).not.toContain('rel="next"');
  expect([first.includes('>Issue 0<'), second.includes('>Issue 0<')]).toEqual([false, true]);
  expect((await open('page=-1')).text).toContain('>Issue 20<');
});

describe('names', () => {
  test('a group may be named as the addresses of files are', async () => {
    const { id: parent_id } = await makeGroup(ashlar, { visibility: 'public' });
    const group = await makeGroup(ashlar, { path: 'uploads', parent_id, visibility: 'public' });
    const project = await makeProject(ashlar, { namespace_id: group.id, visibility: 'public' });
    for (const rest of ['', '/-/issues']) {
      const path = `/${project.path_with_namespace}${rest}`;
      const { status } = await ashlar.call(`GET ${path}`, { raw: true, headers: BROWSER });
      expect([path, status]).toEqual([path, 200]);
    }
  });

  test('a branch is found beside a tag that its name begins with', async () => {
    const { id, path_with_namespace: path } = await makeProject(ashlar, { visibility: 'public' });
    await fillProject(ashlar, id, [{ 'README.md': 'main' }]);
    const made = `/projects/${id}/repository`;
    bodyOf(await ashlar.root(`POST ${made}/tags`, { body: { tag_name: 'v1', ref: 'main' } }), 201);
    bodyOf(await ashlar.root(`POST ${made}/branches`, { body: { branch: 'v1/fix', ref: 'main' } }), 201);
    for (const rest of ['tree/v1/fix', 'blob/v1/fix/README.md', 'blob/v1/README.md', 'commits/v1/fix']) {
      const { status } = await ashlar.call(`GET /${path}/-/${rest}`, { raw: true, headers: BROWSER });
      expect([rest, status]).toEqual([rest, 200]);
    }
    const { status } = await ashlar.call(`GET /${path}/-/tree/v1/none`, { raw: true, headers: BROWSER });
    expect(status).toBe(404);
  });

  test('a group is found under its bare path too, and a number is a name', async () => {
    const { id } = await makeGroup(ashlar, { path: '4711', visibility: 'public' });
    const other = await makeGroup(ashlar, { visibility: 'public' });
    const titleOf = async (path: string) =>
      /<h1>(.*?)<\/h1>/.exec((await ashlar.call(`GET ${path}`, { raw: true, headers: BROWSER })).text)?.[1];
    expect(await titleOf('/groups/4711')).toBe(await titleOf('/4711'));
    expect((await ashlar.call(`GET /groups/${id}`, { raw: true })).status).toBe(404);
    expect(await titleOf(`/${other.full_path}`)).toBe(other.full_path);
    expect((await ashlar.call(`GET /groups/${other.id}`, { raw: true })).status).toBe(404);
    expect((await ashlar.call(`GET /${world.owner.id}`, { raw: true })).status).toBe(404);
    await makeGroup(ashlar, { path: '4712' });
    const stranger = await browserOf(await makeUser(ashlar));
    expect([(await stranger.get('/4711')).status, (await stranger.get('/4712')).status]).toEqual([200, 404]);
  });

  test('capitals make no difference', async () => {
    expect((await owner.get(home.toUpperCase())).status).toBe(200);
    expect((await owner.get(`/${world.owner.username.toUpperCase()}`)).status).toBe(200);
  });
});
