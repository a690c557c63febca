/** Two administrators remove each other at the same time, in every way: one stays. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { type MadeUser, makeUser } from '../../../../test/support/factories.ts';

const app = useApp();
const database = () => app.app.services.database.sql;

const ways = {
  block: (by: MadeUser, whom: MadeUser) => app.as(by.token)(`POST /users/${whom.id}/block`),
  ban: (by: MadeUser, whom: MadeUser) => app.as(by.token)(`POST /users/${whom.id}/ban`),
  deactivate: (by: MadeUser, whom: MadeUser) => app.as(by.token)(`POST /users/${whom.id}/deactivate`),
  demote: (by: MadeUser, whom: MadeUser) =>
    app.as(by.token)(`PUT /users/${whom.id}`, { body: { admin: false } }),
  delete: (by: MadeUser, whom: MadeUser) => app.as(by.token)(`DELETE /users/${whom.id}`),
  'delete for good': (by: MadeUser, whom: MadeUser) =>
    app.as(by.token)(`DELETE /users/${whom.id}`, { query: 'hard_delete=true' }),
};
type Way = keyof typeof ways;
const all = Object.keys(ways) as Way[];

/** Two administrators after a long absence; while `work` runs there is no other. */
async function betweenTwo<T>(work: (ada: MadeUser, bob: MadeUser) => Promise<T>): Promise<T> {
  const [ada, bob] = [await makeUser(app, { admin: true }), await makeUser(app, { admin: true })];
  const sql = database();
  await sql`update access_tokens set last_used_at = now() where user_id in (${ada.id}, ${bob.id})`;
  await sql`update users set last_activity_on = '2020-01-01' where id in (${ada.id}, ${bob.id})`;
  await sql`update users set admin = id in (${ada.id}, ${bob.id}) where admin`;
  try {
    return await work(ada, bob);
  } finally {
    await sql`update users set admin = id = 1 where admin or id = 1`;
  }
}

const left = async (): Promise<number> =>
  (await database()`select from users where admin and state = 'active' and deletion is null`).length;

test.each([
  ...all.map((way) => [way, way] as const),
  ['block', 'demote'] as const,
  ['ban', 'delete'] as const,
  ['demote', 'deactivate'] as const,
])('one stays when one asks to %s and the other to %s', async (one, other) => {
  for (let round = 0; round < 3; round++) {
    await betweenTwo(async (ada, bob) => {
      const responses = await Promise.all([ways[one](ada, bob), ways[other](bob, ada)]);
      expect(await left()).toBe(1);
      expect(responses.filter(({ status }) => status < 300)).toHaveLength(1);
      // The other is blocked or demoted already, or no administrator would be left.
      expect([400, 401, 403, 409]).toContain(responses.find(({ status }) => status >= 300)?.status);
    });
  }
});

test('the last one does not step down, and says why', async () => {
  await betweenTwo(async (ada, bob) => {
    expect((await ways.block(ada, bob)).status).toBe(201);
    const down = await ways.demote(ada, ada);
    expect([down.status, JSON.stringify(down.body)]).toEqual([
      400,
      expect.stringContaining('no other active administrator'),
    ]);
    expect((await app.as(ada.token)(`POST /users/${bob.id}/unblock`)).status).toBe(201);
    expect((await ways.demote(ada, ada)).status).toBe(200);
    expect(await left()).toBe(1);
  });
});

test('a blocked administrator, who counts for nobody, may be taken away', async () => {
  await betweenTwo(async (ada, bob) => {
    expect((await ways.block(ada, bob)).status).toBe(201);
    expect((await ways.demote(ada, bob)).status).toBe(200);
    expect((await ways.delete(ada, bob)).status).toBe(204);
    expect(await left()).toBe(1);
  });
});

test('only who still waits is turned away', async () => {
  const user = await makeUser(app);
  expect((await app.root(`POST /users/${user.id}/reject`)).status).toBe(409);
  expect((await app.as(user.token)('GET /user')).status).toBe(200);
});
