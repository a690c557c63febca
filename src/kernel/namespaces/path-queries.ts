/** Paths of projects in the statements of others. */
import { type RawBuilder, sql } from 'kysely';

/** Selects the full paths of the projects of these ids, as rows of id and full_path. */
export const selectProjectPaths = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select p.id, n.full_path || '/' || p.path as full_path from projects p join namespaces n on n.id = p.namespace_id
  where p.id = any(${ids})`;
