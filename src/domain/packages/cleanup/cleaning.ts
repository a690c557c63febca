/** Runs the cleanup policies of packages when their time has come. */
import type { Needs } from '../../../kernel/services.ts';
import { startTurn } from '../../../platform/jobs/turn.ts';
import { beginCleaning, type Cleaning, cleanBatch, cleanLater } from './actions.ts';

export async function runCleanup({ database }: Needs<'database'>): Promise<void> {
  while (await beginCleaning(database.background));
}

/** One turn; what is left is a job behind those that wait. */
export async function runCleaning(
  { database, blobs }: Needs<'database' | 'blobs'>,
  { project_id, after }: Cleaning,
  turnMs?: number,
): Promise<void> {
  const isOver = startTurn(turnMs);
  let next: number | undefined = after;
  do {
    const cleaned = await cleanBatch(database.background, { project_id, after: next });
    await blobs.release(cleaned.blobs);
    next = cleaned.after;
    if (next === undefined) return;
  } while (!isOver());
  await cleanLater(database.background, { project_id, after: next });
}
