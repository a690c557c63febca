/** The clock of a lab, over HTTP. One is started for the file: it costs a second or two. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Called, type Site, siteAt } from '../../../test/support/app.ts';
import { bodyOf } from '../../../test/support/factories.ts';
import { type Started, startLab } from '../../../test/support/lab.ts';

const HOUR_MS = 3_600_000;

type Control = (request: string, body?: unknown) => Promise<Called>;
const controlOf =
  (site: Site): Control =>
  (request, body) =>
    site.call(request.replace(' ', ' /-/lab'), { raw: true, ...(body !== undefined && { body }) });

let lab: Started;
let control: Control;
beforeAll(async () => {
  lab = await startLab();
  control = controlOf(lab.site);
});
afterAll(() => {
  lab.child.kill('SIGKILL');
});
beforeEach(async () => {
  expect((await control('POST /reset')).status).toBe(204);
});

const set = async (body: object) => bodyOf(await control('PUT /clock', body), 200);
const advance = async (body: object) => bodyOf(await control('POST /clock/advance', body), 200);
const makeProject = async (name = 'mine'): Promise<number> =>
  bodyOf(await lab.site.root('POST /projects', { body: { name, initialize_with_readme: true } }), 201).id;
const makeIssue = async (project: number, title: string) =>
  bodyOf(await lab.site.root(`POST /projects/${project}/issues`, { body: { title } }), 201);

/** Minutes from the machine's time. */
async function ahead(ask = control): Promise<number> {
  const { now } = bodyOf(await ask('GET /clock'), 200);
  // Zero has no sign here.
  return Math.round((Date.parse(now) - Date.now()) / 60_000) + 0;
}

test('it is the time of what is made, and goes on from where it was set', async () => {
  const project = await makeProject();
  const answer = await set({ now: '2031-05-06T07:08:09Z' });
  expect(answer).toEqual({ now: expect.stringMatching(/^2031-05-06T07:08:/), frozen: false });
  const issue = await makeIssue(project, 'Later');
  expect(issue.created_at).toMatch(/^2031-05-06T07:08:/);
  const [commit] = bodyOf(
    await lab.site.root(`GET /projects/${await makeProject('later')}/repository/commits`),
    200,
  );
  expect(commit.committed_date).toMatch(/^2031-05-06T07:08:/);
  await sleep(20);
  const next = await makeIssue(project, 'Next');
  expect(Date.parse(next.created_at)).toBeGreaterThan(Date.parse(issue.created_at));
  expect((await advance({ days: 1, hours: 1 })).now).toMatch(/^2031-05-07T08:08:/);
  expect((await makeIssue(project, 'Last')).created_at).toMatch(/^2031-05-07T08:08:/);
});

test('it stands still while it is frozen', async () => {
  const project = await makeProject();
  const time = '2031-05-06T07:08:09.123Z';
  expect(await set({ now: time, frozen: true })).toEqual({ now: time, frozen: true });
  const one = await makeIssue(project, 'One');
  await sleep(20);
  const two = await makeIssue(project, 'Two');
  expect([one.created_at, two.created_at]).toEqual([time, time]);
  expect(await advance({ minutes: 1 })).toEqual({ now: '2031-05-06T07:09:09.123Z', frozen: true });
  expect((await makeIssue(project, 'Three')).created_at).toBe('2031-05-06T07:09:09.123Z');
  expect(await set({ frozen: false })).toEqual({
    now: expect.stringMatching(/^2031-05-06T07:09:/),
    frozen: false,
  });
  await expect
    .poll(async () => (await makeIssue(project, 'Four')).created_at > '2031-05-06T07:09:09.123Z', {
      timeout: 10_000,
    })
    .toBe(true);
});

test('statements of the database have the same time', async () => {
  await set({ now: '2031-05-06T07:08:09Z', frozen: true });
  // By clock_timestamp() in a statement.
  const { processes } = bodyOf(await lab.site.root('GET /sidekiq/process_metrics'), 200);
  expect(processes).toHaveLength(1);
  expect(new Date(processes[0].started_at).toISOString()).toBe('2031-05-06T07:08:09.000Z');
});

