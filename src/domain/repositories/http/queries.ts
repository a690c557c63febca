/** Finds the deploy token that a git client sends. */

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
