/** An application with so many grants, beside the running program: the refresh tokens of the bench. */
import { connect } from '../src/platform/db/database.ts';
import { digest, randomHex } from '../src/platform/secret.ts';
import { databaseOf } from './database.ts';

export type Filled = { uid: string; secret: string; refreshTokens: string[] };

export async function fillGrants(data: string, count: number, scopes: string): Promise<Filled> {
  const sql = connect(databaseOf(data), { max: 1, statementTimeout: 0, name: 'bench' });
  const [uid, secret] = [randomHex(32), `gloas-${randomHex(32)}`];
  const refreshTokens = Array.from({ length: count }, () => randomHex(32));
  const [application] = await sql<{ id: number }[]>`
    insert into oauth_applications (uid, secret_digest, name, redirect_uris, scopes, confidential, created_at, updated_at)
    values (${uid}, ${digest(secret)}, 'bench', ${['https://client.example/back']}, ${scopes.split(' ')}, true, now(), now())
    returning id`;
  for (const token of refreshTokens) {
    await sql`
      with made as (
        insert into oauth_grants (application_id, user_id, kind, scopes, created_at)
        values (${application?.id ?? 0}, 1, 'authorization_code', ${scopes.split(' ')}, now()) returning id)
      insert into oauth_refresh_tokens (digest, grant_id, created_at) select ${digest(token)}, id, now() from made`;
  }
  await sql.end();
  return { uid, secret, refreshTokens };
}
