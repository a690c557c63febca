/** References in texts lead to the tracker that a project, or a group around it, has. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeGroup, makeGroup, makeProject } from '../../../../test/support/factories.ts';

const ashlar = useApp();
let group: MadeGroup;
beforeAll(async () => {
  group = await makeGroup(ashlar);
});

const set = async (path: string, body: object) => bodyOf(await ashlar.root(`PUT ${path}`, { body }), 200);
const render = async (project: { path_with_namespace: string }, text: string): Promise<string> =>
  bodyOf(
    await ashlar.root('POST /markdown', { body: { text, gfm: true, project: project.path_with_namespace } }),
    201,
  ).html;
const hrefs = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);

const redmine = {
  issues_url: 'http://10.0.0.1/issues/:id?a="b"',
  project_url: 'http://10.0.0.1/projects/stone',
};

test('a tracker of this network gets the names that look like its issues, and no others', async () => {
  const project = await makeProject(ashlar, { namespace_id: group.id });
  expect(hrefs(await render(project, 'STONE-12 and #1'))).toEqual([]);
  await set(`/projects/${project.id}/integrations/redmine`, redmine);
  const html = await render(project, 'STONE-12, `STONE-13` and #1, [STONE-14](https://x.example/)');
  expect(hrefs(html)).toEqual(['http://10.0.0.1/issues/12?a=&quot;b&quot;', 'https://x.example/']);
  expect(html).toContain('title="Issue in Redmine"');
  expect((await ashlar.root(`DELETE /projects/${project.id}/integrations/redmine`)).status).toBe(204);
  expect(hrefs(await render(project, 'STONE-12'))).toEqual([]);
});

test('numbers are those of the tracker where the project has no issues', async () => {
  const project = await makeProject(ashlar, { namespace_id: group.id, issues_access_level: 'disabled' });
  await set(`/projects/${project.id}/integrations/redmine`, {
    ...redmine,
    issues_url: 'https://r.example/:id',
  });
  expect(hrefs(await render(project, '#7 and g/p#8'))).toEqual(['https://r.example/7']);
});

test("a group's is that of its projects, unless they have another", async () => {
  const project = await makeProject(ashlar, { namespace_id: group.id });
  const urls = { issues_url: 'https://group.example/:id', project_url: 'https://group.example/' };
  await set(`/groups/${group.id}/integrations/bugzilla`, urls);
  expect(hrefs(await render(project, 'STONE-12'))).toEqual(['https://group.example/12']);
  await set(`/projects/${project.id}/integrations/youtrack`, {
    ...urls,
    issues_url: 'https://own.example/:id',
  });
  expect(hrefs(await render(project, 'STONE-12'))).toEqual(['https://own.example/STONE-12']);
});

test('an address that is none is refused', async () => {
  const project = await makeProject(ashlar);
  const body = { ...redmine, issues_url: 'javascript:alert(1)//:id' };
  expect((await ashlar.root(`PUT /projects/${project.id}/integrations/redmine`, { body })).status).toBe(400);
});
