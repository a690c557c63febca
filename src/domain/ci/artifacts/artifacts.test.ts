/** Artifacts as runners hand them over and people and later jobs fetch them, with what an attacker would try. */
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { blobFiles } from '../../../../test/support/blobs.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeRunner, type Runner, startPipeline, type TakenJob } from '../../../../test/support/runner.ts';
import { zipOf } from '../../../../test/support/zip.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { expireArtifacts } from './sweep.ts';

const app: TestApp = useApp();
const zip = zipOf(
  { name: 'out/a.txt', content: 'granite' },
  { name: 'page.html', content: '<script>1</script>' },
);
/** Of bytes that no other has: the same ones are kept once. */
const freshZip = (): Buffer =>
  zipOf(
    { name: 'out/a.txt', content: 'granite' },
    { name: 'page.html', content: `<script>'${randomUUID()}'</script>` },
  );
const DAY_MS = 86_400_000;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let guest: MadeUser;
let runner: Runner;

beforeEach(async () => {
  project = await makeProject(app);
  ({ maintainer, developer, guest } = await makeMembers(
    app,
    `projects/${project.id}`,
    'maintainer',
    'developer',
    'guest',
  ));
  await app.root(`PUT /projects/${project.id}`, { body: { auto_cancel_pending_pipelines: 'disabled' } });
  runner = await makeRunner(app, project);
});

const start = (file: string): Promise<number> => startPipeline(app, project, maintainer, file);
const BUILD = 'build:\n  script: make\n  artifacts:\n    paths: [out]\n';
const path = (rest: string): string => `/projects/${project.id}/${rest}`;
const jobOf = async ({ id }: Pick<TakenJob, 'id'>) =>
  bodyOf(await app.root(`GET ${path(`jobs/${id}`)}`), 200);
const files = (): string[] => blobFiles(app);

async function build(
  file = BUILD,
  content = freshZip(),
  query: Record<string, string> = {},
): Promise<TakenJob> {
  await start(file);
  const job = await runner.take();
  expect((await runner.upload(job, content, query)).status).toBe(201);
  await runner.update(job, { state: 'success' });
  return job;
}

test('a runner is asked for the archive, then for each report', async () => {
  await start(
    `build:
  script: make
  artifacts:
    name: out-$CI_JOB_NAME
    paths: [out, bin]
    exclude: [out/*.o]
    untracked: true
    when: always
    expire_in: 1 week
    reports:
      junit: [a.xml, b.xml]
      dotenv: build.env
      coverage_report: { coverage_format: cobertura, path: cover.xml }
      sast: report.json
`,
  );
  const { artifacts } = await runner.take();
  const report = (artifact_type: string, artifact_format: string, name: string, paths: string[]) => ({
    name,
    paths,
    when: 'always',
    artifact_type,
    artifact_format,
    expire_in: '1 week',
  });
  expect(artifacts).toEqual([
    {
      name: 'out-$CI_JOB_NAME',
      untracked: true,
      paths: ['out', 'bin'],
      exclude: ['out/*.o'],
      when: 'always',
      artifact_type: 'archive',
      artifact_format: 'zip',
      expire_in: '1 week',
    },
    report('sast', 'raw', 'gl-sast-report.json', ['report.json']),
    report('junit', 'gzip', 'junit.xml', ['a.xml', 'b.xml']),
    report('dotenv', 'gzip', '.env', ['build.env']),
    report('cobertura', 'gzip', 'cobertura-coverage.xml', ['cover.xml']),
  ]);
});

