/** What administrators have the instance show and allow, as settings are read: at most once a second by each process. */
import type { Sql } from '../../platform/db/driver/sql.ts';
import { createRecent, type Recent } from '../../platform/recent.ts';
import { type InstanceFacts, selectInstanceFacts } from './queries.ts';

export type InstanceSource = Recent<InstanceFacts>;

export const createInstanceSource = (sql: Sql): InstanceSource =>
  createRecent(() => selectInstanceFacts(sql));
