/** Checks of configuration files over HTTP: what pipelines would say, and nothing that the caller may not read. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  createUser,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { startWebServer, type WebServer } from '../../../../test/support/web-server.ts';

const app: TestApp = useApp();
let project: MadeProject;
let members: Record<'maintainer' | 'developer' | 'reporter' | 'guest', MadeUser>;
let outside: WebServer;
let first: string;

beforeAll(async () => {
  project = await makeProject(app, { visibility: 'public' });
  members = await makeMembers(app, `projects/${project.id}`, 'maintainer', 'developer', 'reporter', 'guest');
  outside = await startWebServer((_, reply) => reply.end('remote: {script: make remote}'));
});
afterAll(() => outside.stop());

type Who = keyof typeof members;
const as = (who: Who) => app.as(members[who].token);
const home = () => `/projects/${project.id}`;
const lintText = async (content: string, more: Record<string, unknown> = {}, who: Who = 'developer') =>
  bodyOf(await as(who)(`POST ${home()}/ci/lint`, { body: { content, ...more } }), 200);
const lintFile = async (query = '', who: Who = 'developer') =>
  bodyOf(await as(who)(`GET ${home()}/ci/lint?${query}`), 200);
const names = (jobs: { name: string }[]) => jobs.map(({ name }) => name);
async function commit(files: Record<string, string>, action = 'create', more: Record<string, string> = {}) {
  const body = {
    branch: 'main',
    commit_message: 'Change',
    actions: Object.entries(files).map(([file_path, content]) => ({ action, file_path, content })),
    ...more,
  };
  return bodyOf(await as('maintainer')(`POST ${home()}/repository/commits`, { body }), 201).id;
}

describe('a project without commits', () => {
  test('has no file, and checks texts', async () => {
    expect((await as('developer')(`GET ${home()}/ci/lint`)).status).toBe(404);
    expect(await lintText('build: {script: make}')).toEqual({
      valid: true,
      errors: [],
      warnings: [],
      merged_yaml: '---\nbuild:\n  script: make\n',
      includes: [],
    });
    const missing = await lintText('include: own.yml');
    expect(missing.errors).toEqual(['Local file `own.yml` does not exist! (line 1, column 1)']);
    expect((await lintText('build: {script: make}', { dry_run: true })).errors).toEqual([
      'Reference not found',
    ]);
  });
});

describe('the file of a commit', () => {
  test('is missing, wrong, or right, with what it includes', async () => {
    first = await commit({ 'README.md': 'Granite' });
    expect((await lintFile()).errors).toEqual(['Please provide content of .gitlab-ci.yml']);
    const file = 'include: [parts/own file.yml]\nbuild: {script: make, rules: [{if: "$DEPLOY"}]}\n';
    const sha = await commit({ '.gitlab-ci.yml': file, 'parts/own file.yml': 'own: {script: make own}\n' });
    const result = await lintFile('include_jobs=true', 'reporter');
    expect(result).toMatchObject({ valid: true, errors: [], jobs: [{ name: 'own' }, { name: 'build' }] });
    expect(result.merged_yaml).toContain('make own');
    const address = (view: string) =>
      expect.stringMatching(
        new RegExp(`^http.*/${project.path_with_namespace}/-/${view}/${sha}/parts/own%20file.yml$`),
      );
    expect(result.includes).toEqual([
      {
        type: 'local',
        location: 'parts/own file.yml',
        blob: address('blob'),
        raw: address('raw'),
        extra: {},
        context_project: project.path_with_namespace,
        context_sha: sha,
      },
    ]);
    await commit({ '.gitlab-ci.yml': 'build: {script: make, nothing: 1}\n' }, 'update');
    expect(await lintFile()).toMatchObject({
      valid: false,
      errors: ['jobs:build config contains unknown keys: nothing (line 1, column 23)'],
    });
    for (const name of [`content_ref=${sha}`, `sha=${sha}`, 'content_ref=main~1'])
      expect(await lintFile(name)).toMatchObject({ valid: true });
    expect((await lintFile(`content_ref=${first}`)).valid).toBe(false);
    const unknown = await as('developer')(`GET ${home()}/ci/lint?sha=${'1'.repeat(40)}`);
    expect([unknown.status, unknown.body.message]).toEqual([404, '404 Commit Not Found']);
  });

  test('that no branch and no tag has is not compiled', async () => {
    const body = { branch: 'gone', ref: 'main' };
    bodyOf(await as('maintainer')(`POST ${home()}/repository/branches`, { body }), 201);
    const sha = await commit({ 'a.yml': 'a: {script: x}' }, 'create', { branch: 'gone' });
    expect((await lintFile(`sha=${sha}`)).errors).not.toContainEqual(expect.stringMatching(/detached/));
    await as('maintainer')(`DELETE ${home()}/repository/branches/gone`);
    expect((await lintFile(`sha=${sha}`)).errors).toEqual([expect.stringMatching(/detached commit\)$/)]);
  });
});

describe('a dry run', () => {
  const RULED = `
