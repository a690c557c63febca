/**
 * The use of tokens, their families (tokens that replaced each other by rotation, which are revoked after a reuse), and
 * their end with the account.
 */
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { insertAudits } from '../activity/announce-actions.ts';
import type { TokenKind } from '../actor.ts';

/** The public name of a change to a token, for its audit event. */
export const tokenEvent = (kind: TokenKind, change: 'created' | 'revoked' | 'rotated'): string =>
  kind === 'impersonation' ? `impersonation_token_${change}` : `${kind}_access_token_${change}`;

/** A token that is revoked already; `family_id` is null when it was never rotated. */
export type RevokedToken = { id: number; kind: TokenKind; family_id: number | null };

/**
 * Revokes the successors of a rotated token: a second rotation may come from a thief, and the owner cannot be
 * told apart (facts: Tokens). One statement, with its audit event; nothing for a token that was only revoked.
 */
export async function revokeFamily(sql: Sql, token: RevokedToken): Promise<void> {
  if (token.family_id === null) return;
  const time = now();
  const event = tokenEvent(token.kind, 'revoked');
  await sql`
    with ended as (
      update access_tokens set revoked_at = ${time}, updated_at = ${time}
      where family_id = ${token.family_id} and id > ${token.id} and revoked_at is null
      returning id, name, user_id, project_id, namespace_id)
    ${sql.unsafe(insertAudits(''))} select -1, case when p.id is not null then 'Project' when n.id is not null then 'Group' else 'User' end,
      coalesce(p.id, n.id, u.id), ${event}::text,
      jsonb_build_object('event_name', ${event}::text, 'author_name', 'System',
        'entity_path', case when n.id is null then u.username else concat_ws('/', n.full_path, p.path) end,
        'reason', 'a token that was rotated away was rotated again',
        'target_id', ended.id, 'target_type', 'PersonalAccessToken', 'target_details', ended.name), ${time}
    from ended join users u on u.id = ended.user_id
    left join projects p on p.id = ended.project_id
    left join namespaces n on n.id = coalesce(ended.namespace_id, p.namespace_id)`;
}

/** Records that the token and its user are active. */
export async function recordTokenUse(
  sql: Sql,
  token: { id: number; userId: number },
  time: Date,
): Promise<void> {
  await sql`update access_tokens set last_used_at = ${time} where id = ${token.id}`;
  await sql`update users set last_activity_on = ${time.toISOString().slice(0, 10)} where id = ${token.userId}`;
}

/** Deletes the access tokens of a user whose account ends. */
export async function deleteTokens(tx: Db, userId: number): Promise<void> {
  await ahead(tx).deleteFrom('access_tokens').where('user_id', '=', userId).execute();
}
