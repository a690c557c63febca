/** Freeze periods over HTTP, and as jobs are told of them. */
import { beforeAll, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { openRunner } from '../../../../test/support/runner.ts';
import { isFrozen } from './rules.ts';

const weekend = { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1', cron_timezone: 'UTC' };
test.each([
  ['2026-11-27T22:59:00Z', 'UTC', false],
  ['2026-11-27T23:00:00Z', 'UTC', true],
  ['2026-11-29T12:00:00Z', 'UTC', true],
  ['2026-11-30T07:00:00Z', 'UTC', false],
  ['2026-11-27T22:30:00Z', 'Berlin', true],
  ['2026-11-29T12:00:00Z', 'Nowhere', false],
])('at %s in %s it is frozen: %s', (time, cron_timezone, frozen) =>
  expect(isFrozen([{ ...weekend, cron_timezone }], new Date(time))).toBe(frozen),
);

const app: TestApp = useApp();
let project: MadeProject;
let members: Record<'maintainer' | 'reporter' | 'guest', MadeUser>;
beforeAll(async () => {
  project = await makeProject(app);
  members = await makeMembers(app, `projects/${project.id}`, 'maintainer', 'reporter', 'guest');
});
const as = (who: keyof typeof members) => app.as(members[who].token);
const path = () => `/projects/${project.id}/freeze_periods`;
const post = (body: object, who: keyof typeof members = 'maintainer') =>
  as(who)(`POST ${path()}`, { body: { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1', ...body } });

test('a period is made, read, changed and deleted', async () => {
  const made = bodyOf(await post({}), 201);
  expect(made).toMatchObject({ ...weekend, id: expect.any(Number), created_at: made.updated_at });
  const one = `${path()}/${made.id}`;
  expect(bodyOf(await as('reporter')(`GET ${one}`), 200)).toEqual(made);
  expect(bodyOf(await as('reporter')(`GET ${path()}`), 200)).toEqual([made]);
  const body = { freeze_end: '0 8 * * 1', cron_timezone: 'America/New_York' };
  expect(bodyOf(await as('maintainer')(`PUT ${one}`, { body }), 200)).toMatchObject({
    ...weekend,
    ...body,
  });
  expect((await as('guest')(`GET ${one}`)).status).toBe(403);
  expect((await as('reporter')(`DELETE ${one}`)).status).toBe(403);
  const other = await makeProject(app);
  expect((await app.root(`DELETE /projects/${other.id}/freeze_periods/${made.id}`)).status).toBe(404);
  const wrong = await as('maintainer')(`PUT ${one}`, { body: { freeze_start: 'never' } });
  expect([wrong.status, wrong.body]).toEqual([400, { message: { freeze_start: ['is invalid syntax'] } }]);
  const removed = [1, 2].map(() => as('maintainer')(`DELETE ${one}`));
  expect((await Promise.all(removed)).map(({ status }) => status).sort()).toEqual([204, 404]);
});

test.each([
  [{ freeze_start: '0 23 * *' }, { freeze_start: ['is invalid syntax'] }],
  [{ freeze_end: '0 0 30 2 *' }, { freeze_end: ['is invalid syntax'] }],
  [{ cron_timezone: 'Nowhere' }, { cron_timezone: ['is invalid syntax'] }],
])('a period is refused: %j', async (body, message) => {
  const refused = await post(body);
  expect([refused.status, refused.body]).toEqual([400, { message }]);
});

test('a job in a period is told', async () => {
  const body = { runner_type: 'project_type', project_id: project.id };
  const runner = openRunner(app, bodyOf(await app.root('POST /user/runners', { body }), 201).token);
  const content = 'always:\n  script: a\nfrozen:\n  script: b\n  rules:\n    - if: $CI_DEPLOY_FREEZE\n';
  const commit = {
    branch: 'main',
    commit_message: 'Add [skip ci]',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content }],
  };
  bodyOf(await app.root(`POST /projects/${project.id}/repository/commits`, { body: commit }), 201);
  const run = async (count: number): Promise<(string | undefined)[]> => {
    const start = { body: { ref: 'main' } };
    bodyOf(await as('maintainer')(`POST /projects/${project.id}/pipeline`, start), 201);
    const told: (string | undefined)[] = [];
    for (let at = 0; at < count; at++) {
      const job = await runner.take();
      told.push(job.variables.find(({ key }) => key === 'CI_DEPLOY_FREEZE')?.value);
      await runner.update(job, { state: 'success' });
    }
    expect((await runner.request()).status).toBe(204);
    return told;
  };
  expect(await run(1)).toEqual([undefined]);
  // It begins again a year after it began.
  const now = new Date();
  const past = new Date(now.getTime() - 2 * 86_400_000);
  const next = new Date(now.getTime() + 2 * 86_400_000);
  const yearly = (date: Date) => `0 0 ${date.getUTCDate()} ${date.getUTCMonth() + 1} *`;
  bodyOf(await post({ freeze_start: yearly(past), freeze_end: yearly(next) }), 201);
  expect(await run(2)).toEqual(['true', 'true']);
});
