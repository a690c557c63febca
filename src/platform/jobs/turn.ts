/** Jobs with much to do work by turns: one that is long would keep a worker from mails and webhooks. */
import { monotonic } from '../clock.ts';
import type { Db } from '../db/database.ts';
import type { Json } from '../db/rows.ts';
import { addJobs } from './jobs.ts';

const TURN_MS = 5_000;

/** Whether the turn that begins now is over. */
export function startTurn(milliseconds = TURN_MS): () => boolean {
  const end = monotonic() + milliseconds;
  return () => monotonic() >= end;
}

/** What is left, as one job behind those that wait. */
export const goOnLater = (db: Db, task: string, payload: Record<string, Json> = {}): Promise<void> =>
  addJobs(db, [{ task, payload, key: task, priority: 1 }]);
