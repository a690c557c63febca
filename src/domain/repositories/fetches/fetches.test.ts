/** Clones and fetches are counted as git does them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { addressOf, makeHome, mustGit } from '../../../../test/support/git.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { forgetFetches } from './count-actions.ts';

const app = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each(['0', '2'])('version %s of the protocol: a clone and a fetch are two', async (version) => {
  const project = await makeProject(app);
  await fillProject(app, project.id, [{ 'a.txt': 'a' }, { 'b.txt': 'b' }]);
  const read = async () => bodyOf(await app.root(`GET /projects/${project.id}/statistics`), 200).fetches;
  expect(await read()).toEqual({ total: 0, days: [] });
  const url = addressOf(app.url, project.path_with_namespace, ROOT_TOKEN);
  const protocol = ['-c', `protocol.version=${version}`];
  const work = join(home, `clone-${version}`);
  await mustGit(home, [...protocol, 'clone', '--quiet', url, work]);
  await mustGit(home, [...protocol, 'ls-remote', url]);
  await fillProject(app, project.id, [{ 'c.txt': 'c' }]);
  await mustGit(work, [...protocol, 'fetch', '--quiet']);
  const date = new Date().toISOString().slice(0, 10);
  await expect.poll(read).toEqual({ total: 2, days: [{ count: 2, date }] });
});

test('days beyond the thirty are not shown, and forgotten', async () => {
  const project = await makeProject(app);
  const { sql, db } = app.app.services.database;
  await sql`insert into project_fetches (project_id, day, fetches)
    select ${project.id}, (now() at time zone 'UTC')::date - x, 1 from unnest(array[0, 29, 30]) x`;
  const read = async () => bodyOf(await app.root(`GET /projects/${project.id}/statistics`), 200).fetches;
  expect((await read()).total).toBe(2);
  await forgetFetches(db);
  const [row] =
    await sql`select count(*)::integer as count from project_fetches where project_id = ${project.id}`;
  expect(row?.count).toBe(2);
});

test('Reporters read them, and of public projects who is signed in', async () => {
  const hidden = await makeProject(app);
  const shown = await makeProject(app, { visibility: 'public' });
  const { guest, reporter } = await makeMembers(app, `projects/${hidden.id}`, 'guest', 'reporter');
  const stranger = await makeUser(app);
  const status = async (call: typeof app.root, { id }: { id: number }) =>
    (await call(`GET /projects/${id}/statistics`)).status;
  expect(await status(app.as(guest.token), hidden)).toBe(403);
  expect(await status(app.as(reporter.token), hidden)).toBe(200);
  expect(await status(app.as(stranger.token), hidden)).toBe(404);
  expect(await status(app.as(stranger.token), shown)).toBe(200);
  expect(await status(app.call, shown)).toBe(401);
});