test('what was to come is there after a step back too, and what comes then', async () => {
  const project = await makeProject();
  const makeHook = async (name: string) =>
    bodyOf(
      await lab.site.root(`POST /projects/${project}/hooks`, {
        body: { url: `${lab.described.url}/-/lab/hooks/${name}`, issues_events: true },
      }),
      201,
    );
  const titles = async (name: string) =>
    (await control(`GET /hooks/${name}`)).body.map(
      ({ body }: { body: { object_attributes: { title: string } } }) => body.object_attributes.title,
    );
  await makeHook('before');
  await makeIssue(project, 'Now');
  await set({ now: '2001-02-03' });
  await makeHook('after');
  expect((await makeIssue(project, 'Then')).created_at).toMatch(/^2001-02-03T00:/);
  await expect.poll(() => titles('after'), { timeout: 10_000 }).toEqual(['Then']);
  // It is of a time that is still to come. What was on its way when the app was swapped is sent again, under the same key.
  expect(new Set(await titles('before'))).toEqual(new Set(['Now']));
});

test('tokens expire, and those of applications are refreshed', async () => {
  const day = new Date(Date.now() + 10 * 24 * HOUR_MS).toISOString().slice(0, 10);
  const { token } = bodyOf(
    await lab.site.root('POST /users/1/personal_access_tokens', {
      body: { name: 'short', scopes: ['api'], expires_at: day },
    }),
    201,
  );
  const { username, password } = lab.described.users.root;
  const grant = async (body: object) =>
    bodyOf(await lab.site.call('POST /oauth/token', { raw: true, body }), 200);
  const first = await grant({ grant_type: 'password', username, password });
  const status = async (headers: Record<string, string>) =>
    (await lab.site.call('GET /user', { headers })).status;
  const bearer = ({ access_token }: { access_token: string }) => ({
    authorization: `Bearer ${access_token}`,
  });
  expect([await status({ 'private-token': token }), await status(bearer(first))]).toEqual([200, 200]);
  await advance({ hours: 3 });
  expect([await status({ 'private-token': token }), await status(bearer(first))]).toEqual([200, 401]);
  const second = await grant({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
  expect(await status(bearer(second))).toBe(200);
  await advance({ days: 10 });
  expect([await status({ 'private-token': token }), await status(bearer(second))]).toEqual([401, 401]);
});

test('a project that is to be deleted is gone when its days are over', async () => {
  const project = await makeProject();
  expect((await lab.site.root(`DELETE /projects/${project}`)).status).toBe(202);
  await advance({ days: 6 });
  expect((await lab.site.root(`GET /projects/${project}`)).body.marked_for_deletion_on).toMatch(/^\d{4}-/);
  await advance({ days: 60 });
  expect((await lab.site.root(`GET /projects/${project}`)).status).toBe(404);
});

test('what is scheduled runs in the minutes of the clock that was moved', async () => {
  // Overdue projects are deleted twenty minutes past each hour.
  await set({ now: '2031-05-06T07:21:00Z' });
  const project = await makeProject();
  expect((await lab.site.root(`DELETE /projects/${project}`)).status).toBe(202);
  await set({ now: '2031-05-10T07:21:00Z' });
  bodyOf(await lab.site.root('PUT /application/settings', { body: { deletion_adjourned_period: 1 } }), 200);
  await set({ now: '2031-05-10T08:19:56Z' });
  const status = async () => (await lab.site.root(`GET /projects/${project}`)).status;
  expect(await status()).toBe(200);
  await expect.poll(status, { timeout: 20_000 }).toBe(404);
});

test('a delayed job is there for runners when its time has come', async () => {
  const project = await makeProject();
  bodyOf(
    await lab.site.root(`POST /projects/${project}/repository/files/.gitlab-ci.yml`, {
      body: {
        branch: 'main',
        commit_message: 'Wait',
        content: 'build:\n  script: make\n  when: delayed\n  start_in: 10 minutes\n',
      },
    }),
    201,
  );
  const statuses = async () =>
    bodyOf(await lab.site.root(`GET /projects/${project}/jobs`), 200).map(
      ({ status }: { status: string }) => status,
    );
  await expect.poll(statuses, { timeout: 10_000 }).toEqual(['scheduled']);
  await advance({ minutes: 8 });
  expect(await statuses()).toEqual(['scheduled']);
  await advance({ minutes: 3 });
  expect(await statuses()).toEqual(['pending']);
});

test('the window of a rate limit opens again', async () => {
  const limits = {
    throttle_unauthenticated_api_enabled: true,
    throttle_unauthenticated_api_requests_per_period: 2,
    throttle_unauthenticated_api_period_in_seconds: 3_600,
  };
  // Within one window.
  await set({ now: '2031-05-06T07:00:00Z' });
  bodyOf(await lab.site.root('PUT /application/settings', { body: limits }), 200);
  const stranger = async () => (await lab.site.call('GET /projects')).status;
  const within = [await stranger(), await stranger(), await stranger()];
  expect(within).toEqual([200, 200, 429]);
  await advance({ minutes: 30 });
  expect(await stranger()).toBe(429);
  await advance({ minutes: 31 });
  expect(await stranger()).toBe(200);
});

test('it is the time of the machine again after clear, reset and restore, and not after a snapshot', async () => {
  await set({ now: '2031-05-06', frozen: true });
  expect((await control('DELETE /clock')).status).toBe(204);
  expect([await ahead(), (await control('GET /clock')).body.frozen]).toEqual([0, false]);
  const issue = await makeIssue(await makeProject(), 'Now');
  expect(Math.abs(Date.parse(issue.created_at) - Date.now())).toBeLessThan(HOUR_MS);

  await advance({ hours: 1 });
  expect((await control('PUT /snapshots/later')).status).toBe(204);
  expect(await ahead()).toBe(60);
  const later = await makeIssue(1, 'Later');
  expect(Date.parse(later.created_at) - Date.now()).toBeGreaterThan(HOUR_MS / 2);
  expect((await control('POST /snapshots/later/restore')).status).toBe(204);
  expect(await ahead()).toBe(0);

  await advance({ hours: 1 });
  expect((await control('POST /reset')).status).toBe(204);
  expect(await ahead()).toBe(0);
  const fresh = await makeIssue(await makeProject(), 'Fresh');
  expect(Math.abs(Date.parse(fresh.created_at) - Date.now())).toBeLessThan(HOUR_MS / 2);
});

test('instances have clocks of their own', async () => {
  const { body } = await control('POST /instances', { name: 'other' });
  const other = controlOf(siteAt(body.url, body.token));
  await advance({ hours: 1 });
  expect([await ahead(), await ahead(other)]).toEqual([60, 0]);
  expect((await control('DELETE /instances/other')).status).toBe(204);
});

test('changes at once are done one after the other, and requests meanwhile are answered', async () => {
  await set({ now: '2031-05-06', frozen: true });
  const changes = [1, 2, 3].map(() => control('POST /clock/advance', { hours: 1 }));
  const reads = Array.from({ length: 20 }, () => lab.site.root('GET /version'));
  for (const { status } of await Promise.all(changes)) expect(status).toBe(200);
  for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
  expect((await control('GET /clock')).body.now).toBe('2031-05-06T03:00:00.000Z');
});

test.each<[string, unknown, number, RegExp]>([
  ['PUT /clock', { now: 'tomorrow' }, 400, /now is a day/],
  ['PUT /clock', {}, 400, /now or frozen is missing/],
  ['POST /clock/advance', { days: -1 }, 400, /not negative/],
  ['POST /clock', { days: 1 }, 405, /GET and PUT and DELETE/],
])('%s with %j is refused with %i, and nothing moves', async (request, body, status, message) => {
  const answer = await control(request, body);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
  expect(await ahead()).toBe(0);
});
