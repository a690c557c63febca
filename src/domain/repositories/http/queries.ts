/** Finds the deploy token that a git client sends, and the project of a job's token. */

import type { BasicCredential } from '../../../kernel/identity/credentials.ts';
import { now } from '../../../platform/clock.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { digest } from '../../../platform/secret.ts';
import type { DeployToken } from '../store/repository-kinds.ts';

export async function selectDeployToken(
  sql: Sql,
  { username, password }: BasicCredential,
): Promise<DeployToken | undefined> {
  const [token] = await sql<DeployToken[]>`
    select id, username, project_id, namespace_id, scopes from deploy_tokens
    where digest = ${digest(password)} and username = ${username}
      and revoked_at is null and (expires_at is null or expires_at > ${now()})`;
  return token;
}

/** The project of the job that has this token. */
export async function selectJobProject(sql: Sql, tokenId: number): Promise<number | undefined> {
  const [row] = await sql<
    { project_id: number }[]
  >`select project_id from access_tokens where id = ${tokenId}`;
  return row?.project_id;
}