test('what a job made is in its record, downloaded, and read file by file', async () => {
  const job = await build(BUILD, zip, {
    expire_in: '1 day',
    artifact_type: 'archive',
    artifact_format: 'zip',
  });
  const record = await jobOf(job);
  expect(record).toMatchObject({
    artifacts_file: { filename: 'artifacts.zip', size: zip.length },
    artifacts: [{ file_type: 'archive', size: zip.length, filename: 'artifacts.zip', file_format: 'zip' }],
  });
  expect(Date.parse(record.artifacts_expire_at) - Date.now()).toBeGreaterThan(DAY_MS - 60_000);
  const address = `${app.url}/api/v4${path(`jobs/${job.id}/artifacts`)}`;
  const headers = { 'private-token': maintainer.token };
  const whole = await fetch(address, { headers });
  expect([whole.status, whole.headers.get('content-type'), whole.headers.get('content-disposition')]).toEqual(
    [200, 'application/zip', 'attachment; filename="artifacts.zip"'],
  );
  expect(Buffer.from(await whole.arrayBuffer()).equals(zip)).toBe(true);
  const head = await fetch(address, { method: 'HEAD', headers });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(zip.length)]);
  for (const [name, content, type] of [
    ['out/a.txt', 'granite', 'text/plain; charset=utf-8'],
    ['page.html', '<script>1</script>', 'text/plain; charset=utf-8'],
  ]) {
    const one = await app.as(guest.token)(`GET ${path(`jobs/${job.id}/artifacts/${name}`)}`);
    expect([one.status, one.text, one.headers.get('content-type')]).toEqual([200, content, type]);
    expect(one.headers.get('content-security-policy')).toContain('sandbox');
  }
});

test('the directory of an archive is listed by the page', async () => {
  const job = await build();
  const tree = (query = '') => app.as(guest.token)(`GET ${path(`jobs/${job.id}/artifacts/tree`)}`, { query });
  const all = await tree('recursive=true&per_page=2');
  expect(all.body.map((entry: { path: string }) => entry.path)).toEqual(['out', 'out/a.txt']);
  expect(all.headers.get('x-total')).toBe('3');
  expect((await tree('path=out/')).body).toEqual([
    { name: 'a.txt', path: 'out/a.txt', type: 'file', size: 7, mode: '100644' },
  ]);
  expect([(await tree('path=none')).status, (await tree('path=../out')).status]).toEqual([404, 400]);
});

test('a file is found by its ref and the name of its job', async () => {
  const get = (rest: string, query: string) =>
    app.as(guest.token)(`GET ${path(`jobs/artifacts/${rest}`)}`, { query });
  expect((await get('main/download', 'job=build')).status).toBe(404);
  await build();
  expect((await get('main/raw/out/a.txt', 'job=build')).text).toBe('granite');
  expect((await get('main/download', 'job=build')).status).toBe(200);
  for (const [rest, query] of [
    ['main/download', 'job=test'],
    ['side/download', 'job=build'],
    ['main/raw/none', 'job=build'],
  ] as const)
    expect((await get(rest, query)).status).toBe(404);
  expect((await get('main/download', '')).status).toBe(400);
  // A newer pipeline without the job, then one that fails.
  await build(`other:\n  script: make\n  artifacts:\n    paths: [out]\n`);
  expect((await get('main/download', 'job=build')).status).toBe(404);
  expect((await get('main/download', 'job=build&search_recent_successful_pipelines=true')).status).toBe(200);
  const other = zipOf({ name: 'out/a.txt', content: 'marble' });
  await start(BUILD);
  const failing = await runner.take();
  await runner.upload(failing, other);
  await runner.update(failing, { state: 'failed' });
  expect((await get('main/raw/out/a.txt', 'job=build&search_recent_successful_pipelines=true')).text).toBe(
    'granite',
  );
});

describe('a path in an archive', () => {
  test.each([
    ['%2e%2e%2fetc%2fpasswd', 400],
    ['out/%2e%2e/%2e%2e/x', 404],
    ['out%2f..%2fa.txt', 400],
    ['%2fetc%2fpasswd', 400],
    ['out%2f', 400],
    ['out%5c..%5ca.txt', 400],
    ['out%00', 404],
    ['out', 404],
    ['none', 404],
  ])('%s is %i', async (name, status) => {
    const job = await build();
    expect((await app.root(`GET ${path(`jobs/${job.id}/artifacts/${name}`)}`)).status).toBe(status);
  });

  test('of a hostile archive is refused with a sentence', async () => {
    const hostile = zipOf(
      { name: 'link', content: '/etc/passwd', mode: 0o120777 },
      { name: '../out', content: 'x' },
    );
    const job = await build(BUILD, hostile);
    const link = await app.root(`GET ${path(`jobs/${job.id}/artifacts/link`)}`);
    expect([link.status, link.body.message]).toEqual([
      422,
      '422 Unprocessable Entity - the file is a symbolic link',
    ]);
    const none = await app.root(`GET ${path(`jobs/${job.id}/artifacts/none`)}`);
    expect([none.status, none.body.message]).toEqual([
      422,
      '422 Unprocessable Entity - the archive cannot be read: invalid relative path: ../out',
    ]);
  });

  test('that is longer than it says breaks off, and is refused where that is seen at once', async () => {
    const bomb = (bytes: number, size: number) => ({ content: Buffer.alloc(bytes), claims: { size } });
    const archive = zipOf(
      { name: 'small', ...bomb(5_000_000, 100) },
      { name: 'large', ...bomb(5_000_000, 4_000_000) },
    );
    const job = await build(BUILD, archive);
    const small = await app.root(`GET ${path(`jobs/${job.id}/artifacts/small`)}`);
    expect([small.status, small.body.message]).toEqual([
      422,
      expect.stringContaining('too many bytes in the stream'),
    ]);
    await expect(app.root(`GET ${path(`jobs/${job.id}/artifacts/large`)}`)).rejects.toThrow();
    expect((await app.root(`GET ${path(`jobs/${job.id}`)}`)).status).toBe(200);
  });
});

