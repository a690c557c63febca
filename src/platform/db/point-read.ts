/**
 * Reads of one row by a key, those of all callers together: what is asked while one statement is on its way goes with the
 * next, and the same question is put once. A read never sees less than what was there when it was asked for.
 */

import { batch } from '../batch.ts';
import type { Sql } from './driver/sql.ts';

type Value = string | number;

/** So many keys in one statement at most: all who ask meanwhile wait for it. */
const MAX_KEYS = 64;

export type PointRead<Row> = {
  /** Reads the row of the key, undefined where there is none, together with what others read at this time. */
  (sql: Sql, key: readonly Value[]): Promise<Row | undefined>;
  /** Reads the rows of these keys, in their order. */
  each(sql: Sql, keys: readonly (readonly Value[])[]): Promise<(Row | undefined)[]>;
};

/**
 * `types` are those of a key's values, which `statement`, of one row at most, finds as `k.v1`, `k.v2` and so on. `gather` as batch()
 * has it.
 */
export function pointRead<Row extends object>(
  types: readonly string[],
  statement: string,
  options: { gather?: number } = {},
): PointRead<Row> {
  const arrays = types.map((type, place) => `$${place + 1}::${type}[]`).join(', ');
  const names = types.map((_, place) => `v${place + 1}`).join(', ');
  const text = `select k.place, r.* from unnest(${arrays}) with ordinality as k(${names}, place) cross join lateral (${statement}) r`;
  async function together(sql: Sql, keys: readonly (readonly Value[])[]): Promise<(Row | undefined)[]> {
    const places = new Map<string, number>();
    const distinct: (readonly Value[])[] = [];
    const placeOf = keys.map((key) => {
      const name = JSON.stringify(key);
      const place = places.get(name) ?? distinct.push(key);
      places.set(name, place);
      return place;
    });
    const columns = types.map((_, column) => distinct.map((key) => key[column] ?? null));
    const rows = await sql.unsafe<(Row & { place: number })[]>(text, columns, { prepare: true });
    // As they are, with their places: rows are wide, and a copy would cost more than all the rest here.
    const found = new Map<number, Row>(rows.map((row) => [row.place, row]));
    return placeOf.map((place) => found.get(place));
  }
  const read = batch<Sql, readonly Value[], Row | undefined>(MAX_KEYS, together, options);
  async function each(sql: Sql, keys: readonly (readonly Value[])[]): Promise<(Row | undefined)[]> {
    const rows: (Row | undefined)[] = [];
    for (let start = 0; start < keys.length; start += MAX_KEYS)
      rows.push(...(await together(sql, keys.slice(start, start + MAX_KEYS))));
    return rows;
  }
  return Object.assign((sql: Sql, key: readonly Value[]) => read(sql, key), { each });
}
