/** Values that a seed gives where the program makes them at random: of tokens and applications, of which digests alone are kept. */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { digest } from '../../platform/secret.ts';

export type GivenSecret = { value?: string | undefined; sha256?: string | undefined };

export const digestOf = ({ value, sha256 }: GivenSecret): Buffer =>
  value === undefined ? Buffer.from(sha256 ?? '', 'hex') : digest(value);

/** Gives a token its value. */
export async function setTokenValue(db: Db, id: number, secret: GivenSecret): Promise<void> {
  await db
    .updateTable('access_tokens')
    .set({ digest: digestOf(secret) })
    .where('id', '=', id)
    .execute();
}

/** Gives an application its `client_id`, and its secret, if it has one. */
export async function setApplicationValues(
  db: Db,
  id: number,
  uid: string,
  secret: GivenSecret | undefined,
): Promise<void> {
  await db
    .updateTable('oauth_applications')
    .set({ uid, updated_at: now(), ...(secret && { secret_digest: digestOf(secret) }) })
    .where('id', '=', id)
    .execute();
}

/** The next merge request of the project gets at least this number. */
export async function reserveMergeRequests(db: Db, projectId: number, iid: number): Promise<void> {
  await db
    .insertInto('project_counters')
    .values({ project_id: projectId, merge_requests: iid - 1 })
    .onConflict((on) =>
      on.column('project_id').doUpdateSet(({ fn, ref, val }) => ({
        merge_requests: fn('greatest', [ref('project_counters.merge_requests'), val(iid - 1)]),
      })),
    )
    .execute();
}