describe('who downloads', () => {
  test.each([
    ['public: true', [200, 200, 200]],
    ['public: false', [403, 200, 200]],
    ['access: developer', [403, 200, 200]],
    ['access: maintainer', [403, 403, 200]],
    ['access: none', [403, 403, 403]],
  ])('%s', async (line, statuses) => {
    const job = await build(`${BUILD}    ${line}\n`);
    const answers = [];
    for (const { token } of [guest, developer, maintainer])
      answers.push((await app.as(token)(`GET ${path(`jobs/${job.id}/artifacts`)}`)).status);
    expect(answers).toEqual(statuses);
    const outsider = await makeUser(app);
    expect((await app.as(outsider.token)(`GET ${path(`jobs/${job.id}/artifacts`)}`)).status).toBe(404);
  });

  test('a job of the same pipeline, where nobody else may', async () => {
    const made = await build(`${BUILD}    access: none\nafter: {stage: deploy, script: make}\n`);
    const after = await runner.take();
    expect((await runner.download(after, made.id)).status).toBe(200);
    await runner.update(after, { state: 'success' });
    await start('later:\n  script: make\n');
    const other = await runner.take();
    expect((await runner.download(other, made.id)).status).toBe(403);
    await runner.update(other, { state: 'success' });
  });

  test('a job by its token: of its own project, and of others what everybody sees', async () => {
    const made = await build();
    await start('later:\n  script: make\n');
    const job = await runner.take();
    const headers = { 'job-token': job.token };
    const of = (id: number, name = 'artifacts') =>
      app.call(`GET /projects/${id}/jobs/${made.id}/${name}`, { headers });
    expect((await of(project.id)).status).toBe(200);
    expect(
      (
        await app.call(`GET /projects/${project.id}/jobs/${made.id}/artifacts`, {
          query: `job_token=${job.token}`,
        })
      ).status,
    ).toBe(200);
    expect(
      (
        await app.call(`GET /projects/${project.id}/jobs/artifacts/main/download`, {
          headers,
          query: 'job=build',
        })
      ).status,
    ).toBe(200);
    expect((await of(project.id, 'trace')).status).toBe(401);
    const elsewhere = project;
    // The same user has another project, with a job of its own.
    project = await makeProject(app);
    await app.root(`POST /projects/${project.id}/members`, {
      body: { user_id: maintainer.id, access_level: 40 },
    });
    const otherRunner = await makeRunner(app, project);
    await start('other:\n  script: make\n');
    const other = await otherRunner.take();
    const foreign = { headers: { 'job-token': other.token } };
    expect((await app.call(`GET /projects/${elsewhere.id}/jobs/${made.id}/artifacts`, foreign)).status).toBe(
      404,
    );
    expect((await otherRunner.download(other, made.id)).status).toBe(404);
    await app.root(`PUT /projects/${elsewhere.id}`, { body: { visibility: 'public' } });
    expect((await app.call(`GET /projects/${elsewhere.id}/jobs/${made.id}/artifacts`, foreign)).status).toBe(
      200,
    );
    await otherRunner.update(other, { state: 'success' });
    expect((await app.call(`GET /projects/${elsewhere.id}/jobs/${made.id}/artifacts`, foreign)).status).toBe(
      401,
    );
  });
});

