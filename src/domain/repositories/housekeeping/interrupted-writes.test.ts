/** Writes whose process dies between git's commit and its record: the database is mended soon after. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, makeSnippet, makeUser } from '../../../../test/support/factories.ts';
import { createPage, groupWikiParent, projectWikiParent } from '../../../../test/support/wikis.ts';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import { createPresence, forgetProcesses } from '../../../platform/db/processes.ts';
import { newObject } from '../../../platform/git/parse.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { commitChanges } from '../pushes/commits.ts';
import { projectRepository, snippetRepository } from '../store/containers.ts';

const ashlar = useApp();
const services = () => ashlar.app.services;
const sql = () => services().database.sql;

/** Writes and removes files by one commit, as a process does that dies before it can record it; returns its id. */
async function cutOff(key: RepositoryKey, files: Record<string, string | undefined>): Promise<string> {
  const lease = await services().repositories.lease(key, 'write');
  const blobs = Object.values(files).flatMap((text) =>
    text === undefined ? [] : [newObject('blob', Buffer.from(text))],
  );
  const changes = Object.entries(files).map(([path, text]) => ({
    path: path.split('/'),
    entry: text === undefined ? undefined : { mode: '100644', oid: newObject('blob', Buffer.from(text)).oid },
  }));
  const author = { name: 'Ada', email: 'ada@example.com' };
  const head = await findBranch(lease.git, 'main');
  await commitChanges(lease.git, { branch: 'main', head, changes, blobs, message: 'x', author });
  const dead = randomUUID();
  await sql()`insert into processes (id, beat_at) values (${dead}, now() - interval '1 hour')`;
  await sql()`
    update repository_uses set process_id = ${dead}
    where container = ${key.kind} and container_id = ${key.id} and purpose = 'write'`;
  return dead;
}

async function settle(): Promise<void> {
  const housekeeping = ashlar.app.capabilities.find(({ name }) => name === 'housekeeping');
  await housekeeping?.tasks?.['housekeeping.find_forgotten']?.({});
}

test('the files of a snippet are listed as they are', async () => {
  const user = await makeUser(ashlar);
  const { id } = await makeSnippet(ashlar, '/snippets', user);
  await cutOff(snippetRepository(id), { 'a.txt': undefined, 'b.txt': 'new', 'c/d.txt': 'more' });
  const paths = async () =>
    bodyOf(await ashlar.as(user.token)(`GET /snippets/${id}`), 200).files.map(
      ({ path }: { path: string }) => path,
    );
  expect(await paths()).toEqual(['a.txt']);
  await settle();
  await expect.poll(paths, { timeout: 10_000 }).toEqual(['b.txt', 'c/d.txt']);
  expect((await ashlar.as(user.token)(`GET /snippets/${id}/raw`)).text).toBe('new');
  expect(
    await sql()`select from repository_uses where container = 'snippet' and container_id = ${id}`,
  ).toEqual([]);
});

test('the files of a snippet are listed as they are also when the database failed after the commit', async () => {
  const user = await makeUser(ashlar);
  const { id } = await makeSnippet(ashlar, '/snippets', user);
  await sql()`alter table snippets add constraint no_more check (files = '{a.txt}') not valid`;
  const body = { files: [{ action: 'create', file_path: 'b.txt', content: 'new' }] };
  expect((await ashlar.as(user.token)(`PUT /snippets/${id}`, { body })).status).toBe(500);
  await sql()`alter table snippets drop constraint no_more`;
  const paths = async () =>
    bodyOf(await ashlar.as(user.token)(`GET /snippets/${id}`), 200).files.map(
      ({ path }: { path: string }) => path,
    );
  await expect.poll(paths, { timeout: 30_000 }).toEqual(['a.txt', 'b.txt']);
});

