/** Projects in moves between storages. */
import { sql } from 'kysely';
import Type from 'typebox';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { ProjectIdentity, presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../../kernel/namespaces/rows.ts';
import type { MovableContainers } from '../../repositories/index.ts';

export const movableProjects: MovableContainers = {
  kind: 'project',
  noun: 'project',
  reference: Type.String(),
  find: async ({ database }, actor, reference) =>
    (await authorizeProject(database.sql, actor, 'read_project', reference)).id,
  isThere: sql`not c.deleting`,
  isShown: sql`exists (select from projects c where c.id = container_id and not c.deleting)`,
  record: ProjectIdentity,
  async present(db, _baseUrl, ids) {
    const { rows } = await sql<ProjectRow>`
      select ${sql.raw(projectColumns)} from ${sql.raw(projectTables)}
      where p.id = any(${[...ids]}::bigint[])`.execute(db);
    return new Map(rows.map((row) => [row.id, presentProjectIdentity(row)]));
  },
};
