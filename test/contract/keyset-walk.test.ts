/**
 * Keyset pages walked while rows are inserted and deleted: rows that stay throughout are seen exactly once
 * (spec: Pagination).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { now } from '../../src/platform/clock.ts';
import { useApp } from '../support/app.ts';

const ashlar = useApp();

type Change = { kind: 'add'; name: string } | { kind: 'remove'; which: number };

const changes = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('add' as const), name: fc.stringMatching(/^[a-z]{1,3}$/) }),
    fc.record({ kind: fc.constant('remove' as const), which: fc.nat(50) }),
  ),
  { maxLength: 6 },
);

let serial = 0;

async function addUser(name: string): Promise<number> {
  serial += 1;
  const time = now();
  const row = await ashlar.app.services.database.db
    .insertInto('users')
    .values({
      username: `walk${serial}`,
      name,
      email: `walk${serial}@example.com`,
      projects_limit: 0,
      can_create_group: false,
      confirmed_at: time,
      created_at: time,
      updated_at: time,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

const removeUser = (id: number) =>
  ashlar.app.services.database.db.deleteFrom('users').where('id', '=', id).execute();

/** Walks a list by its Link headers, with a step of changes between pages; returns the ids in the order seen. */
async function walk(first: string, steps: readonly Change[][], apply: (change: Change) => Promise<void>) {
  const seen: number[] = [];
  let next: string | undefined = first;
  for (let page = 0; next !== undefined && page < 200; page++) {
    const response = await ashlar.root(`GET ${next}`, { raw: true });
    expect(response.status).toBe(200);
    seen.push(...response.body.map((row: { id: number }) => row.id));
    for (const change of steps[page] ?? []) await apply(change);
    const link: string = response.headers.get('link') ?? '';
    next = /<([^>]+)>; rel="next"/.exec(link)?.[1]?.replace(ashlar.url, '');
  }
  return seen;
}

describe('GET /users by keyset', () => {
  it.each(['id', 'name', 'username', 'created_at', 'updated_at'])('ordered by %s', async (orderBy) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 3, maxLength: 20 }),
        fc.array(changes, { maxLength: 10 }),
        fc.constantFrom('asc', 'desc'),
        fc.integer({ min: 1, max: 7 }),
        async (names, steps, sort, perPage) => {
          const standing = new Set<number>();
          for (const name of names) standing.add(await addUser(name));
          const all = new Set(standing);
          const apply = async (change: Change) => {
            if (change.kind === 'add') {
              all.add(await addUser(change.name));
              return;
            }
            const id = [...all][change.which % all.size];
            if (id === undefined) return;
            all.delete(id);
            standing.delete(id);
            await removeUser(id);
          };
          const query = `pagination=keyset&order_by=${orderBy}&sort=${sort}&per_page=${perPage}`;
          const seen = await walk(`/api/v4/users?${query}`, steps, apply);
          for (const id of standing) expect(seen.filter((one) => one === id)).toEqual([id]);
          expect(new Set(seen).size).toBe(seen.length);
          for (const id of all) await removeUser(id);
        },
      ),
      { numRuns: 8 },
    );
  });
});

describe('GET /projects by keyset', () => {
  it('sees each project once, in order', async () => {
    for (let index = 0; index < 25; index++)
      await ashlar.root('POST /projects', { body: { name: `walk ${index}` } });
    for (const sort of ['asc', 'desc']) {
      const seen = await walk(
        `/api/v4/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=5`,
        [],
        async () => {},
      );
      const ids = [...seen].sort((left, right) => (sort === 'asc' ? left - right : right - left));
      expect(seen).toEqual(ids);
      expect(seen).toHaveLength(25);
    }
  });
});
