/** Changelogs over HTTP, of commits that git has. */
import { expect, test } from 'vitest';
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

const app = useApp();

type Place = { id: number; path_with_namespace: string };
const path = ({ id }: Place) => `/projects/${id}/repository/changelog`;

/** Commits a file with the message; returns the commit's id. */
let files = 0;
async function commit(
  { id }: Place,
  message: string,
  {
    file = `file-${++files}`,
    content = message,
    author,
  }: { file?: string; content?: string; author?: MadeUser } = {},
): Promise<string> {
  const body = {
    branch: 'main',
    commit_message: message,
    actions: [{ action: 'create', file_path: file, content }],
    ...(author && { author_email: `${author.username}@example.com`, author_name: 'Author' }),
  };
  return bodyOf(await app.root(`POST /projects/${id}/repository/commits`, { body }), 201).id;
}

const tag = async ({ id }: Place, name: string) =>
  bodyOf(await app.root(`POST /projects/${id}/repository/tags`, { query: `tag_name=${name}&ref=main` }), 201);

const notes = async (project: Place, query: string, call = app.root): Promise<string> =>
  bodyOf(await call(`GET ${path(project)}`, { query }), 200).notes;

test('a section has the commits with the trailer since the last stable version, by category', async () => {
  const project = await makeProject(app);
  await commit(project, 'Zero\n\nChangelog: added');
  await tag(project, 'v0.9.0');
  const one = await commit(project, 'One\n\nChangelog: added');
  await tag(project, 'v1.0.0-rc1');
  await commit(project, 'Not told of');
  const two = await commit(project, 'Two\n\nText.\n\nChangelog: fixed\nIssue: 12');
  const three = await commit(project, 'Three\n\nChangelog: added');
  const gone = await commit(project, 'Gone\n\nChangelog: added');
  await commit(project, `Revert\n\nThis reverts commit ${gone}.`);
  const link = (title: string, sha: string) =>
    `- [${title}](${app.url}/${project.path_with_namespace}/-/commit/${sha})`;
  expect(await notes(project, 'version=1.0.0&date=2026-03-04T00:00:00Z')).toBe(`## 1.0.0 (2026-03-04)

### added (2 changes)

${link('Three', three)}
${link('One', one)}

### fixed (1 change)

${link('Two', two)}
`);
  expect(await notes(project, `version=1.0.0&from=${two}&to=${three}`)).toContain('### added (1 change)\n');
  expect(await notes(project, `version=1.0.0&trailer=Issue`)).toContain(
    `### 12 (1 change)\n\n${link('Two', two)}`,
  );
  expect(await notes(project, `version=1.0.0&from=${gone}`)).toMatch(
    /^## 1\.0\.0 \(\d{4}-\d\d-\d\d\)\n\nNo changes\.\n$/,
  );
});

