/** Projects in moves between storages. */
import { sql } from 'kysely';
import Type from 'typebox';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { ProjectIdentity, presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import type { MovableContainers } from '../../repositories/index.ts';
import { isMovedProjectThere, selectProjectRows } from './reading/queries.ts';

export const movableProjects: MovableContainers = {
  kind: 'project',
  noun: 'project',
  reference: Type.String(),
  find: async ({ database }, actor, reference) =>
    (await authorizeProject(database.points, actor, 'read_project', reference)).id,
  isThere: sql`not c.deleting`,
  isShown: isMovedProjectThere,
  record: ProjectIdentity,
  async present(db, _baseUrl, ids) {
    const rows = await selectProjectRows(db, ids);
    return new Map(rows.map((row) => [row.id, presentProjectIdentity(row)]));
  },
};
