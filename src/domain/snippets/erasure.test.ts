/**
 * Remains of snippets that are deleted or were never finished, and of those whose projects and authors are
 * deleted.
 */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeProject,
  makeSnippet,
  makeUser,
} from '../../../test/support/factories.ts';
import { repositoryPath, snippetRepository } from '../repositories/store/containers.ts';

const app = useApp();
const as = (user: MadeUser) => app.as(user.token);

const folderOf = (id: number): string =>
  app.app.services.repositories.folder(snippetRepository(id), 'default');
const removals = async (): Promise<string[]> => {
  const rows = await app.app.services.database.sql<
    { folder: string }[]
  >`select folder from repository_removals`;
  return rows.map(({ folder }) => folder);
};

/** Runs a task of the program, as its workers would. */
async function runTask(name: string): Promise<void> {
  const task = app.app.capabilities.flatMap(({ tasks }) => tasks?.[name] ?? [])[0];
  if (!task) throw new Error(`no task is named ${name}`);
  await task({});
}

test('deleting takes the row, and then the repository', async () => {
  const user = await makeUser(app);
  const { id } = await makeSnippet(app, '/snippets', user);
  const headers = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
  expect((await as(user)(`DELETE /snippets/${id}`, { headers })).status).toBe(412);
  await runTask('housekeeping.remove_gone');
  expect((await as(user)(`GET /snippets/${id}/raw`)).text).toBe('of a.txt');
  expect((await as(user)(`DELETE /snippets/${id}`)).status).toBe(204);
  expect((await as(user)(`GET /snippets/${id}`)).status).toBe(404);
  expect((await as(user)(`DELETE /snippets/${id}`)).status).toBe(404);
  await runTask('housekeeping.remove_gone');
  expect(existsSync(folderOf(id))).toBe(false);
});

test('what was not finished goes: at once when it failed, by the sweep when its process ended', async () => {
  const user = await makeUser(app);
  const { sql } = app.app.services.database;
  const before = await removals();
  const body = {
    title: 'x',
    files: [
      { file_path: 'a', content: 'x' },
      { file_path: 'a/b', content: 'x' },
    ],
  };
  expect((await as(user)('POST /snippets', { body })).status).toBe(400);
  expect(await sql`select from snippets where not ready`).toHaveLength(0);
  expect(await removals()).toHaveLength(before.length + 1);

  const insert = (hours: number) => sql<{ id: number }[]>`
    insert into snippets (author_id, title, visibility, repository_storage, created_at, updated_at)
    values (${user.id}, 'x', 20, 'default', now() - make_interval(hours => ${hours}), now()) returning id`;
  const [old] = await insert(2);
  const [young] = await insert(0);
  expect((await as(user)(`GET /snippets/${young?.id}`)).status).toBe(404);
  expect(bodyOf(await as(user)('GET /snippets'), 200)).toEqual([]);
  await runTask('snippets.sweep_unready');
  const left = await sql<{ id: number }[]>`select id from snippets where not ready`;
  expect(left.map(({ id }) => id)).toEqual([young?.id]);
  expect(await removals()).toContain(repositoryPath(snippetRepository(old?.id ?? 0)));
});

test('a project takes its snippets along, a user leaves them to the ghost', async () => {
  const user = await makeUser(app);
  const project = await makeProject(app);
  await addMember(app, `projects/${project.id}`, user, 30);
  const inside = await makeSnippet(app, `/projects/${project.id}/snippets`, user);
  const own = await makeSnippet(app, '/snippets', user);
  const { db, sql } = app.app.services.database;
  await sql`delete from projects where id = ${project.id}`;
  await runTask('housekeeping.remove_gone');
  expect([existsSync(folderOf(inside.id)), existsSync(folderOf(own.id))]).toEqual([false, true]);
  const snippets = app.app.capabilities.find(({ name }) => name === 'snippets');
  await snippets?.reassign?.(db, user.id, 1, false);
  expect(bodyOf(await app.root(`GET /snippets/${own.id}`), 200).author.id).toBe(1);
});
