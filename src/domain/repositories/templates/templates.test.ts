/** Description templates: which files they are, and who reads them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { commitTo, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

const templateFiles = {
  '.gitlab/issue_templates/Bug report.md': 'What happened?\n',
  '.gitlab/issue_templates/default.md': 'What is it?\n',
  '.gitlab/issue_templates/notes.txt': 'none',
  '.gitlab/issue_templates/.md': 'none',
  '.gitlab/issue_templates/more/deep.md': 'none',
  '.gitlab/issue_templates/c++.1.md': 'c',
  '.gitlab/merge_request_templates/Default.md': 'Why?\n',
};

test('are the Markdown files of the folder in the default branch', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const list = `GET /projects/${id}/templates/issues`;
  expect(bodyOf(await ashlar.root(list), 200)).toEqual([]);
  await commitTo(ashlar, id, 'main', templateFiles);
  await commitTo(ashlar, id, 'topic', { '.gitlab/issue_templates/other.md': 'other' });
  const names = ['Bug report', 'c++.1', 'default'];
  expect(bodyOf(await ashlar.root(list), 200)).toEqual(names.map((name) => ({ key: name, name })));
  const second = await ashlar.root(list, { query: 'per_page=2&page=2' });
  expect([second.body, second.headers.get('x-total')]).toEqual([[{ key: 'default', name: 'default' }], '3']);
  expect(bodyOf(await ashlar.root(`GET /projects/${id}/templates/merge_requests`), 200)).toHaveLength(1);
  for (const [name, content] of [
    ['Bug%20report', 'What happened?\n'],
    ['c%2B%2B.1', 'c'],
  ]) {
    const shown = bodyOf(await ashlar.root(`${list}/${name}`), 200);
    expect(shown).toEqual({ name: decodeURIComponent(name ?? ''), content });
  }
  for (const name of ['Default', 'other', 'notes.txt', 'more%2Fdeep', '..%2F..%2Fa.txt', '%00']) {
    const missing = await ashlar.root(`${list}/${name}`);
    expect([name, missing.status]).toEqual([name, 404]);
  }
  const there = await ashlar.root(`${list}/default`, { query: `source_template_project_id=${id}` });
  expect(there.status).toBe(200);
});

test('another type, an empty project and another project have none', async () => {
  const { id } = await makeProject(ashlar);
  expect(bodyOf(await ashlar.root(`GET /projects/${id}/templates/merge_requests`), 200)).toEqual([]);
  const one = await ashlar.root(`GET /projects/${id}/templates/merge_requests/Default`);
  expect([one.status, one.body]).toEqual([404, { message: '404 Template Not Found' }]);
  expect((await ashlar.root(`GET /projects/${id}/templates/epics`)).status).toBe(404);
  const other = await makeReviewedProject(ashlar);
  await commitTo(ashlar, other.id, 'main', templateFiles);
  const foreign = await ashlar.root(`GET /projects/${id}/templates/issues/default`, {
    query: `source_template_project_id=${other.id}`,
  });
  expect(foreign.status).toBe(404);
});

test('a template longer than a description is none', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const body = {
    branch: 'main',
    commit_message: 'Long',
    actions: [
      { action: 'create', file_path: '.gitlab/issue_templates/long.md', content: 'a'.repeat(1_048_577) },
    ],
  };
  bodyOf(await ashlar.root(`POST /projects/${id}/repository/commits`, { body }), 201);
  expect((await ashlar.root(`GET /projects/${id}/templates/issues/long`)).status).toBe(404);
});

test('are read by those who read what they are for', async () => {
  const project = await makeReviewedProject(ashlar, { visibility: 'private' });
  const { id } = project;
  await commitTo(ashlar, id, 'main', templateFiles);
  const { guest, reporter } = await makeMembers(ashlar, `projects/${id}`, 'guest', 'reporter');
  const statuses = async (token?: string) =>
    Promise.all(
      ['issues', 'merge_requests'].map(async (type) => {
        const line = `GET /projects/${id}/templates/${type}`;
        return (await (token ? ashlar.as(token)(line) : ashlar.call(line))).status;
      }),
    );
  expect(await statuses(guest.token)).toEqual([200, 403]);
  expect(await statuses(reporter.token)).toEqual([200, 200]);
  expect(await statuses((await makeUser(ashlar)).token)).toEqual([404, 404]);
  expect(await statuses()).toEqual([404, 404]);
  bodyOf(
    await ashlar.root(`PUT /projects/${id}`, {
      body: { visibility: 'public', issues_access_level: 'private' },
    }),
    200,
  );
  expect(await statuses()).toEqual([403, 200]);
});
