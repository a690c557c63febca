/**
 * Markdown over HTTP: references are links for users who may see their records, and plain text for the rest.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';

const ashlar = useApp();
let group: { id: number; full_path: string };
let project: { id: number; path: string; path_with_namespace: string };
let member: MadeUser;
let guest: MadeUser;
let stranger: MadeUser;
let sha: string;

const make = async (path: string, body: Record<string, unknown>) =>
  bodyOf(await ashlar.root(`POST ${path}`, { body }), 201);

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = (await makeProject(ashlar, { namespace_id: group.id })) as typeof project;
  [member, stranger] = [await makeUser(ashlar), await makeUser(ashlar)];
  await addMember(ashlar, `groups/${group.id}`, member, 30);
  ({ guest } = await makeMembers(ashlar, `projects/${project.id}`, 'guest'));
  const at = `/projects/${project.id}`;
  await make(`${at}/issues`, { title: 'Open "quoted" <b>' });
  const closed = await make(`${at}/issues`, { title: 'Closed' });
  bodyOf(await ashlar.root(`PUT ${at}/issues/${closed.iid}`, { body: { state_event: 'close' } }), 200);
  await make(`${at}/issues`, { title: 'Confidential', confidential: true });
  await make(`${at}/labels`, { name: 'bug', color: '#ff0000', description: 'A "bug"' });
  await make(`/groups/${group.id}/labels`, { name: 'two words', color: '#00ff00' });
  await make(`${at}/milestones`, { title: 'v1.0' });
  await make(`/groups/${group.id}/milestones`, { title: 'next' });
  await make(`/groups/${group.id}/epics`, { title: 'Big' });
  await make(`/groups/${group.id}/epics`, { title: 'Big secret', confidential: true });
  const commit = await make(`${at}/repository/commits`, {
    branch: 'main',
    commit_message: 'First <commit>',
    actions: [{ action: 'create', file_path: 'a.txt', content: 'a' }],
  });
  sha = commit.id;
});

const render = async (text: string, reader: MadeUser, attributes: Record<string, unknown> = {}) => {
  const body = { text, gfm: true, ...attributes };
  return bodyOf(await ashlar.as(reader.token)('POST /markdown', { body }), 201).html.trim();
};

/** The texts of the links, with where they lead below the base. */
const linksOf = (html: string): string[] =>
  [...html.matchAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/g)].map(
    ([, href = '', text = '']) => `${text.replaceAll(/<[^>]*>/g, '')} → ${href.replace(ashlar.url, '')}`,
  );

const inProject = () => ({ project: project.path_with_namespace });
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

