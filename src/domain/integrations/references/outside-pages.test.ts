/** Pages elsewhere stand on the page of a project. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject } from '../../../../test/support/factories.ts';

const ashlar = useApp();

test('the external wiki and the tracker are on the page of a project, by a group or its own', async () => {
  const group = await makeGroup(ashlar, { visibility: 'public' });
  const project = await makeProject(ashlar, { namespace_id: group.id, visibility: 'public' });
  const page = async () => (await fetch(`${ashlar.url}/${project.path_with_namespace}`)).text();
  expect(await page()).not.toContain('External wiki');
  const wiki = { external_wiki_url: 'https://wiki.example/?a="b"' };
  bodyOf(await ashlar.root(`PUT /groups/${group.id}/integrations/external-wiki`, { body: wiki }), 200);
  const tracker = { issues_url: 'https://t.example/:id', project_url: 'https://t.example/stone' };
  bodyOf(await ashlar.root(`PUT /projects/${project.id}/integrations/redmine`, { body: tracker }), 200);
  const shown = await page();
  expect(shown).toContain('href="https://wiki.example/?a=&quot;b&quot;"');
  expect(shown).toContain('href="https://t.example/stone"');
  const refused = { external_wiki_url: 'javascript:alert(1)' };
  const path = `PUT /projects/${project.id}/integrations/external-wiki`;
  expect((await ashlar.root(path, { body: refused })).status).toBe(400);
});
