/** References in system notes. */
import { type RawBuilder, sql } from 'kysely';

/** A reference by path, or without one in the project or group of id `home`. */
export type CrossReference = {
  key: string;
  sign: string;
  path: string | undefined;
  home: number;
  iid: number;
};

/** The references as a table `q(key, home, path, iid)`, so that one statement finds many. */
export const crossReferenceTable = (named: readonly CrossReference[]): RawBuilder<unknown> => sql`unnest(
  ${named.map(({ key }) => key)}::text[], ${named.map(({ home }) => home)}::bigint[],
  ${named.map(({ path }) => path ?? null)}::text[], ${named.map(({ iid }) => iid)}::integer[]) q(key, home, path, iid)`;

/** Selects `key`, the project's id and `iid` of references to what is numbered in projects. */
export const inProjects = (named: readonly CrossReference[]): RawBuilder<unknown> => sql`
    select q.key, q.home, q.iid from ${crossReferenceTable(named)} where q.path is null
    union all
    select q.key, p.id, q.iid from ${crossReferenceTable(named)}
      join namespaces n on lower(n.full_path) collate "C" = regexp_replace(q.path, '/[^/]*$', '')
      join projects p on p.namespace_id = n.id and lower(p.path) collate "C" = regexp_replace(q.path, '^.*/', '')`;
