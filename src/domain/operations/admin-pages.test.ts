/** Administrators look at jobs and at the health of the site. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ROOT_PASSWORD, useApp } from '../../../test/support/app.ts';
import { type Browser, hiddenFields, openBrowser, signInAs } from '../../../test/support/browser.ts';
import { makeUser } from '../../../test/support/factories.ts';
import { addJobs } from '../../platform/jobs/jobs.ts';
import { spanOf } from './admin-pages.ts';
import { judgeDisk } from './health.ts';

const app = useApp();
const JOBS = '/admin/jobs';
let root: Browser;
beforeAll(async () => {
  root = openBrowser(app);
  await signInAs(root, 'root', ROOT_PASSWORD);
});

/** Jobs of a task that nobody does, as if their attempts were used up. */
async function deadJobsOf(task: string, count: number): Promise<number[]> {
  const { database } = app.app.services;
  await addJobs(
    database.db,
    Array.from({ length: count }, () => ({ task, payload: { secret: 'payload' } })),
  );
  const rows = await database.sql<{ id: number }[]>`
    update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'It <broke>' || chr(10) || 'at line 1'
    where id in (select id from graphile_worker.jobs where task_identifier = ${task}) returning id::integer`;
  onTestFinished(async () => {
    await database.sql`delete from graphile_worker._private_jobs where id in (select id from graphile_worker.jobs where task_identifier = ${task})`;
  });
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

describe('jobs', () => {
  test('that wait are counted by queue, and processes are listed', async () => {
    const { database } = app.app.services;
    expect((await root.get(JOBS)).text).toMatch(/Nothing waits in any of \d+ queues/);
    await addJobs(database.db, [
      { task: 'quarry.cut', payload: {} },
      { task: 'quarry.cut', payload: {} },
    ]);
    onTestFinished(async () => {
      await database.sql`delete from graphile_worker._private_jobs where id in (select id from graphile_worker.jobs where task_identifier = 'quarry.cut')`;
    });
    const { text } = await root.get(JOBS);
    expect(text).toMatch(/<th scope="row">quarry<\/th><td>2<\/td><td>\d+ seconds?<\/td>/);
    expect(text).toContain(`Process ${process.pid}, since`);
  });

  test('that failed for good are told of, listed without what they were given, and tried again once', async () => {
    const [id = 0] = await deadJobsOf('quarry.carry', 1);
    expect((await root.get('/admin')).text).toContain('One job failed for good.');
    const { text } = await root.get(JOBS);
    expect(text).toContain('It &lt;broke&gt;<br>');
    for (const hidden of ['at line 1', 'payload']) expect(text).not.toContain(hidden);
    const fields = { ...hiddenFields(text, JOBS), job: String(id) };
    const both = await Promise.all([1, 2].map(() => root.post(JOBS, fields)));
    expect(both.map(({ location }) => location).sort()).toEqual([`${JOBS}?done=again`, `${JOBS}?done=gone`]);
    const [job] = await app.app.services.database.sql<{ attempts: number }[]>`
      select attempts from graphile_worker.jobs where id = ${id}`;
    expect(job?.attempts).toBe(0);
    expect((await root.get('/admin')).text).not.toContain('failed for good.');
  });

  test('are shown in pages, each once', async () => {
    const ids = await deadJobsOf('quarry.heap', 60);
    const shown = (text: string) =>
      [...text.matchAll(/name="job" value="(\d+)"/g)].map(([, id]) => Number(id));
    const first = await root.get(JOBS);
    const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1] ?? '';
    const second = await root.get(next);
    expect([...shown(first.text), ...shown(second.text)]).toEqual(ids.reverse());
    expect(second.text).toContain('To the latest');
    expect(second.text).not.toContain('rel="next"');
  });
});

describe('health', () => {
  test('looks at what the site stands on', async () => {
    const { text, status } = await root.get('/admin/health');
    expect(status).toBe(200);
    expect(text).toMatch(/PostgreSQL \d+/);
    for (const word of [
      'The disk and the database take them',
      'GiB are free at',
      'No mail server is set',
      '0 failed for good',
    ])
      expect(text).toContain(word);
    expect(text).toMatch(/Backup<\/div>\s*<div class="below">None is made by the clock\./);
  });

  test('says what is wrong', async () => {
    await deadJobsOf('quarry.fall', 2);
    const { text } = await root.get('/admin/health');
    expect(text).toMatch(
      /href="\/admin\/jobs">Jobs<\/a><\/div>\s*<div class="below">[^<]*2 failed for good[\s\S]*?Look here/,
    );
  });
});

test('others read and change nothing', async () => {
  const user = await makeUser(app);
  const other = openBrowser(app);
  await signInAs(other, user.username, 'correct horse battery staple');
  const own = hiddenFields((await other.get('/-/profile/active_sessions')).text, '/users/sign_out');
  expect(own.authenticity_token).toBeDefined();
  for (const path of [
    '/admin',
    JOBS,
    '/admin/health',
    '/admin/mail',
    '/admin/settings',
    '/admin/users',
    '/admin/applications',
  ])
    expect([path, (await other.get(path)).status]).toEqual([path, 404]);
  const [id = 0] = await deadJobsOf('quarry.lock', 1);
  expect((await other.post(JOBS, { ...own, job: String(id) })).status).toBe(404);
  expect((await root.post(JOBS, { job: String(id) })).status).toBe(403);
  const [job] = await app.app.services.database.sql<{ attempts: number }[]>`
    select attempts from graphile_worker.jobs where id = ${id}`;
  expect(job?.attempts).toBeGreaterThan(0);
  const token = hiddenFields((await root.get(JOBS)).text, JOBS);
  for (const job of ['', 'x', '-1', '1; drop table users'])
    expect((await root.post(JOBS, { ...token, job })).status).toBe(404);
  expect((await root.get(`${JOBS}?before=x`)).status).toBe(404);
});

test.each([
  [0, '0 seconds'],
  [1, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [7_199, '1 hour'],
  [172_800, '2 days'],
])('%i seconds are %s', (seconds, text) => {
  expect(spanOf(seconds)).toBe(text);
});

test.each([
  [99, 'wrong', '9.9 of 100.0 GiB are free at /data'],
  [100, 'good', '10.0 of 100.0 GiB are free at /data'],
])('of a thousand parts of a disk, %i free are %s', (bavail, state, text) => {
  expect(judgeDisk('/data', { bavail, blocks: 1_000, bsize: 107_374_182.4 })).toMatchObject({ state, text });
});
