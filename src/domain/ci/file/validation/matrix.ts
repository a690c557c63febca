/** Rows of a matrix: each key with a value or a list of them. Pure. */
import { isHash, type Value } from '../reading/value.ts';

export const MAX_PARALLEL = 200;

/** How many combinations the rows make together. */
export const combinationCount = (rows: Value): number =>
  (Array.isArray(rows) ? rows : []).reduce<number>((sum, row) => {
    const lists = isHash(row) ? [...row.values()] : [];
    return (
      sum +
      lists.reduce<number>((product, values) => product * (Array.isArray(values) ? values.length : 1), 1)
    );
  }, 0);
