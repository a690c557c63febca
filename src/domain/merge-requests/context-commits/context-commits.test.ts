/** Context commits over HTTP: added and removed by who may, each once, and kept when their branches are gone. */
import { beforeEach, expect, test } from 'vitest';
import { type Call, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import { gitIn, importCommit } from '../../../../test/support/git-histories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
let id = 0;
let path = '';
let shas: string[] = [];

/** A merge request, and a branch `other` of three commits, of which the second says that it is the newest. */
beforeEach(async () => {
  ({ id } = await makeReviewedProject(ashlar, { visibility: 'public' }));
  await makeMergeRequest(ashlar, id, 'topic');
  path = `/projects/${id}/merge_requests/1/context_commits`;
  const commit = (message: string, time: number, from: string) =>
    importCommit(ashlar, id, 'other', [{ path: 'c', text: message }], { from, message, time });
  const one = await commit('One', 1_700_000_000, 'refs/heads/main^0');
  const two = await commit('Two', 8_000_000_000_000, one);
  shas = [one, two, await commit('Three', 1_700_000_001, two)];
});

const titles = (commits: readonly { title: string }[]): string[] => commits.map(({ title }) => title);
const add = (commits: unknown, call: Call = ashlar.root) => call(`POST ${path}`, { body: { commits } });
const listed = async (): Promise<string[]> => titles(bodyOf(await ashlar.call(`GET ${path}`), 200));

test('are added, listed by the page, the newest first, and removed', async () => {
  const [one = '', two = '', three = ''] = shas;
  expect(titles(bodyOf(await add([one, two.slice(0, 10)]), 201))).toEqual(['One', 'Two']);
  expect(titles(bodyOf(await add(`${three},${three.toUpperCase()}`), 201))).toEqual(['Three']);
  expect(await listed()).toEqual(['Two', 'Three', 'One']);
  const second = await ashlar.call(`GET ${path}`, { query: 'per_page=1&page=2' });
  expect([second.headers.get('x-total'), second.body[0].id]).toEqual(['3', three]);
  const removed = await ashlar.root(`DELETE ${path}`, { body: { commits: [two, three.slice(0, 8)] } });
  expect(removed.status).toBe(204);
  expect(await listed()).toEqual(['One']);
  // What is no context commit any more is no mistake.
  expect((await ashlar.root(`DELETE ${path}`, { query: `commits=${two}` })).status).toBe(204);
});

test('stay when their branches are gone', async () => {
  bodyOf(await add(shas), 201);
  await gitIn(ashlar, id, ['branch', '-D', 'other']);
  await gitIn(ashlar, id, ['-c', 'gc.pruneExpire=now', 'gc', '--quiet']);
  expect(await listed()).toEqual(['Two', 'Three', 'One']);
});

test.each<[what: string, commits: (all: string[]) => unknown, message: RegExp]>([
  ['none', () => [], /commits is empty/],
  [
    'what is not there',
    ([one]) => [one, '1'.repeat(40)],
    /^One or more context commits' sha is not valid\.$/,
  ],
  ['a branch', () => ['other'], /sha is not valid/],
  ['too short a beginning', ([one = '']) => [one.slice(0, 6)], /sha is not valid/],
  ['an option', () => ['--all'], /sha is not valid/],
  ['too many', ([one]) => Array(21).fill(one), /^Context commits array size should not be more than 20$/],
])('%s is refused', async (_what, commits, message) => {
  for (const method of ['POST', 'DELETE']) {
    const refused = await ashlar.root(`${method} ${path}`, { body: { commits: commits(shas) } });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringMatching(message)]);
  }
  expect(await listed()).toEqual([]);
});

test('a tree is no commit', async () => {
  const tree = (await gitIn(ashlar, id, ['rev-parse', 'main^{tree}'])).trim();
  expect((await add([tree])).body.message).toBe("One or more context commits' sha is not valid.");
});

test('are added once, however many ask at once', async () => {
  const [one] = shas;
  const asked = await Promise.all(Array.from({ length: 6 }, () => add([one])));
  expect(asked.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
  expect((await add([one, shas[1]])).body.message).toBe(`Context commits: ["${one}"] are already created`);
  expect(await listed()).toEqual(['One']);
});

test('are added by developers and the author alone', async () => {
  const { reporter, developer } = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer');
  const stranger = await makeUser(ashlar);
  const statuses = async (...calls: Call[]) => {
    const all: number[] = [];
    for (const call of calls) all.push((await add([shas[0]], call)).status);
    return all;
  };
  expect(await statuses(ashlar.call, ashlar.as(stranger.token), ashlar.as(reporter.token))).toEqual([
    401, 403, 403,
  ]);
  expect(await statuses(ashlar.as(developer.token))).toEqual([201]);
  const gone = (call: Call) => call(`DELETE ${path}`, { body: { commits: [shas[0]] } });
  expect((await gone(ashlar.as(reporter.token))).status).toBe(403);
  expect(await listed()).toEqual(['One']);
  bodyOf(await ashlar.root(`POST /projects/${id}/archive`), 201);
  expect((await gone(ashlar.as(developer.token))).status).toBe(403);
});