build: {script: make, environment: {name: e}, tags: [big]}
deploy: {script: make deploy, rules: [{if: '$CI_COMMIT_BRANCH == "main"', when: manual}]}
other: {script: x, rules: [{if: '$CI_COMMIT_BRANCH == "side"'}]}
test: {script: x, needs: [build]}
`;

  test('has the jobs of a push to the ref', async () => {
    const body = { branch: 'side', ref: 'main' };
    bodyOf(await as('maintainer')(`POST ${home()}/repository/branches`, { body }), 201);
    const main = await lintText(RULED, { dry_run: true, include_jobs: true }, 'maintainer');
    expect(names(main.jobs)).toEqual(['build', 'deploy', 'test']);
    expect(main.jobs[1]).toEqual({
      name: 'deploy',
      stage: 'test',
      before_script: [],
      script: ['make deploy'],
      after_script: [],
      tag_list: [],
      only: null,
      except: null,
      environment: null,
      when: 'manual',
      allow_failure: false,
      needs: null,
    });
    expect(main.jobs[0]).toMatchObject({ environment: 'e', tag_list: ['big'] });
    expect(main.jobs[2].needs).toEqual([{ name: 'build', artifacts: true, optional: false }]);
    const side = await lintText(RULED, { dry_run: true, ref: 'side', include_jobs: true });
    expect(names(side.jobs)).toEqual(['build', 'other', 'test']);
    const all = await lintText(RULED, { include_jobs: true });
    expect(names(all.jobs)).toEqual(['build', 'deploy', 'other', 'test']);
  });

  test('says what keeps a pipeline from being made', async () => {
    const errorsOf = async (text: string, more: Record<string, unknown> = {}) =>
      (await lintText(text, { dry_run: true, ref: 'side', ...more })).errors;
    expect(await errorsOf('build: {script: make, rules: [{when: never}]}')).toEqual([
      expect.stringMatching(/^The resulting pipeline would have been empty/),
    ]);
    expect(await errorsOf('workflow: {rules: [{when: never}]}\nbuild: {script: make}')).toEqual([
      expect.stringMatching(/^The pipeline did not run/),
    ]);
    expect(await errorsOf('go: {trigger: {include: a.yml}}')).toEqual([]);
    expect(await errorsOf('build: {script: make}', { ref: 'nothing' })).toEqual(['Reference not found']);
    expect(await errorsOf('build: {script: make, nothing: 1}')).toEqual([
      'jobs:build config contains unknown keys: nothing (line 1, column 23)',
    ]);
  });

  test('of a file is of the ref that is named', async () => {
    const query = 'dry_run=true&include_jobs=true&content_ref=main~1';
    const { errors, jobs } = await lintFile(`${query}&dry_run_ref=side`);
    expect([errors, names(jobs)]).toEqual([[], ['own']]);
    const reporter = await lintFile('dry_run=true&dry_run_ref=side', 'reporter');
    expect(reporter.errors).toEqual(['Insufficient permissions to create a new pipeline']);
  });
});

describe('what is kept for pipelines', () => {
  const TEXT = 'include: "$KEPT-$OPEN.yml"\nbuild: {script: make}';
  const kept = (value: string) => [`Local file \`${value}.yml\` does not exist! (line 1, column 1)`];

  test('is there for those who may run them on the ref', async () => {
    for (const variable of [
      { key: 'KEPT', value: 'secret', protected: true },
      { key: 'OPEN', value: 'open' },
    ])
      bodyOf(await as('maintainer')(`POST ${home()}/variables`, { body: variable }), 201);
    await as('maintainer')(`DELETE ${home()}/protected_branches/main`);
    const body = { name: 'main', push_access_level: 40, merge_access_level: 40 };
    bodyOf(await as('maintainer')(`POST ${home()}/protected_branches`, { body }), 201);
    const dry = { dry_run: true, ref: 'main' };
    expect((await lintText(TEXT, dry, 'maintainer')).errors).toEqual(kept('secret-open'));
    expect((await lintText(TEXT, dry)).errors).toEqual([
      expect.stringMatching(/sufficient permission to run a pipeline on 'main'/),
    ]);
    expect((await lintText(TEXT, { ref: 'main' }, 'maintainer')).errors).toEqual(kept('-open'));
    expect((await lintText(TEXT, { dry_run: true, ref: 'main~0' })).errors).toEqual(['Reference not found']);
  });

  test('is not given to a file from elsewhere, nor told to readers', async () => {
    const body = { branch: 'side' };
    await commit({ '.gitlab-ci.yml': TEXT }, 'update', body);
    const query = 'content_ref=side&dry_run=true&dry_run_ref';
    expect((await lintFile(`${query}=main`, 'maintainer')).errors).toEqual(kept('-'));
    expect((await lintFile(`${query}=side`)).errors).toEqual(kept('-open'));
    expect((await lintFile('content_ref=side', 'reporter')).errors).toEqual(kept('-'));
  });
});

