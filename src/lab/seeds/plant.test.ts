import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf } from '../../../test/support/factories.ts';
import { gitIn } from '../../../test/support/git-histories.ts';
import { writeLoose } from '../../platform/git/loose.ts';
import { planHistory } from './history.ts';
import { type Planted, parseSeed, plantSeed, SeedError, seedText, writeSeed } from './index.ts';
import { objectsOf, signerOf } from './write-history.ts';

const ashlar = useApp();
const WORLD = readFileSync('examples/world.yml', 'utf8');
const plant = (text: string): Promise<Planted> => plantSeed(ashlar.app, parseSeed(text, 'w.yml'));

/** Lines of why a document could not be planted. */
const refusalOf = (text: string): Promise<readonly string[]> =>
  plant(text).then(
    () => [],
    (error: unknown) => {
      if (error instanceof SeedError) return error.problems;
      throw error;
    },
  );

let planted: Planted;
beforeAll(async () => {
  planted = await plant(WORLD);
});

const ACORN = '/projects/forest%2Foaks%2Facorn';
const get = async (path: string, token?: string) =>
  bodyOf(await (token === undefined ? ashlar.root : ashlar.as(token))(`GET ${path}`), 200);
const named = (all: { [key: string]: unknown }[], ...fields: string[]) =>
  all.map((each) => fields.map((field) => each[field]));

test('people are as described, and sign in with what was given', async () => {
  const ann = await get(`/users/${planted.users.ann}`);
  expect(ann).toMatchObject({
    username: 'ann',
    name: 'Ann Ash',
    bio: 'Plants trees.',
    email: 'ann@example.com',
  });
  expect(await get(`/users/${planted.users.bob}`)).toMatchObject({
    email: 'bob@ash.example',
    external: true,
  });
  expect(await get(`/users/${planted.users.cleo}`)).toMatchObject({ state: 'blocked' });
  expect(await get('/user', 'glpat-ann-of-the-example-world')).toMatchObject({ username: 'ann' });
  const [token] = await get(`/personal_access_tokens?user_id=${planted.users.ann}`);
  expect(token).toMatchObject({
    name: 'laptop',
    scopes: ['api', 'read_repository', 'write_repository'],
    expires_at: '2027-06-30',
  });
  const form = (password: string) => ({
    raw: true,
    form: new URLSearchParams({
      grant_type: 'password',
      username: 'ann',
      password,
      client_id: 'greenhouse-client-id',
      client_secret: 'greenhouse-client-secret',
      scope: 'read_user',
    }).toString(),
  });
  expect((await ashlar.call('POST /oauth/token', form('an-old-oak-by-the-river'))).status).toBe(200);
  expect((await ashlar.call('POST /oauth/token', form('another-password'))).status).toBe(400);
});

test('ids follow the document', () => {
  const { ann, bob, cleo } = planted.users;
  expect([bob, cleo]).toEqual([Number(ann) + 1, Number(ann) + 2]);
  expect(Object.keys(planted.projects)).toEqual(['root/demo', 'ann/notes', 'forest/oaks/acorn']);
  expect(planted.projects['forest/oaks/acorn']).toBe(Number(planted.projects['root/demo']) + 2);
});

test('groups and projects have their members, labels and milestones', async () => {
  expect(await get('/groups/forest')).toMatchObject({ name: 'Forest', visibility: 'public' });
  expect(named(await get('/groups/forest/members'), 'username', 'access_level').sort()).toEqual([
    ['ann', 50],
    ['bob', 20],
  ]);
  expect(named(await get('/groups/forest/labels'), 'name', 'color', 'description')).toEqual([
    ['urgent', '#d9534f', 'Before anything else'],
  ]);
  expect(await get('/groups/forest%2Foaks')).toMatchObject({
    name: 'Oaks',
    visibility: 'internal',
    parent_id: planted.groups.forest,
  });
  expect(named(await get('/groups/forest%2Foaks/milestones'), 'title', 'due_date')).toEqual([
    ['Spring', '2026-05-31'],
  ]);
  expect(await get(ACORN)).toMatchObject({
    name: 'Acorn',
    visibility: 'internal',
    default_branch: 'main',
    empty_repo: false,
  });
  const roles = named(await get(`${ACORN}/members`), 'username', 'access_level').sort();
  expect(roles.slice(0, 2)).toEqual([
    ['bob', 30],
    ['cleo', 10],
  ]);
  expect(named(await get(`${ACORN}/milestones`), 'title', 'state')).toEqual([['1.0', 'closed']]);
  expect(await get('/projects/root%2Fdemo')).toMatchObject({
    name: 'demo',
    visibility: 'private',
    empty_repo: true,
  });
});

