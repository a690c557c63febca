/** Pages of pipelines: how their jobs are, how much of each file they test, and artifacts that they show by a name. */
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { type Browser, openBrowser, signInAs } from '../../../../test/support/browser.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeRunner, type Runner } from '../../../../test/support/runner.ts';
import { until } from '../../../../test/support/waiting.ts';
import { zipOf } from '../../../../test/support/zip.ts';

const app = useApp();
let project: MadeProject;
let home: string;
let pipeline: number;
let mergeRequest: number;
let developer: Browser;
let guest: Browser;

async function browserWith(level: number): Promise<Browser> {
  const user = await makeUser(app);
  await addMember(app, `projects/${project.id}`, user, level);
  const browser = openBrowser(app);
  await signInAs(browser, user.username, 'correct horse battery staple');
  return browser;
}

const file = `
unit: { script: make, parallel: 2, artifacts: { reports: { coverage_report: { coverage_format: cobertura, path: c.xml } } } }
java: { script: make, coverage: '/all (\\d+)%/', artifacts: { reports: { coverage_report: { coverage_format: jacoco, path: j.xml } } } }
broken: { script: make }
book: { script: make, artifacts: { expose_as: The book, paths: [book.txt] } }
secret: { script: make, artifacts: { expose_as: The keys, paths: [keys.txt], access: maintainer } }
late: { script: make, artifacts: { expose_as: The rest, paths: [late.txt] } }
`;
const cobertura = (lines: string) =>
  gzipSync(`<coverage><class filename="src/&lt;wall&gt;.ts">${lines}</class></coverage>`);
const reports: Record<string, [type: string, content: Buffer]> = {
  'unit 1/2': ['cobertura', cobertura('<line number="1" hits="1"/><line number="2" hits="0"/>')],
  'unit 2/2': ['cobertura', cobertura('<line number="2" hits="4"/><line number="3" hits="0"/>')],
  java: [
    'jacoco',
    gzipSync(
      '<report><package name="org"><sourcefile name="A.java"><line nr="7" mi="1" ci="0"/></sourcefile></package></report>',
    ),
  ],
  broken: ['cobertura', gzipSync('<coverage><class>')],
};

const archive = zipOf({ name: 'book.txt', content: 'once' }, { name: 'pages/one <1>.html', content: '<b>' });

async function run(runner: Runner): Promise<void> {
  for (let taken = await runner.request(); taken.status === 201; taken = await runner.request()) {
    const { name } = taken.body.job_info;
    const [type, content] = reports[name] ?? [];
    if (content)
      await runner.upload(taken.body, content, { artifact_type: String(type), artifact_format: 'gzip' });
    if (name === 'book' || name === 'secret') await runner.upload(taken.body, archive);
    if (name === 'java') await runner.trace(taken.body, 0, 'all 50%\n');
    bodyOf(await runner.update(taken.body, { state: 'success' }), 200);
  }
}

beforeAll(async () => {
  project = await makeProject(app, { visibility: 'public' });
  home = `/${project.path_with_namespace}`;
  const path = `/projects/${project.id}`;
  [developer, guest] = [await browserWith(30), await browserWith(10)];
  const commit = (branch: string, content: string, action = 'create') => ({
    branch,
    ...(branch !== 'main' && { start_branch: 'main' }),
    commit_message: branch === 'main' ? 'Begin [skip ci]' : 'Change',
    actions: [{ action, file_path: '.gitlab-ci.yml', content }],
  });
  bodyOf(await app.root(`POST ${path}/repository/commits`, { body: commit('main', '# Nothing yet\n') }), 201);
  bodyOf(await app.root(`POST ${path}/repository/commits`, { body: commit('topic', file, 'update') }), 201);
  const wish = { source_branch: 'topic', target_branch: 'main', title: 'A book' };
  mergeRequest = bodyOf(await app.root(`POST ${path}/merge_requests`, { body: wish }), 201).iid;
  const runner = await makeRunner(app, project);
  // That of the push.
  const made = async () => bodyOf(await app.root(`GET ${path}/pipelines?ref=topic`), 200)[0]?.id;
  await until(async () => (await made()) !== undefined, 'no pipeline of the push');
  pipeline = await made();
  await run(runner);
});

const textOf = async (browser: Browser, path: string) => {
  const { status, text } = await browser.get(`${home}/-/${path}`);
  expect(status).toBe(200);
  return text;
};

