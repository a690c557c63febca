/** Which runs a process takes: each is of one process alone, and no owner has all places. */
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';
import { afterPush } from '../rules.ts';
import { finishRun, takeDue } from './run-actions.ts';

const ashlar = useApp({ still: true });
const processes = [1, 2, 3].map((number) => `00000000-0000-4000-8000-00000000000${number}`);
const [first = '', second = '', dead = ''] = processes;
const db = () => ashlar.app.services.database.db;

beforeEach(async () => {
  await db().deleteFrom('mirrors').execute();
  await sql`insert into processes (id, beat_at) values (${first}, clock_timestamp()), (${second}, clock_timestamp()),
    (${dead}, clock_timestamp() - interval '1 minute') on conflict (id) do update set beat_at = excluded.beat_at`.execute(
    db(),
  );
});

/** Mirrors of a new project in a new group, or in a group below another. */
async function due(count: number, parent?: number, user: number | null = null): Promise<number> {
  const group = await makeGroup(ashlar, parent === undefined ? {} : { parent_id: parent });
  const { id } = await makeProject(ashlar, { namespace_id: group.id });
  await sql`insert into mirrors (project_id, user_id, kind, enabled, url, status, due_at, created_at, updated_at)
    select ${id}, ${user}::bigint, 'push', true, 'https://git.invalid/' || x, 'none', now() - interval '1 minute', now(), now()
    from generate_series(1, ${count}) x`.execute(db());
  return group.id;
}

const take = (process: string, places = 10, capacity = 100) => takeDue(db(), process, { places, capacity });

test('two processes that look at once take each mirror once', async () => {
  for (let owner = 0; owner < 6; owner++) await due(2);
  const taken = (await Promise.all([take(first), take(second), take(first), take(second)])).flat();
  const ids = taken.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(0);
  while (ids.length < 12) {
    const more = await take(second);
    expect(more.length).toBeGreaterThan(0);
    ids.push(...more.map(({ id }) => id));
  }
  expect(new Set(ids).size).toBe(12);
  expect(await take(first)).toEqual([]);
});

test('an owner has two places at most, with all groups below', async () => {
  const large = await due(5);
  await due(5, large);
  await due(1);
  const taken = await take(first);
  expect(taken).toHaveLength(3);
  expect(new Set(taken.map(({ project_id }) => project_id)).size).toBeGreaterThan(1);
  expect(await take(second)).toEqual([]);
});

test('a user has four places at most, in however many groups', async () => {
  const [greedy, other] = [await makeUser(ashlar), await makeUser(ashlar)];
  for (let group = 0; group < 6; group++) await due(2, undefined, greedy.id);
  await due(1, undefined, other.id);
  const taken = await take(first, 8);
  const of = (rows: { user_id: number | null }[], { id }: { id: number }) =>
    rows.filter(({ user_id }) => user_id === id).length;
  expect([of(taken, greedy), of(taken, other)]).toEqual([4, 1]);
  expect(await take(second)).toEqual([]);
  const [row] = taken.filter(({ user_id }) => user_id === greedy.id);
  if (!row) throw new Error('there is one');
  await finishRun(db(), first, row, afterPush(row, {}, new Date()));
  expect(of(await take(second), greedy)).toBe(1);
});

test.each(['deleting', 'repository_read_only'])(
  'what belongs to a project that is %s waits',
  async (column) => {
    await due(1);
    const set = (value: boolean) =>
      sql`update projects set ${sql.ref(column)} = ${value} where id in (select project_id from mirrors)`.execute(
        db(),
      );
    await set(true);
    expect(await take(first)).toEqual([]);
    await set(false);
    expect(await take(first)).toHaveLength(1);
  },
);

test('places and the capacity of all processes bound what is taken', async () => {
  for (let owner = 0; owner < 4; owner++) await due(1);
  expect(await take(first, 2)).toHaveLength(2);
  expect(await take(second, 10, 3)).toHaveLength(1);
  expect(await take(second, 10, 3)).toEqual([]);
});

test('what a dead process had is taken again, and what it writes then is passed over', async () => {
  await due(1);
  const [row] = await take(dead);
  const [again] = await take(first);
  expect(again?.id).toBe(row?.id);
  if (!row || !again) throw new Error('there is one');
  const time = new Date();
  await finishRun(db(), dead, row, afterPush(row, { failed: { text: 'late', transient: false } }, time));
  const read = () =>
    db().selectFrom('mirrors').selectAll().where('id', '=', row.id).executeTakeFirstOrThrow();
  expect(await read()).toMatchObject({ status: 'started', last_error: null, runner: first });
  await finishRun(db(), first, again, afterPush(again, {}, time));
  expect(await read()).toMatchObject({ status: 'finished', runner: null, due_at: null });
});

test('a run that is asked for while one is under way is not lost', async () => {
  await due(1);
  const [row] = await take(first);
  if (!row) throw new Error('there is one');
  const asked = new Date(Date.now() + 60_000);
  await db().updateTable('mirrors').set({ due_at: asked }).where('id', '=', row.id).execute();
  await finishRun(db(), first, row, afterPush(row, {}, new Date()));
  const after = await db()
    .selectFrom('mirrors')
    .selectAll()
    .where('id', '=', row.id)
    .executeTakeFirstOrThrow();
  expect(after.due_at).toEqual(asked);
});