test('the history has the commits that it says, with the ids that they always have', async () => {
  const commits = await get(`${ACORN}/repository/commits?ref_name=light`);
  expect(named(commits, 'title', 'author_name', 'author_email', 'committer_name')).toEqual([
    ['Let light in', 'bob', 'bob@ash.example', 'bob'],
    ['Water it', 'Bob Birch', 'bob@ash.example', 'Ann Ash'],
    ['Plant it', 'Ann Ash', 'ann@example.com', 'Ann Ash'],
  ]);
  expect(commits[2].authored_date).toBe('2026-02-01T09:00:00.000+01:00');
  expect(commits[2].id).toBe('83d5c0b5f63215f9bd4f87907cf93afb77f77db5');
  expect(
    await gitIn(ashlar, Number(planted.projects['forest/oaks/acorn']), ['fsck', '--strict', '--full']),
  ).toBe('');
  const tree = await get(`${ACORN}/repository/tree?ref=v1.0&recursive=true`);
  expect(named(tree, 'path', 'mode')).toEqual([
    ['src', '040000'],
    ['src/grow.sh', '100755'],
    ['README.md', '100644'],
    ['latest', '120000'],
    ['leaf.bin', '100644'],
  ]);
  expect((await ashlar.root(`GET ${ACORN}/repository/files/leaf.bin?ref=main`)).status).toBe(404);
  expect((await get(`${ACORN}/repository/files/leaf.bin?ref=v1.0`)).content).toBe('AAECAwQ=');
  expect(await get(`${ACORN}/repository/tags/v1.0`)).toMatchObject({
    message: 'The first',
    commit: { title: 'Plant it' },
  });
  expect(named(await get(`${ACORN}/repository/branches`), 'name').flat()).toEqual([
    'light',
    'main',
    'release/1.0',
    'shade',
    'twig',
  ]);
});

test('issues and merge requests have their authors, numbers, states and comments', async () => {
  const issues = await get(`${ACORN}/issues?sort=asc`);
  expect(named(issues, 'iid', 'title', 'state', 'issue_type', 'created_at')[0]).toEqual([
    1,
    'It does not grow',
    'opened',
    'issue',
    '2026-02-02T08:00:00.000Z',
  ]);
  expect(named(issues, 'iid', 'title', 'state', 'confidential').slice(1)).toEqual([
    [7, 'Where is the wood?', 'closed', true],
    [8, 'Fire', 'opened', false],
  ]);
  expect(issues[0]).toMatchObject({
    author: { username: 'bob' },
    labels: ['bug', 'urgent'],
    milestone: { title: 'Spring' },
    assignees: [{ username: 'ann' }],
  });
  const notes = await get(`${ACORN}/issues/1/notes?sort=asc&activity_filter=only_comments`);
  expect(
    notes.map((note: { author: { username: string }; body: string }) => [note.author.username, note.body]),
  ).toEqual([
    ['ann', 'Have you watered it?'],
    ['bob', 'No.'],
  ]);
  const requests = await get(`${ACORN}/merge_requests?state=all&sort=asc`);
  expect(named(requests, 'iid', 'title', 'source_branch', 'target_branch', 'state')).toEqual([
    [1, 'Let light in', 'light', 'main', 'opened'],
    [2, 'Try shade', 'shade', 'main', 'closed'],
    [3, 'Graft a twig', 'twig', 'main', 'merged'],
  ]);
  expect(requests[0]).toMatchObject({
    author: { username: 'bob' },
    labels: ['feature'],
    reviewers: [{ username: 'ann' }],
  });
  const merged = await get(`${ACORN}/repository/commits/main`);
  expect(merged.id).toBe(requests[2].merge_commit_sha);
});

test('pipelines, tokens and applications are as given', async () => {
  const pipelines = await get(`${ACORN}/pipelines?sort=asc`);
  expect(named(pipelines, 'ref', 'status', 'source')).toEqual([
    ['main', 'failed', 'external'],
    ['light', 'running', 'external'],
  ]);
  const statuses = await get(`${ACORN}/repository/commits/${pipelines[0].sha}/statuses`);
  expect(named(statuses, 'name', 'status')).toEqual([
    ['build', 'success'],
    ['test', 'failed'],
    ['deploy', 'skipped'],
  ]);
  expect(await get(ACORN, 'glpat-robot-of-the-example-world')).toMatchObject({ name: 'Acorn' });
  expect(named(await get(`${ACORN}/access_tokens`), 'name', 'access_level', 'scopes')).toEqual([
    ['robot', 30, ['read_api']],
  ]);
  const [application] = await get('/applications');
  expect(application).toMatchObject({
    application_id: 'greenhouse-client-id',
    application_name: 'Greenhouse',
    callback_url: 'https://greenhouse.example/callback',
  });
});

