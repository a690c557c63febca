/** What the statement about approvals is planned by. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { expect, test } from 'vitest';
import { idArray } from '../../../platform/db/tagged-rows.ts';
import { approvalCtes } from './queries.ts';

const db = new Kysely({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (own) => new PostgresIntrospector(own),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

test('rows are found by the ids in one place: else it would be planned for each request', () => {
  const { parameters } = approvalCtes(idArray([7])).compile(db);
  expect(parameters.filter((each) => Array.isArray(each))).toHaveLength(1);
});
