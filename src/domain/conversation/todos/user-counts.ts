/** What waits for a user beside to-do items: who owns the things registers how they are counted. */

import type { Actor } from '../../../kernel/actor.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { UserCounts } from './schema.ts';

export type UserCount = {
  /** Its names: an older one may be there beside it. */
  names: readonly Exclude<keyof UserCounts, 'todos'>[];
  /** Counts those that the actor sees, to a limit. */
  count(db: Db, actor: Actor, limit: number): Promise<number>;
};

export const userCounts = new Registry<UserCount>();
