/** Changes to access tokens: each one transaction that decides, writes and announces. */
import type { AuthorizedUser } from '../../kernel/access/users.ts';
import { type Actor, isTokenBot } from '../../kernel/actor.ts';
import { revokeFamily } from '../../kernel/identity/token-actions.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { handBotOver } from '../../kernel/users/bot-holder-actions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, inTransaction } from '../../platform/db/database.ts';
import { forbidden, invalid, unauthenticated } from '../../platform/failure.ts';
import { moveBotExpiry, retireBot } from './bot-actions.ts';
import {
  announceToken,
  decideToken,
  type Issued,
  insertToken,
  type Terms,
  type TokenRequest,
} from './issue-actions.ts';
import { lockToken, type TokenRow } from './queries.ts';
import { decideExpiry, isExpired, rotatedTokenLife } from './rules.ts';

/** A personal or impersonation token of a person, or a personal one of a service account; 403 for a bot, or where the settings refuse such tokens. */
export async function createUserToken(
  services: Needs<'database'>,
  settings: ApplicationSettings,
  actor: Actor,
  kind: 'personal' | 'impersonation',
  user: Pick<AuthorizedUser['row'], 'id' | 'kind'>,
  request: TokenRequest,
  terms: Terms,
): Promise<Issued> {
  const ofService = user.kind === 'service_account';
  if (user.kind !== 'human' && !(ofService && kind === 'personal')) throw forbidden();
  if (kind === 'personal' && settings.disable_personal_access_tokens) throw forbidden();
  const decided = decideToken(settings, kind, request, { ...terms, ofService });
  return inTransaction(services.database.db, async (tx) => {
    const issued = await insertToken(
      tx,
      settings,
      { kind, user_id: user.id, created_by_id: actor.id },
      decided,
    );
    await announceToken(tx, actor, 'created', issued.row);
    return issued;
  });
}

/**
 * Replaces the token by one with the same rights and a new value. 401 when it is revoked or expired; a
 * revoked one revokes all its successors by rotation.
 */
export async function rotateToken(
  services: Needs<'database'>,
  settings: ApplicationSettings,
  actor: Actor,
  token: TokenRow,
  requested: string | null | undefined,
): Promise<Issued> {
  const expiry = decideExpiry({
    kind: token.kind,
    ofService: token.user_kind === 'service_account',
    asked: requested,
    unasked: rotatedTokenLife,
    now: now(),
    settings,
  });
  if ('problems' in expiry) throw invalid({ expires_at: expiry.problems });
  const issued = await inTransaction(services.database.db, async (tx) => {
    const old = await lockToken(tx, token.id);
    if (!old || isExpired(old, now())) throw unauthenticated();
    if (old.revoked_at) return { reused: old };
    const family_id = old.family_id ?? old.id;
    const time = now();
    await ahead(tx)
      .updateTable('access_tokens')
      .set({ family_id, revoked_at: time, updated_at: time })
      .where('id', '=', old.id)
      .execute();
    const { kind, user_id, project_id, namespace_id, access_level, name, description, scopes } = old;
    // A bot that rotates its own token leaves it to the user who has it.
    const created_by_id = isTokenBot(actor.kind) ? (old.created_by_id ?? actor.id) : actor.id;
    if (isTokenBot(old.user_kind)) await handBotOver(tx, user_id, created_by_id);
    const created = await insertToken(
      tx,
      settings,
      { kind, user_id, project_id, namespace_id, access_level, family_id, created_by_id },
      { name, description, scopes, day: expiry.day },
    );
    await moveBotExpiry(tx, old, expiry.day);
    await announceToken(tx, actor, 'rotated', created.row);
    return created;
  });
  if (!('reused' in issued)) return issued;
  await revokeFamily(services.database.sql, issued.reused);
  throw unauthenticated();
}

/**
 * Revokes the token at once; a bot user without another one is deleted too. A second time changes nothing.
 */
export async function revokeToken(services: Needs<'database'>, actor: Actor, token: TokenRow): Promise<void> {
  await inTransaction(services.database.db, async (tx) => {
    const held = await lockToken(tx, token.id);
    if (!held) return;
    if (!held.revoked_at) {
      const time = now();
      await ahead(tx)
        .updateTable('access_tokens')
        .set({ revoked_at: time, updated_at: time })
        .where('id', '=', held.id)
        .execute();
      await announceToken(tx, actor, 'revoked', held);
    }
    await retireBot(tx, actor, held);
  });
}