test('the page of coverage counts a line as run that one of the jobs ran', async () => {
  const text = await textOf(developer, `pipelines/${pipeline}/coverage`);
  expect(text).toContain('2 of 4, 50.00 %');
  expect(text).toMatch(/src\/&lt;wall&gt;\.ts<\/div>.*?2 of 3 lines.*?66\.67 %/s);
  expect(text).toMatch(/org\/A\.java<\/div>.*?0 of 1 lines.*?0\.00 %/s);
  expect(text).toMatch(/The report of broken cannot be read: .*unclosed tag/);
});

test.each(['pipeline', 'merge request'])('the page of a %s leads to what jobs left', async (kind) => {
  const path = kind === 'pipeline' ? `pipelines/${pipeline}` : `merge_requests/${mergeRequest}`;
  const text = await textOf(developer, path);
  expect(text).toContain(`50.00 %, <a href="${home}/-/pipelines/${pipeline}/coverage">of each file</a>`);
  expect(text).toMatch(/\/-\/jobs\/\d+\/artifacts\/browse">The book<\/a>/);
  for (const hidden of ['The keys', 'The rest']) expect(text).not.toContain(hidden);
});

test('an archive is shown folder by folder', async () => {
  const [, book = ''] =
    /jobs\/(\d+)\/artifacts\/browse/.exec(await textOf(developer, `pipelines/${pipeline}`)) ?? [];
  const root = await textOf(developer, `jobs/${book}/artifacts/browse`);
  expect(root).toContain(`href="${home}/-/jobs/${book}/artifacts/file/book.txt">book.txt</a>`);
  expect(root).toContain(`href="${home}/-/jobs/${book}/artifacts/browse/pages">pages/</a>`);
  expect(root).toContain('4 bytes');
  const folder = await textOf(developer, `jobs/${book}/artifacts/browse/pages`);
  expect(folder).toContain(`/artifacts/file/pages/one%20%3C1%3E.html">one &lt;1&gt;.html</a>`);
  expect(await textOf(developer, `jobs/${book}`)).toContain(`/-/jobs/${book}/artifacts/browse">Browse</a>`);
  for (const missing of [`${book}/artifacts/browse/gone`, '999999/artifacts/browse'])
    expect((await developer.get(`${home}/-/jobs/${missing}`)).status).toBe(404);
});

test('a pipeline of many jobs says how those of all stages are', async () => {
  const path = `/projects/${project.id}`;
  const job = (name: string, stage: string, count: number) =>
    `${name}:\n  stage: ${stage}\n  script: make\n  parallel: ${count}\n`;
  const many = `stages: [first, last]\n${job('one', 'first', 30)}${job('two', 'last', 100)}`;
  const body = {
    branch: 'many',
    start_branch: 'main',
    commit_message: 'Many [skip ci]',
    actions: [{ action: 'update', file_path: '.gitlab-ci.yml', content: many }],
  };
  bodyOf(await app.root(`POST ${path}/repository/commits`, { body }), 201);
  const { id } = bodyOf(await app.root(`POST ${path}/pipeline`, { body: { ref: 'many' } }), 201);
  for (const page of ['', '?page=2']) {
    const text = await textOf(developer, `pipelines/${id}${page}`);
    expect(text).toContain('<dt>first</dt><dd>30 pending</dd></div><div><dt>last</dt><dd>100 created</dd>');
  }
  expect(await textOf(developer, `pipelines/${pipeline}`)).not.toContain('All stages');
});

test('files are named to who reads the code alone', async () => {
  const closed = { repository_access_level: 'private', merge_requests_access_level: 'private' };
  bodyOf(await app.root(`PUT /projects/${project.id}`, { body: closed }), 200);
  expect(await textOf(guest, `pipelines/${pipeline}`)).not.toContain('of each file');
  expect((await guest.get(`${home}/-/pipelines/${pipeline}/coverage`)).status).toBe(404);
  expect(await textOf(developer, `pipelines/${pipeline}`)).toContain('of each file');
});

test('a pipeline without reports has no such page', async () => {
  const { id } = bodyOf(
    await app.root(`POST /projects/${project.id}/pipeline`, { body: { ref: 'topic' } }),
    201,
  );
  expect(await textOf(developer, `pipelines/${id}`)).not.toContain('of each file');
  for (const missing of [id, 999_999])
    expect((await developer.get(`${home}/-/pipelines/${missing}/coverage`)).status).toBe(404);
});