test('planted twice it is the same', async () => {
  const before = seedText(await writeSeed(ashlar.app));
  expect(await plant(WORLD)).toEqual(planted);
  expect(seedText(await writeSeed(ashlar.app))).toBe(before);
  expect(named(await get(`${ACORN}/pipelines`), 'id')).toHaveLength(2);
});

test('a later document changes what it says otherwise, and leaves the rest', async () => {
  const first = `
users: [{username: dan, name: Dan, password: first-of-all-words}]
groups: [{path: pond, members: {dan: guest}, labels: [{name: wet}]}]
projects:
- path: pond/frog
  files: {README.md: one}
  issues: [{title: Croak, description: loud, labels: [wet]}]
`;
  const { projects } = await plant(first);
  await plant(
    first
      .replace('name: Dan,', 'name: Daniel, admin: true,')
      .replace('dan: guest', 'dan: maintainer')
      .replace('{name: wet}', "{name: wet, color: '#0000ff'}")
      .replace(
        'files: {README.md: one}',
        'description: Green\n  files: {README.md: one}\n  commits: [{message: Jump, files: {b: two}}]',
      )
      .replace('description: loud', 'description: quiet, state: closed'),
  );
  const id = projects['pond/frog'];
  expect((await get('/users?username=dan'))[0]).toMatchObject({ name: 'Daniel', is_admin: true });
  expect(named(await get('/groups/pond/members'), 'username', 'access_level').sort()).toEqual([
    ['dan', 40],
    ['root', 50],
  ]);
  expect(named(await get('/groups/pond/labels'), 'color')).toEqual([['#0000ff']]);
  expect(await get(`/projects/${id}`)).toMatchObject({ description: 'Green' });
  expect(named(await get(`/projects/${id}/repository/commits`), 'title')).toEqual([
    ['Jump'],
    ['Initial commit'],
  ]);
  expect(await get(`/projects/${id}/issues/1`)).toMatchObject({
    description: 'quiet',
    state: 'closed',
    labels: ['wet'],
  });
  // A branch that has gone on stays there.
  await plant(first);
  expect(named(await get(`/projects/${id}/repository/commits`), 'title')).toEqual([
    ['Jump'],
    ['Initial commit'],
  ]);
});

test('what cannot become as described is refused with its place', async () => {
  await plant('projects:\n- {path: stone, files: {a: one}}');
  expect(await refusalOf('projects:\n- {path: stone, files: {a: two}}')).toEqual([
    expect.stringMatching(
      /^w\.yml:2:3: branch main is at [0-9a-f]{12}, which is no part of what is described$/,
    ),
  ]);
  const taken = (username: string) =>
    `users:\n- username: ${username}\n  tokens: [{name: t, value: glpat-of-one-alone}]`;
  expect(await refusalOf(taken('eve'))).toEqual([]);
  expect(await refusalOf(taken('finn'))).toEqual(['w.yml:3:12: another token has this value']);
  expect(await refusalOf('users: [{username: gus, email: eve@example.com}]')).toEqual([
    expect.stringMatching(/^w\.yml:1:9: .*taken/i),
  ]);
  expect(
    await refusalOf(
      WORLD.replace(
        'title: Graft a twig\n        source_branch: twig\n        state: merged',
        'title: Graft a twig\n        source_branch: twig',
      ),
    ),
  ).toEqual([expect.stringMatching(/^w\.yml:\d+:9: merge request !3 is merged already$/)]);
});

test('numbers of merge requests are as given, and the next one follows them', async () => {
  const request = (iid: number, branch: string) =>
    `{iid: ${iid}, title: of ${branch}, source_branch: ${branch}}`;
  const document = (requests: string) => `projects:
- path: numbers
  files: {a: one}
  commits: [{message: x, branch: x, files: {x: x}}, {message: y, branch: y, files: {y: y}}]
  merge_requests: [${requests}]`;
  const { projects } = await plant(document(`${request(9, 'y')}, ${request(4, 'x')}`));
  const all = await get(`/projects/${projects['root/numbers']}/merge_requests?sort=asc`);
  expect(named(all, 'iid', 'source_branch')).toEqual([
    [4, 'x'],
    [9, 'y'],
  ]);
  expect(await refusalOf(document(request(5, 'x')))).toEqual([
    'w.yml:5:20: another merge request has, or had, the number 5 or a higher one',
  ]);
});