test.each([
  ['project', () => projectWikiParent(ashlar)],
  ['group', () => groupWikiParent(ashlar)],
])(
  'pages of the wiki of a %s keep their ids when they are renamed, and lose them when they are removed',
  async (_, makeTeam) => {
    const place = await makeTeam();
    const idOf = async (slug: string): Promise<number> =>
      bodyOf(await ashlar.root(`GET ${place.wikis}/${encodeURIComponent(slug)}`), 200).wiki_page_meta_id;
    const [moved, gone, kept] = [
      await createPage(ashlar, place, { title: 'moved', content: '1' }),
      await createPage(ashlar, place, { title: 'gone', content: '2' }),
      await createPage(ashlar, place, { title: 'kept', content: '3' }),
    ];
    await cutOff(place.key, { 'moved.md': undefined, 'halfway.md': '1' });
    // A reader comes in between.
    expect(await idOf('halfway')).not.toBe(moved.wiki_page_meta_id);
    await cutOff(place.key, { 'halfway.md': undefined, 'folder/there.md': '1' });
    await cutOff(place.key, { 'gone.md': undefined });
    await settle();
    await expect.poll(() => idOf('folder/there'), { timeout: 10_000 }).toBe(moved.wiki_page_meta_id);
    expect(await idOf('kept')).toBe(kept.wiki_page_meta_id);
    const slugs = () =>
      sql()`select slug from wiki_pages where coalesce(project_id, group_id) = ${place.id} order by slug`;
    await expect.poll(slugs, { timeout: 10_000 }).toEqual([{ slug: 'folder/there' }, { slug: 'kept' }]);
    const again = await createPage(ashlar, place, { title: 'gone', content: '4' });
    expect(again.wiki_page_meta_id).not.toBe(gone.wiki_page_meta_id);
  },
);

test('jobs that settle one wiki at once leave a page its oldest id', async () => {
  const wikis = ashlar.app.capabilities.find(({ name }) => name === 'wikis');
  const place = await projectWikiParent(ashlar);
  const idOf = async (slug: string): Promise<number> =>
    bodyOf(await ashlar.root(`GET ${place.wikis}/${slug}`), 200).wiki_page_meta_id;
  const since = (time: Date) =>
    wikis?.tasks?.['wikis.reconcile']?.({ kind: 'project', id: place.id, began_at: time.toISOString() });
  const blocked = async () =>
    (
      await sql()`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    ).length;
  const began = new Date();
  const { wiki_page_meta_id: oldest } = await createPage(ashlar, place, { title: 'first', content: '1' });
  await cutOff(place.key, { 'first.md': undefined, 'second.md': '1' });
  const looked = await idOf('second');
  // git's log orders commits by the second.
  await delay(2_000 - (Date.now() % 1_000));
  const later = new Date();
  await cutOff(place.key, { 'second.md': undefined, 'third.md': '1' });
  const jobs: unknown[] = [];
  await sql().begin(async (tx) => {
    await tx`select from wiki_pages where id = ${looked} for update`;
    jobs.push(since(later));
    await expect.poll(blocked, { timeout: 10_000 }).toBe(1);
    jobs.push(since(began));
    await expect.poll(blocked, { timeout: 10_000 }).toBe(2);
  });
  await Promise.all(jobs);
  expect(await idOf('third')).toBe(oldest);
  await settle();
});

test('what was recorded in good order stays as it is', async () => {
  const place = await projectWikiParent(ashlar);
  const first = await createPage(ashlar, place, { title: 'first', content: '1' });
  await cutOff(place.key, { 'other.md': 'x' });
  bodyOf(await ashlar.root(`PUT ${place.wikis}/first`, { body: { title: 'second' } }), 200);
  const next = await createPage(ashlar, place, { title: 'first', content: '2' });
  await settle();
  const jobs = () => sql()`select from graphile_worker.jobs where task_identifier = 'wikis.reconcile'`;
  await expect.poll(async () => (await sql()`select from outbox`).length + (await jobs()).length).toBe(0);
  const ids = bodyOf(await ashlar.root(`GET ${place.wikis}`), 200).map(
    (page: { slug: string; wiki_page_meta_id: number }) => [page.slug, page.wiki_page_meta_id],
  );
  expect(ids).toEqual(
    expect.arrayContaining([
      ['first', next.wiki_page_meta_id],
      ['second', first.wiki_page_meta_id],
    ]),
  );
});

test('a process that was writing is remembered until that is settled, others are not', async () => {
  const { id } = await makeProject(ashlar);
  await services().repositories.write(projectRepository(id), 'main', async () => undefined);
  const writer = await cutOff(projectRepository(id), { 'a.txt': 'x' });
  const idle = randomUUID();
  await sql()`insert into processes (id, beat_at) values (${idle}, now())`;
  await forgetProcesses(services().database.background);
  const presence = createPresence(services().database.points, services().log);
  await presence.announce();
  const there = async (process: string) => (await sql()`select from processes where id = ${process}`).length;
  await expect.poll(() => there(idle), { timeout: 10_000 }).toBe(0);
  expect(await there(writer)).toBe(1);
  await settle();
  await expect.poll(() => there(writer), { timeout: 10_000 }).toBe(0);
  await presence.stop();
});
