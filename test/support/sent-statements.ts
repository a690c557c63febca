/** Counts the statements that this process sends, on whatever connection: ours, and those of the job library. */
import { Client } from 'pg';
import { Statement } from '../../src/platform/db/driver/statement.ts';

/** Settings in force, counted calls, the heartbeat, the last use of a token, other workers' tables: what the clock brings. */
export const byTheClock =
  /application_settings|feature_gates|rate_limit_windows|(into|from) processes|^update (access_tokens|users) set last_|from (storage_moves where state|error_spool)/;

function textOf(sent: unknown): string {
  if (sent instanceof Statement) return typeof sent.what === 'string' ? sent.what : sent.what.text;
  return String((sent as { text?: unknown }).text);
}

/** Returns how many have been waited for since; a BEGIN is a part of another. */
export function countSentStatements(): () => number {
  let count = 0;
  const { query } = Client.prototype;
  Client.prototype.query = function counted(this: Client, ...given: unknown[]): unknown {
    const [sent] = given;
    const isAhead = sent instanceof Statement && sent.isAhead;
    if (!isAhead && !byTheClock.test(textOf(sent))) count += 1;
    return Reflect.apply(query, this, given);
  } as typeof query;
  return () => count;
}
