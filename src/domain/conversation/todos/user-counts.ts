/** What waits for a user beside to-do items: who owns the things registers how they are counted. */

import type { Actor } from '../../../kernel/actor.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { UserCounts } from './schema.ts';

export type UserCount = {
  /** Counts those that the actor sees, to a limit: by one statement for what one owner counts. */
  count(db: Db, actor: Actor, limit: number): Promise<Partial<Omit<UserCounts, 'todos'>>>;
};

export const userCounts = new Registry<UserCount>();