describe('references', () => {
  test('lead where they say, in the project and from elsewhere', async () => {
    const path = project.path_with_namespace;
    const issues = `/${path}/-/issues`;
    expect(linksOf(await render('#1 #2 #3', member, inProject()))).toEqual([
      `#1 → ${issues}/1`,
      `#2 (closed) → ${issues}/2`,
      `#3 → ${issues}/3`,
    ]);
    expect(linksOf(await render(`${path}#1 #1 other/place#1`, member))).toEqual([`${path}#1 → ${issues}/1`]);
    expect(linksOf(await render(`${project.path}#1`, member, inProject()))).toEqual([
      `${project.path}#1 → ${issues}/1`,
    ]);
    expect(linksOf(await render(`${ashlar.url}${issues}/1`, member, inProject()))).toEqual([
      `#1 → ${issues}/1`,
    ]);
    expect(linksOf(await render(`${ashlar.url}${issues}/1`, member))).toEqual([`${path}#1 → ${issues}/1`]);
  });

  test('to labels, milestones, epics, people, groups and commits', async () => {
    const path = project.path_with_namespace;
    const text = `~bug ~"two words" %v1.0 %next &1 @${member.username} @${group.full_path} ${sha.slice(0, 10)}`;
    expect(linksOf(await render(text, member, inProject()))).toEqual([
      `bug → /${path}/-/issues?label_name=bug`,
      `two words → /${path}/-/issues?label_name=two%20words`,
      `%v1.0 → /${path}/-/milestones/1`,
      `%next → /groups/${group.full_path}/-/milestones/1`,
      `&amp;1 → /groups/${group.full_path}/-/epics/1`,
      `@${member.username} → /${member.username}`,
      `@${group.full_path} → /groups/${group.full_path}`,
      `${sha.slice(0, 8)} → /${path}/-/commit/${sha}`,
    ]);
    const there = `${path}~bug ${path}%v1.0 ${group.full_path}&1 ${path}@${sha}`;
    expect(linksOf(await render(there, member))).toEqual([
      `bug in ${path} → /${path}/-/issues?label_name=bug`,
      `%v1.0 in ${path} → /${path}/-/milestones/1`,
      `${group.full_path}&amp;1 → /groups/${group.full_path}/-/epics/1`,
      `${path}@${sha.slice(0, 8)} → /${path}/-/commit/${sha}`,
    ]);
  });

  test('snippets of a project', async () => {
    const snippet = await make(`/projects/${project.id}/snippets`, {
      title: 'Shared',
      visibility: 'private',
      files: [{ file_path: 'a.txt', content: 'a' }],
    });
    const address = `/${project.path_with_namespace}/-/snippets/${snippet.id}`;
    expect(linksOf(await render(`$${snippet.id}`, member, inProject()))).toEqual([
      `$${snippet.id} → ${address}`,
    ]);
    expect(linksOf(await render(`${project.path_with_namespace}$${snippet.id}`, stranger))).toEqual([]);
  });

  test.each([
    ['snippets_access_level', 'snippet'],
    ['issues_access_level', 'issue'],
    ['repository_access_level', 'commit'],
  ] as const)('where %s keeps them to members, of a %s', async (setting, kind) => {
    const open = await makeProject(ashlar, { visibility: 'public', initialize_with_readme: true });
    const at = `/projects/${open.id}`;
    const issue = await make(`${at}/issues`, { title: 'Open' });
    const files = [{ file_path: 'a.txt', content: 'a' }];
    const snippet = await make(`${at}/snippets`, { title: 'Shared', visibility: 'public', files });
    const [commit] = bodyOf(await ashlar.root(`GET ${at}/repository/commits`), 200);
    const path = open.path_with_namespace;
    const name = {
      snippet: `${path}$${snippet.id}`,
      issue: `${path}#${issue.iid}`,
      commit: `${path}@${commit.id}`,
    };
    const found = async (reader: MadeUser) => linksOf(await render(name[kind], reader)).length;
    const { reporter } = await makeMembers(ashlar, `projects/${open.id}`, 'reporter');
    expect([await found(stranger), await found(reporter)]).toEqual([1, 1]);
    bodyOf(await ashlar.root(`PUT ${at}`, { body: { [setting]: 'private' } }), 200);
    expect([await found(stranger), await found(reporter)]).toEqual([0, 1]);
  });

  test('labels and milestones are not for who has Minimal Access', async () => {
    const path = project.path_with_namespace;
    const minimal = await makeUser(ashlar);
    await addMember(ashlar, `projects/${project.id}`, minimal, 10);
    const found = async () => linksOf(await render(`${path}~bug ${path}%v1.0`, minimal)).length;
    expect(await found()).toBe(2);
    await ashlar.app.services.database.sql`update members set access_level = 5 where user_id = ${minimal.id}`;
    expect(await found()).toBe(0);
  });

  test('what people wrote is escaped in them', async () => {
    const html = await render('#1 ~bug', member, inProject());
    expect(html).toContain('title="Open &quot;quoted&quot; &lt;b&gt;"');
    expect(html).toContain('title="A &quot;bug&quot;"');
    expect(html).toContain('style="background-color: #ff0000"');
  });

  test('what the reader may not see stays text, as what is not there does', async () => {
    const path = project.path_with_namespace;
    const names = [
      `${path}#1`,
      `${path}#3`,
      `${path}~bug`,
      `${path}%v1.0`,
      `${path}@${sha}`,
      `${group.full_path}&1`,
      `${group.full_path}&2`,
      `@${group.full_path}`,
      `${ashlar.url}/${path}/-/issues/1`,
      'no/such#1',
    ];
    const html = await render(names.join(' '), stranger);
    expect(linksOf(html)).toEqual([]);
    const position = `1:1-1:${names.join(' ').length}`;
    expect(html).toBe(`<p data-sourcepos="${position}" dir="auto">${escaped(names.join(' '))}</p>`);
    // Guests read issues that are not confidential, and no code.
    const seen = linksOf(await render(names.join(' '), guest)).map((link) => link.split(' → ')[0]);
    expect(seen.slice(0, 3)).toEqual([`${path}#1`, `bug in ${path}`, `%v1.0 in ${path}`]);
    expect(seen).not.toContain(`${path}#3`);
    expect(seen).not.toContain(`${path}@${sha.slice(0, 8)}`);
    // Developers read all of it.
    expect(linksOf(await render(names.join(' '), member))).toHaveLength(9);
  });

  test('a confidential epic is seen from Planner up', async () => {
    const user = await makeUser(ashlar);
    await addMember(ashlar, `groups/${group.id}`, user, 10);
    expect(linksOf(await render(`${group.full_path}&1 ${group.full_path}&2`, user))).toHaveLength(1);
    expect(linksOf(await render(`${group.full_path}&1 ${group.full_path}&2`, member))).toHaveLength(2);
  });

  test('many take as many statements as one of each kind', async () => {
    const statements = async (text: string): Promise<number> => {
      const uses = () =>
        ashlar.app.services.database.uses().find(({ name }) => name === 'requests')?.statements ?? 0;
      const before = uses();
      await render(text, member, inProject());
      return uses() - before;
    };
    const one = (number: number) =>
      `#${number} ~bug-${number} %v${number} &${number} @user-${number} $${number} p${number}#${number} `;
    await statements(one(1));
    const few = await statements(one(1));
    expect(few).toBeGreaterThan(3);
    expect(await statements(Array.from({ length: 60 }, (_, index) => one(index)).join(''))).toBe(few);
  });

  test('tell of what is long only its beginning, however often it is named', async () => {
    await make(`/projects/${project.id}/labels`, {
      name: 'long',
      color: 'red',
      description: 'd'.repeat(500_000),
    });
    const html = await render('~long '.repeat(200), member, inProject());
    expect(linksOf(html)).toHaveLength(200);
    expect(html).toContain(`title="${'d'.repeat(255)}"`);
    expect(html.length).toBeLessThan(200 * 1_000);
  });

  test('numbers beyond all that there can be are of nothing', async () => {
    expect(
      linksOf(
        await render('#9999999999 %9999999999 ~9999999999 $9999999999 &9999999999', member, inProject()),
      ),
    ).toEqual([]);
  });
});

