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

/** The next merge request of the project gets this number; false where it had one as high before. */
export async function reserveMergeRequest(db: Db, projectId: number, iid: number): Promise<boolean> {
  const reserved = await db
    .insertInto('project_counters')
    .values({ project_id: projectId, merge_requests: iid - 1 })
    .onConflict((on) =>
      on
        .column('project_id')
        .doUpdateSet({ merge_requests: iid - 1 })
        .where('project_counters.merge_requests', '<', iid),
    )
    .returning('merge_requests')
    .executeTakeFirst();
  return reserved !== undefined;
}
