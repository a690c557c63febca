/** Wikis of groups in moves between storages; a project's moves with the project. */
import { sql } from 'kysely';
import Type from 'typebox';
import { authorizeGroup } from '../../kernel/access/find.ts';
import { BasicGroupDetails, presentBasicGroup } from '../../kernel/namespaces/group-records.ts';
import type { MovableContainers } from '../repositories/index.ts';
import { isMovedGroupThere, selectGroupNames } from './queries.ts';

export const movableGroupWikis: MovableContainers = {
  kind: 'group',
  noun: "group's wiki",
  tier: 'premium',
  reference: Type.String(),
  find: async ({ database }, actor, reference) =>
    (await authorizeGroup(database.points, actor, 'read_group', reference)).id,
  isThere: sql`true`,
  isShown: isMovedGroupThere,
  record: BasicGroupDetails,
  async present(db, baseUrl, ids) {
    const groups = await selectGroupNames(db, ids);
    return new Map(groups.map((group) => [group.id, presentBasicGroup({ baseUrl }, group)]));
  },
};