test('files that are uploaded to the project are found there', async () => {
  const html = await render(`![x](/uploads/${'a'.repeat(32)}/x.png)`, member, inProject());
  expect(html).toContain(`src="${ashlar.url}/-/project/${project.id}/uploads/${'a'.repeat(32)}/x.png"`);
});

test('plain Markdown without gfm; a project that is not seen is not there; nobody renders without an account', async () => {
  expect(await render('*a* #1 :tada:', member, { gfm: false, ...inProject() })).toBe(
    '<p data-sourcepos="1:1-1:13" dir="auto"><em>a</em> #1 :tada:</p>',
  );
  const as = ashlar.as(stranger.token);
  const refused = await as('POST /markdown', { body: { text: '#1', gfm: true, ...inProject() } });
  expect(refused).toMatchObject({ status: 404, body: { message: '404 Project Not Found' } });
  expect((await ashlar.call('POST /markdown', { body: { text: 'x' } })).status).toBe(401);
  expect((await as('POST /markdown', { body: {} })).status).toBe(400);
});

test('a text made to be slow holds nobody up', async () => {
  const text = '['.repeat(1_048_576);
  let done = false;
  const rendering = render(text, member).then((html) => {
    done = true;
    return html;
  });
  // The server responds while the text is rendered: it takes seconds, and runs in another thread.
  expect((await ashlar.root('GET /version')).status).toBe(200);
  expect(done).toBe(false);
  expect((await rendering).length).toBeGreaterThan(1_000_000);
  const tooLong = await ashlar.as(member.token)('POST /markdown', { body: { text: `${text}x` } });
  expect(tooLong.status).toBe(400);
});

test('a text of which gigabytes would be made is shown as it was written', async () => {
  const text = `[a]: /${'u'.repeat(20_000)}\n\n${'[a] '.repeat(25_000)}`;
  expect(await render(text, stranger)).toBe(`<pre dir="auto">${text}</pre>`);
});
