import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeProject } from '../../../../test/support/factories.ts';
import { copyObjects } from './actions.ts';

const app = useApp();

test('a fork gets all objects of its source, however many statements they take', async () => {
  const { db } = app.app.services.database;
  const [from, to] = [(await makeProject(app)).id, (await makeProject(app)).id];
  await sql`
    insert into blobs (sha256, created_at)
    select sha256(place::text::bytea), now() from generate_series(1, 7) as made (place)`.execute(db);
  await sql`
    insert into lfs_objects (project_id, sha256, size, created_at)
    select ${from}, sha256, 1, now() from blobs`.execute(db);
  const statements: number[] = [];
  const counted = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements.push(result.rows.length);
      return result;
    },
  });
  await copyObjects(counted, { from, to }, 3);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from lfs_objects where project_id = ${to}`.execute(db);
  expect(rows).toEqual([{ count: 7 }]);
  expect(statements).toHaveLength(3);
});
