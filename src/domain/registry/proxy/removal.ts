/** Removes what groups keep of other registries: all of it when they ask for that, and what nobody pulls any more. */
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { startTurn } from '../../../platform/jobs/turn.ts';
import { CLEANING } from '../tags/removal.ts';
import { removeKept } from './actions.ts';
import { isAnyKept, selectExpiring } from './queries.ts';

export const PURGE = 'registry.purge_proxy';

/** As a job has it; the time is an ISO 8601 text: what was kept after it stays. */
export type Purge = { namespace_id: number; before: string };

export const purgeLater = (db: Db, purge: Purge, delaySeconds = 0): Promise<void> =>
  addJobs(db, [
    {
      task: PURGE,
      payload: { ...purge },
      queue: CLEANING,
      key: `${PURGE} ${purge.namespace_id}`,
      delaySeconds,
    },
  ]);

/** Transactions that hold what is being pulled are short. */
const PULLED_SECONDS = 2;

/** One turn; what is left is a job behind those that wait, and what is being pulled is one of soon after. */
export async function runPurge(
  { database: { background: db }, blobs }: Needs<'database' | 'blobs'>,
  purge: Purge,
  turnMs?: number,
): Promise<void> {
  const isOver = startTurn(turnMs);
  const before = new Date(purge.before);
  for await (const gone of removeKept(db, purge.namespace_id, 'created_at', before)) {
    await blobs.release(gone);
    if (isOver()) return purgeLater(db, purge);
  }
  if (await isAnyKept(db, purge.namespace_id, before)) await purgeLater(db, purge, PULLED_SECONDS);
}

const DAY_MS = 86_400_000;

/** What groups did not pull for as many days as they say. */
export async function removeExpired({
  database: { background: db },
  blobs,
}: Needs<'database' | 'blobs'>): Promise<void> {
  for (const { namespace_id, image_ttl } of await selectExpiring(db)) {
    const before = new Date(now().getTime() - image_ttl * DAY_MS);
    for await (const gone of removeKept(db, namespace_id, 'pulled_at', before)) await blobs.release(gone);
  }
}