test('authors from outside, members of credited groups and merge requests are named', async () => {
  const credited = await makeGroup(app);
  const hidden = await makeGroup(app);
  const project = await makeProject(app);
  const [outside, member, inGroup] = [await makeUser(app), await makeUser(app), await makeUser(app)];
  await addMember(app, `projects/${project.id}`, member, 30);
  await addMember(app, `projects/${project.id}`, inGroup, 30);
  await addMember(app, `groups/${credited.id}`, inGroup, 30);
  const config = `include_groups: [${credited.full_path}, ${hidden.full_path}, no/such]
categories: {added: New things}
template: |
  {% each categories %}
  {{ title }}:
  {% each entries %}
  {{ title }} {{ author.reference }} {{ author.contributor }} {{ author.credit }} {{ merge_request.reference }} {{ commit.trailers.Changelog }}
  {% end %}
  {% end %}
date_format: '%d.%m.%Y'
`;
  const from = await commit(project, 'Configure', { file: '.gitlab/changelog_config.yml', content: config });
  for (const author of [outside, member, inGroup])
    await commit(project, `By ${author.username}\n\nChangelog: added`, { author });
  await commit(project, 'By nobody\n\nChangelog: added');
  await app.root(`POST /projects/${project.id}/repository/branches`, { query: 'branch=topic&ref=main' });
  const body = {
    branch: 'topic',
    commit_message: 'Merged\n\nChangelog: added',
    actions: [{ action: 'create', file_path: 'topic', content: 'x' }],
    author_email: 'nobody@example.net',
  };
  bodyOf(await app.root(`POST /projects/${project.id}/repository/commits`, { body }), 201);
  const request = bodyOf(
    await app.root(`POST /projects/${project.id}/merge_requests`, {
      body: { source_branch: 'topic', target_branch: 'main', title: 'Topic' },
    }),
    201,
  );
  await expect
    .poll(
      async () => (await app.root(`PUT /projects/${project.id}/merge_requests/${request.iid}/merge`)).status,
    )
    .toBe(200);
  const { username } = bodyOf(await app.root('GET /user'), 200);
  const text = await notes(project, `version=1.0.0&from=${from}&date=2026-03-04T00:00:00Z`);
  expect(text.startsWith('## 1.0.0 (04.03.2026)\n\nNew things:\n')).toBe(true);
  expect(text.split('\n').slice(3, -1).sort()).toEqual(
    [
      `By ${outside.username} @${outside.username} true true  added`,
      `By ${member.username} @${member.username} false false  added`,
      `By ${inGroup.username} @${inGroup.username} false true  added`,
      `By nobody @${username} false true  added`,
      `Merged    ${project.path_with_namespace}!${request.iid} added`,
    ].sort(),
  );
  // Who does not see a group credits nobody by it.
  const seen = await notes(project, `version=1.0.0&from=${from}`, app.as(member.token));
  expect(seen).toContain(`By ${inGroup.username} @${inGroup.username} false false  added`);
});