describe('an upload', () => {
  test('is refused to others than the runner of the job, while it runs', async () => {
    await start('one:\n  script: make\ntwo:\n  script: make\n');
    const [one, two] = [await runner.take(), await runner.take()];
    const before = files().length;
    for (const job of [
      { ...one, token: two.token },
      { ...one, token: 'glcbt-wrong' },
      { ...one, id: 9_999_999 },
      { ...one, token: '' },
    ])
      expect((await runner.upload(job, zip)).status).toBe(403);
    await runner.update(one, { state: 'success' });
    const late = await runner.upload(one, zip);
    expect([late.status, late.headers.get('job-status')]).toEqual([403, 'success']);
    await app.as(maintainer.token)(`POST ${path(`jobs/${two.id}/cancel`)}`);
    expect((await runner.upload(two, zip)).status).toBe(403);
    expect(files()).toHaveLength(before);
  });

  test('of a job that is being canceled is taken', async () => {
    await start(BUILD);
    const job = await runner.take({ features: { cancel_gracefully: true } });
    await app.as(maintainer.token)(`POST ${path(`jobs/${job.id}/cancel`)}`);
    expect((await runner.upload(job, zip)).status).toBe(201);
  });

  test('is kept once, however often and at the same time it is sent', async () => {
    await start(BUILD);
    const job = await runner.take();
    const before = files().length;
    const archive = freshZip();
    const twice = await Promise.all([
      runner.upload(job, archive),
      runner.upload(job, archive),
      runner.upload(job, archive),
    ]);
    expect(twice.map(({ status }) => status)).toEqual([201, 201, 201]);
    const other = await runner.upload(job, zipOf({ name: 'b' }));
    expect([other.status, other.body.message]).toEqual([
      400,
      'another artifact of the same type already exists',
    ]);
    expect((await jobOf(job)).artifacts).toHaveLength(1);
    expect(files()).toHaveLength(before + 1);
  });

  test('may say what it is in its own fields', async () => {
    await start(BUILD);
    const job = await runner.take();
    const send = async (fields: Record<string, string>, content: string) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      body.set('file', new Blob([content]), 'report.json');
      const headers = { 'job-token': job.token };
      return (await fetch(`${app.url}/api/v4/jobs/${job.id}/artifacts`, { method: 'POST', headers, body }))
        .status;
    };
    expect(await send({ artifact_type: 'sast', expire_in: 'never' }, '{}')).toBe(201);
    expect(await send({ artifact_type: 'junit', artifact_format: 'raw' }, '{}')).toBe(400);
    expect(await send({ artifact_type: 'annotations' }, 'x'.repeat(100_000))).toBe(413);
    expect((await jobOf(job)).artifacts).toEqual([
      { file_type: 'sast', size: 2, filename: 'report.json', file_format: 'raw' },
    ]);
  });

  test('of reports stands beside the archive', async () => {
    await start(BUILD);
    const job = await runner.take();
    const query = { artifact_type: 'sast', artifact_format: 'raw' };
    expect((await runner.upload(job, zip)).status).toBe(201);
    expect((await runner.upload(job, Buffer.from('{}'), query, '../../../etc/gl sast.json')).status).toBe(
      201,
    );
    const { artifacts } = await jobOf(job);
    expect(artifacts.map(({ filename }: { filename: string }) => filename)).toEqual([
      'artifacts.zip',
      'gl_sast.json',
    ]);
    const page = (rest: string, { token }: MadeUser) =>
      app.as(token)(`GET /${project.path_with_namespace}/-/jobs/${job.id}${rest}`, { raw: true });
    const report = await page('/artifacts/download?file_type=sast', guest);
    expect([report.status, report.text, report.headers.get('content-type')]).toEqual([
      200,
      '{}',
      'application/octet-stream',
    ]);
    const archive = await page('/artifacts/download', guest);
    expect([archive.status, archive.headers.get('content-type')]).toEqual([200, 'application/zip']);
    for (const rest of ['/artifacts/download?file_type=junit', '/artifacts/download?file_type[]=sast'])
      expect((await page(rest, guest)).status).toBe(404);
    expect((await page('/artifacts/download', await makeUser(app))).status).toBe(404);
  });

  test('files in the archive have addresses below the job, and below a ref, which lead to it', async () => {
    const named = zipOf({ name: 'out/a b?.txt', content: 'granite' }, { name: 'p.html', content: '<b>' });
    const job = await build(BUILD, named);
    const home = `/${project.path_with_namespace}/-/jobs`;
    const get = (rest: string, { token }: MadeUser = guest) =>
      app.as(token)(`GET ${home}/${rest.split('?')[0]}`, { raw: true, query: rest.split('?')[1] ?? '' });
    for (const kind of ['raw', 'file']) {
      const { status, text } = await get(`${job.id}/artifacts/${kind}/out/a%20b%3F.txt`);
      expect([status, text]).toEqual([200, 'granite']);
    }
    const page = await get(`${job.id}/artifacts/raw/p.html`);
    expect([page.headers.get('content-type'), page.headers.get('content-security-policy')]).toEqual([
      'text/plain; charset=utf-8',
      "default-src 'none'; sandbox",
    ]);
    for (const [rest, kind] of [
      ['download', 'download'],
      ['browse', 'browse'],
      ['browse/out', 'browse/out'],
      ['raw/out/a%20b%3F.txt', 'raw/out/a%20b%3F.txt'],
      ['file/p.html', 'file/p.html'],
    ]) {
      const led = await get(`artifacts/main/${rest}?job=build`);
      expect([led.status, led.headers.get('location')]).toEqual([302, `${home}/${job.id}/artifacts/${kind}`]);
    }
    for (const rest of [
      'artifacts/main/raw/p.html',
      'artifacts/main/raw/p.html?job=other',
      'artifacts/gone/download?job=build',
    ])
      expect([rest, (await get(rest)).status]).toEqual([rest, 404]);
    for (const rest of [
      `${job.id}/artifacts/raw/gone`,
      `${job.id + 1}/artifacts/raw/p.html`,
      'x/artifacts/raw/p.html',
    ])
      expect([rest, (await get(rest)).status]).toEqual([rest, 404]);
    expect((await get(`${job.id}/artifacts/raw/..%2F..%2Fetc%2Fpasswd`)).status).toBe(400);
    const other = await makeUser(app);
    for (const rest of [`${job.id}/artifacts/raw/p.html`, 'artifacts/main/raw/p.html?job=build'])
      expect([rest, (await get(rest, other)).status]).toEqual([rest, 404]);
    const secret = await build(`${BUILD}    access: developer\n`, named);
    for (const [user, raw, led] of [
      [guest, 403, 403],
      [developer, 200, 302],
    ] as const)
      expect([
        (await get(`${secret.id}/artifacts/raw/p.html`, user)).status,
        (await get('artifacts/main/raw/p.html?job=build', user)).status,
      ]).toEqual([raw, led]);
  });

  test.each([
    [
      'an unknown type',
      { artifact_type: 'spyware' },
      '400 Bad request - artifact_type does not have a valid value',
    ],
    [
      'another packing',
      { artifact_type: 'junit', artifact_format: 'raw' },
      '400 Bad request - artifact_format of junit is gzip',
    ],
    ['no duration', { expire_in: 'soon' }, '400 Bad request - expire_in is not a duration'],
  ])('with %s is refused', async (_, query, message) => {
    await start(BUILD);
    const answer = await runner.upload(await runner.take(), zip, query);
    expect([answer.status, answer.body.message]).toEqual([400, message]);
  });

  test('over the limit, without a file, malformed or cut off leaves nothing', async () => {
    await start(BUILD);
    const job = await runner.take();
    await app.root(`PUT /projects/${project.id}`, { body: { max_artifacts_size: 1 } });
    const before = files().length;
    const large = await runner.upload(job, Buffer.alloc(1_048_577));
    expect([large.status, large.body.message]).toEqual([413, 'file size has reached maximum size limit']);
    const authorize = (filesize: number) =>
      app.call(`POST /jobs/${job.id}/artifacts/authorize`, {
        body: { filesize },
        headers: { 'job-token': job.token },
      });
    expect((await authorize(1_048_577)).status).toBe(413);
    expect((await authorize(1_048_576)).body).toEqual({ MaximumSize: 1_048_576 });
    const post = (type: string, form: string) =>
      app.call(`POST /jobs/${job.id}/artifacts`, {
        headers: { 'job-token': job.token, 'content-type': type },
        form,
      });
    const bad: [string, string][] = [
      ['application/json', '{}'],
      ['multipart/form-data', 'x'],
      [
        'multipart/form-data; boundary=b',
        '--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nhalf',
      ],
      [
        'multipart/form-data; boundary=b',
        '--b\r\nContent-Disposition: form-data; name="other"; filename="a.zip"\r\n\r\nx\r\n--b--\r\n',
      ],
    ];
    for (const [type, form] of bad) expect((await post(type, form)).status).toBe(400);
    await new Promise<void>((resolve) => {
      const { hostname, port } = new URL(app.url);
      const headers = {
        'job-token': job.token,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': 5_000,
      };
      const sending = request({
        hostname,
        port,
        method: 'POST',
        path: `/api/v4/jobs/${job.id}/artifacts`,
        headers,
      });
      sending.on('error', () => resolve());
      sending.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nhalf', () =>
        sending.destroy(new Error('cut off')),
      );
    });
    expect((await runner.upload(job, Buffer.alloc(1_000_000))).status).toBe(201);
    await expect.poll(() => files().length).toBe(before + 1);
    expect((await jobOf(job)).artifacts).toHaveLength(1);
  });
});

