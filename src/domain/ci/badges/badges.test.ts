/** Badges over HTTP: what they say of a branch, and to whom. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';

const app = useApp();

/** The picture's words; its status where there is none. */
async function said(path: string, token?: string): Promise<string | number> {
  const response = await fetch(`${app.url}/${path}`, { headers: token ? { 'private-token': token } : {} });
  const [, words] = /<title>(.*)<\/title>/.exec(await response.text()) ?? [];
  return response.headers.get('content-type') === 'image/svg+xml' ? (words ?? '') : response.status;
}

test('a badge says how the newest pipeline of a ref fares, and what it covers', async () => {
  const project = await makeProject(app, { visibility: 'public' });
  const home = project.path_with_namespace;
  const commit = async (branch: string, extra: object = {}) => {
    const actions = [{ action: 'create', file_path: 'a.txt', content: 'a' }];
    const body = { branch, commit_message: 'First', actions, ...extra };
    return bodyOf(await app.root(`POST /projects/${project.id}/repository/commits`, { body }), 201).id;
  };
  const sha = await commit('main');
  bodyOf(
    await app.root(`POST /projects/${project.id}/repository/branches`, {
      body: { branch: 'stone/wall', ref: 'main' },
    }),
    201,
  );
  const report = async (body: object) =>
    bodyOf(await app.root(`POST /projects/${project.id}/statuses/${sha}`, { body }), 201);
  expect(await said(`${home}/badges/main/pipeline.svg`)).toBe('pipeline: unknown');
  await report({ state: 'success', ref: 'main', name: 'one', coverage: 90 });
  await report({ state: 'success', ref: 'main', name: 'two', coverage: 81 });
  await report({ state: 'failed', ref: 'stone/wall', name: 'one' });
  expect(await said(`${home}/badges/main/pipeline.svg`)).toBe('pipeline: passed');
  expect(await said(`${home}/-/badges/main/pipeline.svg?key_text=tests&key_width=40`)).toBe('tests: passed');
  expect(await said(`${home}/badges/stone/wall/pipeline.svg`)).toBe('pipeline: failed');
  expect(await said(`${home}/badges/stone%2Fwall/pipeline.svg`)).toBe('pipeline: failed');
  expect(await said(`${home}/badges/main/coverage.svg`)).toBe('coverage: 85.50%');
  expect(await said(`${home}/badges/main/coverage.svg?job=two`)).toBe('coverage: 81.00%');
  expect(await said(`${home}/badges/stone/wall/coverage.svg`)).toBe('coverage: unknown');
  expect(await said(`${home}/badges/main/other.svg`)).toBe(404);
  expect(await said(`${home}/badges/pipeline.svg`)).toBe(404);
  expect(await said('nobody/nothing/badges/main/pipeline.svg')).toBe(404);
});

test('a hidden project has none for strangers, nor has one whose pipelines are hidden', async () => {
  const project = await makeProject(app, { visibility: 'private' });
  const { reporter } = await makeMembers(app, `projects/${project.id}`, 'reporter');
  const stranger = await makeUser(app);
  const path = `${project.path_with_namespace}/badges/main/pipeline.svg`;
  expect(await said(path, reporter.token)).toBe('pipeline: unknown');
  expect(await said(path, stranger.token)).toBe(404);
  expect(await said(path)).toBe(404);
  bodyOf(
    await app.root(`PUT /projects/${project.id}`, { body: { visibility: 'public', public_jobs: false } }),
    200,
  );
  expect(await said(path, reporter.token)).toBe('pipeline: unknown');
  expect([403, 404]).toContain(await said(path));
});