test('a section is committed before those of earlier versions, once', async () => {
  const project = await makeProject(app);
  const from = await commit(project, 'First\n\nChangelog: added');
  await commit(project, 'Second\n\nChangelog: fixed');
  const post = (body: object, call = app.root) => call(`POST ${path(project)}`, { body });
  const text = async (file = 'CHANGELOG.md', ref = 'main') =>
    app.root(`GET /projects/${project.id}/repository/files/${encodeURIComponent(file)}/raw`, {
      query: `ref=${ref}`,
    });
  const date = '2026-03-04T00:00:00Z';
  for (const version of ['1.0.0', '2.0.0', '1.5.0'])
    expect((await post({ version, from, date })).status).toBe(200);
  const written = (await text()).text;
  expect(written.match(/^## .*$/gm)).toEqual([
    '## 2.0.0 (2026-03-04)',
    '## 1.5.0 (2026-03-04)',
    '## 1.0.0 (2026-03-04)',
  ]);
  expect(written).toContain('### fixed (1 change)');
  const [last] = bodyOf(await app.root(`GET /projects/${project.id}/repository/commits`), 200);
  expect(last.title).toBe('Add changelog for version 1.5.0');
  const again = await post({ version: '1.5.0', from });
  expect([again.status, again.body.message]).toEqual([
    422,
    'Failed to generate the changelog: CHANGELOG.md has a section of version 1.5.0 already',
  ]);
  await app.root(`POST /projects/${project.id}/repository/branches`, { query: 'branch=other&ref=main' });
  const elsewhere = { branch: 'other', file: 'docs/NEWS', message: 'Say what is new' };
  expect((await post({ version: '3.0.0', from, ...elsewhere })).status).toBe(200);
  expect((await text('docs/NEWS', 'other')).text).toMatch(/^## 3\.0\.0 /);
  expect((await text('docs/NEWS')).status).toBe(404);
  // At once: each is either written beside the other, or refused.
  const versions = ['4.0.0', '5.0.0', '6.0.0'];
  const replies = await Promise.all(versions.map((version) => post({ version, from })));
  const done = versions.filter((_, place) => replies[place]?.status === 200);
  expect(done.length).toBeGreaterThan(0);
  for (const { status, body } of replies)
    if (status !== 200)
      expect([status, body.message]).toEqual([
        400,
        'Could not update refs/heads/main. Please refresh and try again.',
      ]);
  const after = (await text()).text;
  for (const version of versions) expect(after.includes(`## ${version} `)).toBe(done.includes(version));
});

test.each([
  ['version=1.0', 400, { version: ['is invalid'] }],
  ['', 400, '400 Bad request - "version" not given'],
  ['version=1.0.0&date=yesterday', 400, undefined],
  [
    'version=1.0.0',
    422,
    'Failed to generate the changelog: The commit start range is unspecified, and no previous tag could be found to use instead',
  ],
  ['version=1.0.0&from=none', 422, 'Failed to generate the changelog: There is no commit none'],
  ['version=1.0.0&from=main&config_file=x', 422, 'Failed to generate the changelog: There is no file x'],
  [
    'version=1.0.0&from=main&config_file=..%2F..%2Fx',
    422,
    'Failed to generate the changelog: There is no file ../../x',
  ],
  [
    'version=1.0.0&from=main&config_file_ref=x',
    422,
    'Failed to generate the changelog: There is no commit x',
  ],
  ['version=1.0.0&from=main&config_file=bad.yml', 422, undefined],
  ['version=1.0.0&config_file=pattern.yml', 422, undefined],
])('what cannot be made is refused: %s', async (query, status, message) => {
  const project = await makeProject(app);
  await commit(project, 'First', { file: 'bad.yml', content: 'template: "{% if x %}"' });
  await commit(project, 'Second', { file: 'pattern.yml', content: 'tag_regex: "(?P<major>"' });
  const refused = await app.root(`GET ${path(project)}`, { query });
  expect(refused.status).toBe(status);
  if (message) expect(refused.body.message).toEqual(message);
});

test('tags have versions by a pattern of the project', async () => {
  const project = await makeProject(app);
  const content = "tag_regex: '^version-(?P<major>\\d+)\\.(?P<minor>\\d+)\\.(?P<patch>\\d+)$'";
  await commit(project, 'First', { file: '.gitlab/changelog_config.yml', content });
  await tag(project, 'version-1.2.3');
  await commit(project, 'Second\n\nChangelog: added');
  await tag(project, 'v1.9.0');
  expect(await notes(project, 'version=2.0.0')).toContain('[Second]');
});

test('who reads the code reads it, and who pushes to the branch commits it', async () => {
  const project = await makeProject(app);
  const from = await commit(project, 'First');
  const { guest, reporter, developer, maintainer } = await makeMembers(
    app,
    `projects/${project.id}`,
    'guest',
    'reporter',
    'developer',
    'maintainer',
  );
  await app.root(`POST /projects/${project.id}/protected_branches`, { body: { name: 'main' } });
  const stranger = await makeUser(app);
  const both = async ({ token }: MadeUser) => {
    const call = app.as(token);
    const read = await call(`GET ${path(project)}`, { query: `version=1.0.0&from=${from}` });
    return [read.status, (await call(`POST ${path(project)}`, { body: { version: '1.0.0', from } })).status];
  };
  expect(await both(stranger)).toEqual([404, 404]);
  expect(await both(guest)).toEqual([403, 403]);
  expect(await both(reporter)).toEqual([200, 403]);
  expect(await both(developer)).toEqual([200, 403]);
  expect(await both(maintainer)).toEqual([200, 200]);
  const empty = await makeProject(app);
  expect((await app.root(`GET ${path(empty)}`, { query: 'version=1.0.0' })).status).toBe(422);
});

test('a file that is no text in UTF-8 stays as it is', async () => {
  const project = await makeProject(app);
  const from = await commit(project, 'First\n\nChangelog: added');
  const written = Buffer.from('Caf\u00e9\n', 'latin1').toString('base64');
  const action = { action: 'create', file_path: 'CHANGELOG.md', content: written, encoding: 'base64' };
  const body = { branch: 'main', commit_message: 'Old\n\nChangelog: added', actions: [action] };
  bodyOf(await app.root(`POST /projects/${project.id}/repository/commits`, { body }), 201);
  const refused = await app.root(`POST ${path(project)}`, { body: { version: '1.0.0', from } });
  expect([refused.status, refused.body.message]).toEqual([
    422,
    'Failed to generate the changelog: CHANGELOG.md is too long, or no text in UTF-8',
  ]);
  const kept = await app.root(`GET /projects/${project.id}/repository/files/CHANGELOG.md`, {
    query: 'ref=main',
  });
  expect(bodyOf(kept, 200).content).toBe(written);
});