describe('later jobs', () => {
  const file = `stages: [a, b]
one:
  stage: a
  script: make
  artifacts:
    paths: [out]
    reports: { dotenv: one.env }
two:
  stage: a
  script: make
all:
  stage: b
  script: make
  variables: { COLOUR: of-the-job }
none:
  stage: b
  script: make
  dependencies: []
needing:
  stage: b
  script: make
  needs: [{ job: one, artifacts: false }, two]
`;
  const taken = async (): Promise<Map<string, TakenJob>> => {
    const jobs = [await runner.take(), await runner.take(), await runner.take()];
    return new Map(jobs.map((job) => [(job.job_info as { name: string }).name, job]));
  };

  test('get what they depend on: archives by their own token, and variables', async () => {
    await start(file);
    const [one, two] = [await runner.take(), await runner.take()];
    const env = { artifact_type: 'dotenv', artifact_format: 'gzip', expire_in: '1 hour' };
    await runner.upload(one, zip);
    const bad = await runner.upload(one, gzipSync('A=1\n\nB=2\n'), env, '.env.gz');
    expect([bad.status, bad.body.message]).toEqual([400, 'Invalid Format']);
    expect((await runner.upload(one, gzipSync('COLOUR=grey\nSTONE=granite\n'), env, '.env.gz')).status).toBe(
      201,
    );
    await runner.update(one, { state: 'success' });
    await runner.update(two, { state: 'success' });
    const jobs = await taken();
    const all = jobs.get('all') as TakenJob;
    expect(all.dependencies).toEqual([
      {
        id: one.id,
        name: 'one',
        token: all.token,
        artifacts_file: { filename: 'artifacts.zip', size: zip.length },
      },
    ]);
    const of = (job: TakenJob | undefined, key: string) =>
      job?.variables.findLast((each) => each.key === key)?.value;
    expect([of(all, 'COLOUR'), of(all, 'STONE')]).toEqual(['grey', 'granite']);
    for (const name of ['none', 'needing']) {
      expect(jobs.get(name)?.dependencies).toEqual([]);
      expect(of(jobs.get(name), 'STONE')).toBeUndefined();
    }
    const { status, content } = await runner.download(all, one.id);
    expect([status, content.equals(zip)]).toEqual([200, true]);
    expect((await runner.download(all, two.id)).status).toBe(404);
    expect((await runner.download(all, 9_999_999)).status).toBe(404);
    expect((await runner.download({ token: one.token }, one.id)).status).toBe(401);
    expect((await runner.download({ token: 'glcbt-wrong' }, one.id)).status).toBe(401);
  });

  test('fail where what they need was erased or has expired, and not where it is kept', async () => {
    const missing = async (spoil: (one: TakenJob) => Promise<unknown>): Promise<string | undefined> => {
      const pipeline = await start(
        'stages: [a, b]\none:\n  stage: a\n  script: make\n  artifacts: { paths: [out] }\nlater:\n  stage: b\n  script: make\n',
      );
      const one = await runner.take();
      await runner.upload(one, zip, { expire_in: '1 hour' });
      await runner.update(one, { state: 'success' });
      await spoil(one);
      const { status, body } = await runner.request();
      if (status === 201) await runner.update(body, { state: 'success' });
      const jobs = bodyOf(await app.root(`GET ${path(`pipelines/${pipeline}/jobs`)}`), 200);
      return jobs[0].failure_reason ?? jobs[0].status;
    };
    const later = async (): Promise<unknown> => {
      await expireArtifacts(app.app.services);
      return app.app.services.database.sql`
        update ci_jobs set artifacts_expire_at = now() - interval '1 hour' where artifacts_expire_at is not null`;
    };
    expect(await missing(async () => {})).toBe('success');
    expect(await missing((one) => app.root(`POST ${path(`jobs/${one.id}/erase`)}`))).toBe(
      'missing_dependency_failure',
    );
    const { sql } = app.app.services.database;
    const expire = () => sql`update ci_artifacts set expires_at = now() - interval '1 hour'`;
    expect(await missing(async () => [await expire(), await later()])).toBe('success');
    await app.root(`PUT /projects/${project.id}`, { body: { keep_latest_artifact: false } });
    expect(await missing(async () => [await expire(), await later()])).toBe('missing_dependency_failure');
  });

  test('do not get what a job left that another took the place of', async () => {
    await start(
      `stages: [a, b]\none:\n  stage: a\n  script: make\n  artifacts: { paths: [out] }\nlater:\n  stage: b\n  script: make\n`,
    );
    const first = await runner.take();
    await runner.upload(first, zip);
    await runner.update(first, { state: 'failed' });
    bodyOf(await app.as(maintainer.token)(`POST ${path(`jobs/${first.id}/retry`)}`), 201);
    const second = await runner.take();
    await runner.update(second, { state: 'success' });
    expect((await runner.take()).dependencies).toEqual([]);
    expect((await jobOf(first)).artifacts).toHaveLength(1);
    expect((await jobOf(second)).artifacts).toEqual([]);
  });
});

