/** Removes what nobody needs: links to blobs that no manifest refers to. Pushes go on meanwhile. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { dayAgo } from './queries.ts';

const BATCH = 500;

type Link = { repository_id: number; digest: string; linked_at: Date };

/** One batch of old links after the last one; the SHA-256 of the blobs whose links went, and where it ended. */
const unlinkBatch = (db: Db, after: Link): Promise<{ gone: Buffer[]; last: Link | undefined }> =>
  inTransaction(db, async (tx) => {
    // A manifest that is being pushed holds the links that it needs: they are passed over.
    const { rows } = await sql<Link>`
      select repository_id, digest, linked_at from container_blobs
      where linked_at < ${dayAgo()}
        and (linked_at, repository_id, digest) > (${after.linked_at}, ${after.repository_id}, ${after.digest})
      order by linked_at, repository_id, digest limit ${BATCH} for update skip locked`.execute(tx);
    const { rows: gone } = await sql<{ sha256: Buffer }>`
      delete from container_blobs b
      using unnest(${rows.map((row) => row.repository_id)}::bigint[], ${rows.map((row) => row.digest)}::text[])
        as old (repository_id, digest)
      where b.repository_id = old.repository_id and b.digest = old.digest and not exists (
        select from container_manifest_blobs m where m.repository_id = b.repository_id and m.digest = b.digest)
      returning b.sha256`.execute(tx);
    return { gone: gone.map(({ sha256 }) => sha256), last: rows.at(-1) };
  });

/** Blobs whose links went, a batch at a time. */
export async function* unlinkUnneeded(db: Db): AsyncGenerator<Buffer[]> {
  let last: Link | undefined = { repository_id: 0, digest: '', linked_at: new Date(0) };
  while (last) {
    const batch: { gone: Buffer[]; last: Link | undefined } = await unlinkBatch(db, last);
    yield batch.gone;
    last = batch.last;
  }
}
