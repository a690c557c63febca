/** Which tokens requests came with. */
import type { Sql } from '../platform/db/driver/sql.ts';

/** Names of access tokens by their digests in hex. */
export async function selectTokenNames(
  sql: Sql,
  digests: readonly Buffer[],
): Promise<ReadonlyMap<string, string>> {
  if (digests.length === 0) return new Map();
  const rows = await sql<{ digest: string; name: string }[]>`
    select encode(digest, 'hex') as digest, name from access_tokens
    where digest = any(${digests.map((each) => `\\x${each.toString('hex')}`)}::bytea[])`;
  return new Map(rows.map(({ digest, name }) => [digest, name]));
}