describe('artifacts go', () => {
  const left = async (job: TakenJob): Promise<number> => (await jobOf(job)).artifacts.length;
  const status = async (job: TakenJob): Promise<number> =>
    (await app.root(`GET ${path(`jobs/${job.id}/artifacts`)}`)).status;

  test('when their time has come, without those of the last successful pipeline', async () => {
    const older = await build(BUILD, freshZip(), { expire_in: '1 hour' });
    const kept = await build(BUILD, freshZip(), { expire_in: 'never' });
    const last = await build(BUILD, freshZip(), { expire_in: '1 hour' });
    const back = moveClock(2 * 3_600_000);
    try {
      expect([await status(older), await status(kept), await status(last)]).toEqual([404, 200, 200]);
      const before = files().length;
      await expireArtifacts(app.app.services);
      expect([await left(older), await left(kept), await left(last)]).toEqual([0, 1, 1]);
      expect(files()).toHaveLength(before - 1);
      expect((await jobOf(older)).artifacts_expire_at).not.toBeNull();
      expect((await jobOf(kept)).artifacts_expire_at).toBeNull();
      await app.root('PUT /application/settings', { body: { keep_latest_artifact: false } });
      expect(await status(last)).toBe(404);
      await expireArtifacts(app.app.services);
      expect(await left(last)).toBe(0);
    } finally {
      back();
      await app.root('PUT /application/settings', { body: { keep_latest_artifact: true } });
    }
  });

  test('by turns: what is left is a job behind others', async () => {
    const job = await build(BUILD, freshZip(), { expire_in: '1 hour' });
    const { sql } = app.app.services.database;
    await sql`insert into ci_artifacts (job_id, project_id, file_type, file_format, filename, size, sha256, expires_at, created_at)
      select job_id, project_id, 'type ' || n, file_format, filename, size, sha256, expires_at, created_at
      from ci_artifacts, generate_series(1, 600) n where job_id = ${job.id}`;
    const count = async () => (await sql`select from ci_artifacts where expires_at <= ${now()}`).length;
    const back = moveClock(2 * 3_600_000);
    try {
      await app.root('PUT /application/settings', { body: { keep_latest_artifact: false } });
      expect(await count()).toBeGreaterThan(600);
      await expireArtifacts(app.app.services, 0);
      // The turn ends after a batch of 500.
      await expect.poll(count, { timeout: 20_000 }).toBe(0);
    } finally {
      back();
      await app.root('PUT /application/settings', { body: { keep_latest_artifact: true } });
    }
  });

  test('by the setting of the instance where nobody says more', async () => {
    const days = async (): Promise<number | null> => {
      const { artifacts_expire_at: at } = await jobOf(await build());
      return at === null ? null : Math.round((Date.parse(at) - Date.now()) / DAY_MS);
    };
    expect(await days()).toBe(30);
    for (const [value, expected] of [
      ['2 weeks', 14],
      ['0', null],
    ] as const) {
      await app.root('PUT /application/settings', { body: { default_artifacts_expire_in: value } });
      expect(await days()).toBe(expected);
    }
    const bad = await app.root('PUT /application/settings', {
      body: { default_artifacts_expire_in: 'soon' },
    });
    expect(bad.status).toBe(400);
    await app.root('PUT /application/settings', { body: { default_artifacts_expire_in: '30 days' } });
  });

  test('not, where somebody keeps them', async () => {
    const job = await build(BUILD, zip, { expire_in: '1 hour' });
    const keep = (user: MadeUser, id = job.id) =>
      app.as(user.token)(`POST ${path(`jobs/${id}/artifacts/keep`)}`);
    expect((await keep(guest)).status).toBe(403);
    expect(bodyOf(await keep(developer), 200).artifacts_expire_at).toBeNull();
    await start('bare:\n  script: make\n');
    const bare = await runner.take();
    expect((await keep(developer, bare.id)).status).toBe(404);
  });

  test('with a request of a maintainer', async () => {
    const job = await build();
    const remove = (user: MadeUser) => app.as(user.token)(`DELETE ${path(`jobs/${job.id}/artifacts`)}`);
    expect((await remove(developer)).status).toBe(403);
    const before = files().length;
    expect([(await remove(maintainer)).status, (await remove(maintainer)).status]).toEqual([204, 204]);
    expect(files()).toHaveLength(before - 1);
    expect(await status(job)).toBe(404);
    expect((await jobOf(job)).erased_at).toBeNull();
  });

  test('all of a project, without those of the last pipelines', async () => {
    const [older, last] = [await build(), await build()];
    const clear = (user: MadeUser) => app.as(user.token)(`DELETE ${path('artifacts')}`);
    expect((await clear(developer)).status).toBe(403);
    expect((await clear(maintainer)).status).toBe(202);
    await expireArtifacts(app.app.services);
    expect([await left(older), await left(last)]).toEqual([0, 1]);
  });

  test('with the trace, when a job is erased', async () => {
    await start(BUILD);
    const job = await runner.take();
    await runner.upload(job, zip);
    await runner.trace(job, 0, 'secret');
    const erase = (user: MadeUser) => app.as(user.token)(`POST ${path(`jobs/${job.id}/erase`)}`);
    const early = await erase(maintainer);
    expect([early.status, early.body.message]).toEqual([403, '403 Forbidden - Job is not erasable!']);
    await runner.update(job, { state: 'success' });
    expect((await erase(developer)).status).toBe(403);
    const erased = bodyOf(await erase(maintainer), 201);
    expect(erased).toMatchObject({ artifacts: [], artifacts_expire_at: null, status: 'success' });
    expect(erased.erased_at).not.toBeNull();
    expect((await app.root(`GET ${path(`jobs/${job.id}/trace`)}`)).text).toBe('');
    expect((await erase(maintainer)).status).toBe(403);
  });

  test('with their pipeline; the files follow', async () => {
    const job = await build();
    const { pipeline } = await jobOf(job);
    await app.root(`DELETE ${path(`pipelines/${pipeline.id}`)}`);
    const kept = await build();
    const before = files().length;
    await app.app.services.blobs.sweep();
    expect(files().length).toBeLessThan(before);
    expect([await status(job), await status(kept)]).toEqual([404, 200]);
  });
});
