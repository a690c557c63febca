/** Counts the statements that this process sends, on whatever connection: ours, and those of the job library. */
import { Client } from 'pg';
import { Statement } from '../../src/platform/db/driver/statement.ts';

/** Settings in force, what the instance shows, counted calls, the heartbeat, the last use of a token, other workers' tables: what the clock brings. */
export const byTheClock =
  /application_settings|feature_gates|from appearance|rate_limit_windows|(into|from) processes|^update (access_tokens|users) set last_|from (storage_moves where state|error_spool)/;

function textOf(sent: unknown): string {
  if (sent instanceof Statement) return typeof sent.what === 'string' ? sent.what : sent.what.text;
  return String((sent as { text?: unknown }).text);
}

/** A worker's look for a job. How many are in vain depends on the time between two jobs. */
const isLook = (text: string): boolean => text.includes('jobs.is_available = true');

/** Returns how many have been waited for since, without looks for jobs in vain; a BEGIN is a part of another. */
export function countSentStatements(): () => number {
  let count = 0;
  const { query } = Client.prototype;
  Client.prototype.query = function counted(this: Client, ...given: unknown[]): unknown {
    const [sent] = given;
    const isAhead = sent instanceof Statement && sent.isAhead;
    const text = textOf(sent);
    if (!isAhead && !byTheClock.test(text)) count += 1;
    const result = Reflect.apply(query, this, given);
    if (isLook(text))
      (result as Promise<{ rows: unknown[] }>).then(
        ({ rows }) => {
          if (rows.length === 0) count -= 1;
        },
        () => undefined,
      );
    return result;
  } as typeof query;
  return () => count;
}
