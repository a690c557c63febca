/** Refs of merge requests as revisions: for those who read merge requests, on every endpoint that takes one. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const app = useApp();

const ref = encodeURIComponent('refs/merge-requests/1/head');

const readings: readonly string[] = [
  `commits/${ref}`,
  `commits/${ref}/diff`,
  `commits/${ref}/refs`,
  `commits?ref_name=${ref}`,
  `tree?ref=${ref}`,
  `files/topic.txt?ref=${ref}`,
  `files/topic.txt/raw?ref=${ref}`,
  `files/topic.txt/blame?ref=${ref}`,
  `archive.tar?sha=${ref}`,
  `contributors?ref=${ref}`,
  `compare?from=main&to=${ref}`,
  `merge_base?refs[]=main&refs[]=${ref}`,
];

test('a ref of a merge request names a commit for who reads merge requests alone', async () => {
  const project = await makeReviewedProject(app, { visibility: 'public' });
  const { reporter, guest } = await makeMembers(app, `projects/${project.id}`, 'reporter', 'guest');
  await makeMergeRequest(app, project.id, 'topic');
  const statuses = async (call: typeof app.root) => {
    const seen: Record<string, number> = {};
    for (const reading of readings) {
      const [path, query = ''] = reading.split('?');
      seen[reading] = (await call(`GET /projects/${project.id}/repository/${path}`, { query })).status;
    }
    return seen;
  };
  const each = (status: number) => Object.fromEntries(readings.map((reading) => [reading, status]));
  expect(await statuses(app.call)).toEqual(each(200));
  const body = { merge_requests_access_level: 'private' };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body }), 200);
  expect(await statuses(app.as(reporter.token))).toEqual(each(200));
  for (const call of [app.call, app.as(guest.token)]) {
    const hidden = await statuses(call);
    // The base of merges says which of its revisions it does not know.
    expect(hidden).toEqual({ ...each(404), [readings.at(-1) ?? '']: 400 });
  }
  const search = await app.as(guest.token)(`GET /projects/${project.id}/search`, {
    query: `scope=blobs&search=topic&ref=${ref}`,
  });
  expect(search.status).toBe(404);
  const page = `${app.url}/${project.path_with_namespace}/-/tree/refs/merge-requests/1/head`;
  expect((await fetch(page)).status).toBe(404);
});

test('nor is a branch, a tag or a commit made of it by who does not read merge requests', async () => {
  const project = await makeReviewedProject(app, { visibility: 'public' });
  const { maintainer } = await makeMembers(app, `projects/${project.id}`, 'maintainer');
  await makeMergeRequest(app, project.id, 'topic');
  const name = 'refs/merge-requests/1/head';
  const head = `refs%2Fmerge-requests%2F1%2Fhead`;
  const commit = { branch: 'made', commit_message: 'Made', content: 'a' };
  const actions = [{ action: 'create', file_path: 'made', content: 'a' }];
  const writings: readonly (readonly [string, object])[] = [
    ['branches', { branch: 'made', ref: name }],
    ['branches', { branch: 'made', ref: `${name}~0` }],
    ['tags', { tag_name: 'made', ref: name }],
    ['tags', { tag_name: 'made', ref: name, message: 'Made' }],
    ['commits', { ...commit, actions, start_branch: name }],
    ['commits', { ...commit, actions, start_sha: name }],
    ['files/made', { ...commit, start_branch: name }],
    [`commits/${head}/cherry_pick`, { branch: 'main' }],
    [`commits/${head}/revert`, { branch: 'main' }],
    [`commits/${head}/comments`, { note: 'Found' }],
    [`commits/${head}/discussions`, { body: 'Found' }],
  ];
  const status = [`statuses/${head}`, { state: 'success' }] as const;
  const refused = async () => {
    const passed: unknown[] = [];
    for (const [path, body] of [...writings, status]) {
      const place = path.startsWith('statuses') || path.endsWith('discussions') ? '' : 'repository/';
      const call = `POST /projects/${project.id}/${place}${path}`;
      const answer = await app.as(maintainer.token)(call, { body: { ...body } });
      if (answer.status !== 400 && answer.status !== 404) passed.push([path, body, answer.status]);
    }
    return passed;
  };
  const body = { merge_requests_access_level: 'disabled' };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body }), 200);
  expect(await refused()).toEqual([]);
  const enabled = { merge_requests_access_level: 'enabled' };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: enabled }), 200);
  // Who reads them may: a branch must be new, and a change is not made twice.
  expect((await refused()).length).toBeGreaterThanOrEqual(5);
});
