/** Deploy tokens: credentials of programs, for one project or for the projects below one group. */
import { now } from '../../platform/clock.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { digest } from '../../platform/secret.ts';

/** A valid one. */
export type DeployToken = {
  id: number;
  username: string;
  project_id: number | null;
  namespace_id: number | null;
  scopes: string[];
};

/** The deploy token of this secret, or of its digest; with a username, only one of that name. */
export async function selectDeployToken(
  sql: Sql,
  { username, token }: { username?: string | undefined; token: string | Buffer },
): Promise<DeployToken | undefined> {
  const [found] = await sql<DeployToken[]>`
    select id, username, project_id, namespace_id, scopes from deploy_tokens
    where digest = ${typeof token === 'string' ? digest(token) : token} and revoked_at is null and (expires_at is null or expires_at > ${now()})`;
  return username === undefined || found?.username === username ? found : undefined;
}