describe('an attacker', () => {
  test('reads no files of projects that are closed to them', async () => {
    const hidden = await makeProject(app);
    const body = {
      branch: 'main',
      commit_message: 'Templates',
      actions: [{ action: 'create', file_path: 'ci.yml', content: 'shared: {script: make shared}\n' }],
    };
    bodyOf(await app.root(`POST /projects/${hidden.id}/repository/commits`, { body }), 201);
    const text = `include: [{project: ${hidden.path_with_namespace}, file: ci.yml}]`;
    const refused = await lintText(text);
    expect(refused).toMatchObject({ valid: false, merged_yaml: null, includes: [] });
    expect(refused.errors).toEqual([expect.stringMatching(/not found or access denied/)]);
    const { includes } = bodyOf(await app.root(`POST ${home()}/ci/lint`, { body: { content: text } }), 200);
    expect(includes).toEqual([
      expect.objectContaining({
        type: 'file',
        location: 'ci.yml',
        blob: expect.stringContaining(`/${hidden.path_with_namespace}/-/blob/`),
        extra: { project: hidden.path_with_namespace, ref: 'HEAD' },
        context_project: project.path_with_namespace,
      }),
    ]);
  });

  test('reaches only the addresses that the administrator lets programs reach', async () => {
    const text = `include: ["${outside.url}/a.yml"]`;
    expect((await lintText(text)).valid).toBe(false);
    expect(outside.received).toEqual([]);
    const allow = (list: string[]) =>
      app.root('PUT /application/settings', { body: { outbound_local_requests_allowlist: list } });
    await allow(['127.0.0.1']);
    const reached = await lintText(text, { include_jobs: true });
    await allow([]);
    expect(names(reached.jobs)).toEqual(['remote']);
    expect(reached.includes).toEqual([
      expect.objectContaining({ type: 'remote', blob: null, raw: `${outside.url}/a.yml` }),
    ]);
  });

  test('gets no more than a bounded result', async () => {
    const long = `build: {script: ${'x'.repeat(1_000_000)}, parallel: 200}`;
    const { jobs, warnings } = await lintText(long, { include_jobs: true });
    expect(jobs).toHaveLength(4);
    expect(warnings).toEqual(['Only the first 4 of 200 jobs are shown']);
    const tooLong = await lintText(`# ${'x'.repeat(2 * 1_048_576)}\nbuild: {script: make}`);
    expect(tooLong.errors).toEqual(['The provided YAML is too big']);
    const body = { content: 'x'.repeat(5 * 1_048_576) };
    expect((await as('developer')(`POST ${home()}/ci/lint`, { body })).status).toBe(413);
  });

  test('without a role checks what they may read, and no texts', async () => {
    const stranger = app.as((await createUser(app, {})).token);
    expect((await stranger(`GET ${home()}/ci/lint`)).status).toBe(200);
    expect((await stranger(`POST ${home()}/ci/lint`, { body: { content: 'x' } })).status).toBe(403);
    expect((await app.call(`GET ${home()}/ci/lint`)).status).toBe(401);
    await app.root(`PUT ${home()}`, { body: { repository_access_level: 'private' } });
    expect((await stranger(`GET ${home()}/ci/lint`)).status).toBe(403);
    await app.root(`PUT ${home()}`, {
      body: { repository_access_level: 'disabled', builds_access_level: 'enabled' },
    });
    expect((await as('developer')(`POST ${home()}/ci/lint`, { body: { content: 'x' } })).status).toBe(403);
  });
});
