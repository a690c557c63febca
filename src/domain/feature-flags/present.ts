/** Feature flags as records. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import type { FeatureFlagRow } from './queries.ts';
import type { StoredStrategy } from './rules.ts';
import type { FeatureFlag } from './schema.ts';
import { selectListsById, type UserListRow } from './user-lists/queries.ts';

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json | undefined } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const objectsOf = (value: Json | undefined) => (Array.isArray(value) ? value.filter(isObject) : []);

const textsOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([name, text]) => [name, String(text)]),
  );

/** The strategies of a row, out of its jsonb. */
export const readStrategies = (row: Pick<FeatureFlagRow, 'strategies'>): StoredStrategy[] =>
  objectsOf(row.strategies).map((strategy) => ({
    id: Number(strategy.id),
    name: String(strategy.name),
    parameters: textsOf(strategy.parameters),
    ...(strategy.user_list_id !== undefined && { user_list_id: Number(strategy.user_list_id) }),
    scopes: objectsOf(strategy.scopes).map((scope) => ({
      id: Number(scope.id),
      environment_scope: String(scope.environment_scope),
    })),
  }));

type Lists = ReadonlyMap<number, Pick<UserListRow, 'id' | 'iid' | 'name' | 'user_xids'>>;

/** The lists that strategies of these flags name. */
export const loadUserLists = (
  db: Db,
  project: AuthorizedProject,
  rows: readonly Pick<FeatureFlagRow, 'strategies'>[],
): Promise<Lists> =>
  selectListsById(
    db,
    project,
    rows.flatMap((row) =>
      readStrategies(row).flatMap(({ user_list_id: id }) => (id === undefined ? [] : [id])),
    ),
  );

export const presentFeatureFlag = (row: FeatureFlagRow, lists: Lists): FeatureFlag => ({
  name: row.name,
  description: row.description,
  active: row.active,
  version: 'new_version_flag',
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  scopes: [],
  strategies: readStrategies(row).map(({ user_list_id: id, ...strategy }) => ({
    ...strategy,
    user_list: (id !== undefined && lists.get(id)) || null,
  })),
});
