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