test('a planting that was cut off goes on', async () => {
  const { id } = bodyOf(await ashlar.root('POST /projects', { body: { path: 'half' } }), 201);
  const project = { path: 'half', files: { a: 'one' } };
  const { objects, refs } = await objectsOf(planHistory(project, []).history, signerOf([]));
  // As if the process had ended before the record of the push.
  await ashlar.app.services.repositories.write({ kind: 'project', id, wiki: false }, 'main', ({ folder }) =>
    writeLoose(folder, objects, refs),
  );
  expect(await get(`/projects/${id}`)).toMatchObject({ empty_repo: true });
  expect((await plant(JSON.stringify({ projects: [project] }))).projects).toEqual({ 'root/half': id });
  expect(await get(`/projects/${id}`)).toMatchObject({ empty_repo: false, default_branch: 'main' });
});

test('more is planted at once than people may write', async () => {
  const limits = { issues_create_limit: 1, notes_create_limit: 1 };
  bodyOf(await ashlar.root('PUT /application/settings', { body: limits }), 200);
  const comments = ['one', 'two', 'three'].map((body) => ({ body }));
  const issues = ['a', 'b', 'c'].map((title) => ({ title, comments }));
  const { projects } = await plant(JSON.stringify({ projects: [{ path: 'busy', issues }] }));
  const all = await get(`/projects/${projects['root/busy']}/issues?sort=asc`);
  expect(named(all, 'title', 'user_notes_count')).toEqual([
    ['a', 3],
    ['b', 3],
    ['c', 3],
  ]);
  expect((await ashlar.root('GET /application/settings')).body).toMatchObject(limits);
  bodyOf(
    await ashlar.root('PUT /application/settings', {
      body: { issues_create_limit: 0, notes_create_limit: 0 },
    }),
    200,
  );
});

test('a pipeline without jobs is what the configuration says, and the push itself starts none', async () => {
  const files = { '.gitlab-ci.yml': 'job: {script: echo}' };
  const document = JSON.stringify({
    projects: [
      { path: 'piped', files, pipelines: [{}] },
      { path: 'quiet', files },
    ],
  });
  const { projects } = await plant(document);
  await plant(document);
  // A real push, whose pipeline comes after those that earlier ones would have started.
  const change = { branch: 'other', start_branch: 'main', commit_message: 'Go', content: 'x' };
  bodyOf(
    await ashlar.root(`POST /projects/${projects['root/quiet']}/repository/files/x`, { body: change }),
    201,
  );
  const quiet = `/projects/${projects['root/quiet']}/pipelines`;
  await expect
    .poll(async () => named(await get(quiet), 'ref', 'source'), { timeout: 60_000 })
    .toEqual([['other', 'push']]);
  expect(named(await get(`/projects/${projects['root/piped']}/pipelines`), 'ref', 'source')).toEqual([
    ['main', 'api'],
  ]);
});

test('a history that needs git is written by git', async () => {
  const files = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`folder/${i}`, `content ${i}`]));
  const { projects } = await plant(JSON.stringify({ projects: [{ path: 'large', files }] }));
  const id = projects['root/large'];
  expect((await get(`/projects/${id}/repository/files/folder%2F599?ref=main`)).content).toBe(
    Buffer.from('content 599').toString('base64'),
  );
});

test('contents of all kinds come back as they were', async () => {
  const contents = [
    '',
    ' ',
    '\n',
    'a\r\nb\r\n',
    '\ufeffbom',
    'no\nend',
    '\n\nlead',
    '  indented\n\ttab \n',
    '- not: a list\n# nor this',
    'null',
    '12',
    '\'"',
    '\u2028',
    'ü🌳\n',
    'trail   \n\n\n',
    '---\n...\n',
    '%YAML',
  ];
  const commits = contents.map((text, i) => ({
    message: `m${i}\n\n${text.replaceAll('\r', '')}`,
    files: { [`f${i}`]: text, [`dir ${i}/é "x"`]: text },
  }));
  const { projects } = await plant(JSON.stringify({ projects: [{ path: 'odd', commits }] }));
  const id = projects['root/odd'];
  const document = await writeSeed(ashlar.app);
  const written = seedText(document);
  expect(parseSeed(written, 'w.yml').document).toEqual(JSON.parse(JSON.stringify(document)));
  const head = await get(`/projects/${id}/repository/commits/main`);
  const copy = parseSeed(written, 'w.yml').document.projects?.find(({ path }) => path === 'root/odd');
  await plant(JSON.stringify({ projects: [{ ...copy, path: 'root/odd-again' }] }));
  expect((await get('/projects/root%2Fodd-again/repository/commits/main')).id).toBe(head.id);
});
