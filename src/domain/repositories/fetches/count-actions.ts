/** Counts clones and fetches by project and day: those of a moment by one statement. */
import { sql } from 'kysely';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { batch } from '../../../platform/batch.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { beginsFetch, firstDay } from './rules.ts';

/** Fetches come in swarms, and nobody waits for their count. */
const GATHERED_MS = 200;
const MOST = 10_000;

const count = batch(
  MOST,
  async (db: Db, projectIds: readonly number[]) => {
    // In the order of ids: two processes that count the same projects do not wait for each other in turns.
    await sql`insert into project_fetches as f (project_id, day, fetches)
      select p.id, ${now().toISOString().slice(0, 10)}::date, count(*) from unnest(${[...projectIds]}::bigint[]) x(id)
      join projects p on p.id = x.id group by 1 order by 1
      on conflict (project_id, day) do update set fetches = f.fetches + excluded.fetches`.execute(db);
    return projectIds.map(() => undefined);
  },
  { gather: GATHERED_MS },
);

/** Counts the request where it begins a fetch of a project's own repository. It does not wait for that. */
export function countFetch(
  { database, log }: Needs<'database' | 'log'>,
  { kind, id, wiki }: RepositoryKey,
  question: Buffer,
): void {
  if (kind !== 'project' || wiki || !beginsFetch(question)) return;
  count(database.background, id).catch((error: unknown) => log.error('a fetch is not counted', error));
}

/** Removes what is shown no more. */
export async function forgetFetches(db: Db): Promise<void> {
  await sql`delete from project_fetches where day < ${firstDay(now())}::date`.execute(db);
}
