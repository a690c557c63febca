/**
 * Which project a key lets its reports into. The statement that writes a report decides it; before that, a key that was let
 * in lately is not asked after, so that of a flood of reports one asks.
 */
import type postgres from 'postgres';
import { monotonic } from '../../platform/clock.ts';
import { pointRead } from '../../platform/db/point-read.ts';

export type Door = { project_id: number };

/** The rows of a client key `c` that is active, while its project `p` keeps its errors here, by its settings `s`. */
export const openDoors = `error_tracking_client_keys c
    join error_tracking_settings s on s.project_id = c.project_id and s.active and s.integrated
    join projects p on p.id = c.project_id and not p.deleting and not p.archived
    join namespaces n on n.id = p.namespace_id
      and not exists (select from namespaces a where a.id = any(n.ancestor_ids || n.id) and a.archived)`;

const doorOf = pointRead<Door>(
  ['text'],
  `select c.project_id from ${openDoors} where c.public_key = k.v1 and c.active`,
);

/** Milliseconds, and how many keys: then all are asked after again. */
const LATELY = 10_000;
const MOST = 10_000;

export type Doors = {
  /** The door of a key, as it was lately; undefined where it is closed. */
  find(key: string): Promise<Door | undefined>;
  /** The door as it is now. */
  look(key: string): Promise<Door | undefined>;
  /** It has turned out to be closed. */
  forget(key: string): void;
};

export function createDoors(points: postgres.Sql): Doors {
  let lately = new Map<string, Door>();
  let end = 0;
  async function look(key: string): Promise<Door | undefined> {
    const door = await doorOf(points, [key]);
    if (door) lately.set(key, door);
    else lately.delete(key);
    return door;
  }
  return {
    async find(key) {
      if (monotonic() >= end || lately.size >= MOST) {
        lately = new Map();
        end = monotonic() + LATELY;
      }
      return lately.get(key) ?? (await look(key));
    },
    look,
    forget: (key) => void lately.delete(key),
  };
}
