/** Bot users: each project or group token acts as one, a member with the token's role until the token ends. */
import { sql } from 'kysely';
import {
  endedMemberships,
  joinAsNew,
  type MembershipSource,
  sourceColumns,
} from '../../kernel/access/membership-actions.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import { type Actor, isTokenBot } from '../../kernel/actor.ts';
import type { Role } from '../../kernel/policy/roles.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { lockedExternal } from '../../kernel/users/bot-holder-actions.ts';
import { insertUser } from '../../kernel/users/new-user-actions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest, forbidden } from '../../platform/failure.ts';
import { randomHex } from '../../platform/secret.ts';
import { announceToken, decideToken, type Issued, insertToken, type TokenRequest } from './issue-actions.ts';
import { type ChangedToken, membershipSourceOfToken, type TokenRow } from './queries.ts';
import { DEFAULT_LEVEL, levelProblem, newTokenLife, resourceScopes } from './rules.ts';

/** A token of the project or group and the bot that it acts as; 403 for a bot, 400 for a role above the creator's. */
export async function createResourceToken(
  services: Needs<'database' | 'baseUrl'>,
  settings: ApplicationSettings,
  actor: Actor,
  source: MembershipSource,
  role: Role,
  request: TokenRequest & { access_level?: number },
): Promise<Issued> {
  if (isTokenBot(actor.kind)) throw forbidden();
  const access_level = request.access_level ?? DEFAULT_LEVEL;
  const problem = levelProblem(access_level, role);
  if (problem !== undefined) throw badRequest(problem);
  const kind = source.column === 'project_id' ? 'project' : 'group';
  const terms = { available: resourceScopes, unasked: newTokenLife };
  const decided = decideToken(settings, kind, request, terms);
  const username = `${kind}_${source.id}_bot_${randomHex(16)}`;
  return inTransaction(services.database.db, async (tx) => {
    const created_by_id = actor.id;
    const user_id = await insertUser(tx, {
      username,
      name: decided.name,
      email: `${username}@noreply.${new URL(services.baseUrl()).hostname}`,
      kind: `${kind}_bot`,
      confirmed_at: now(),
      projects_limit: 0,
      can_create_group: false,
      external: lockedExternal(actor.id),
      created_by_id,
    });
    const member = { user_id, name: decided.name, access_level, expires_at: decided.day, created_by_id };
    await joinAsNew(tx, source, actor, member);
    const owner = { kind, user_id, ...sourceColumns(source), access_level, created_by_id } as const;
    const issued = await insertToken(tx, settings, owner, decided);
    await announceToken(tx, actor, 'created', issued.row);
    return issued;
  });
}

/** The bot stays a member for as long as its new token lives. */
export async function moveBotExpiry(tx: Db, token: TokenRow, day: string | null): Promise<void> {
  if (!isTokenBot(token.user_kind)) return;
  await ahead(tx)
    .updateTable('members')
    .set({ expires_at: day, updated_at: now() })
    .where('user_id', '=', token.user_id)
    .execute();
}

/** Ends the membership of a bot without a usable token, and leaves the user to be deleted in the background. */
export async function retireBot(tx: Db, actor: Actor, token: ChangedToken): Promise<void> {
  if (!isTokenBot(token.user_kind)) return;
  const time = now();
  const { rows } = await sql<{ name: string; memberships: number }>`
    with retired as (
      update users u set state = 'blocked', deletion = 'reassign', updated_at = ${time}
      where u.id = ${token.user_id} and u.deletion is null
        and not exists (select from access_tokens t where t.user_id = u.id and t.kind <> 'job'
          and t.revoked_at is null and (t.expires_at is null or t.expires_at > ${time}))
      returning u.id, u.name),
    ${endedMemberships(sql`select id from retired`)}
    select name, (select count(*) from ended) as memberships from retired`.execute(tx);
  const [retired] = rows;
  const source = membershipSourceOfToken(token);
  if (!retired || retired.memberships === 0 || !source) return;
  await announce(tx, {
    author: actor,
    audit: {
      entity: source.entity,
      event: 'member_destroyed',
      details: {
        remove: 'user_access',
        target_id: token.user_id,
        target_type: 'User',
        target_details: retired.name,
      },
    },
    ...(source.column === 'project_id' && {
      activity: { action: 'left', projectId: source.id, authorId: token.user_id },
    }),
  });
}

/** Days that a bot stays without a usable token: so long its expired token is shown. */
const RETENTION_DAYS = 30;

/**
 * Retires the bots whose tokens all ended a month ago, or were deleted with their project or group. After an
 * interruption the next run goes on. Returns how many.
 */
export async function retireUnusedBots(db: Db): Promise<number> {
  const time = now();
  const { rows } = await sql<{ id: number }>`
    with retired as (
      update users u set state = 'blocked', deletion = 'reassign', updated_at = ${time}
      where u.kind in ('project_bot', 'group_bot') and u.deletion is null
        and not exists (select from access_tokens t where t.user_id = u.id and t.kind <> 'job'
          and coalesce(least(t.revoked_at, t.expires_at), 'infinity')
            > ${time}::timestamptz - make_interval(days => ${RETENTION_DAYS}))
      returning u.id),
    ${endedMemberships(sql`select id from retired`)}
    select id from retired`.execute(db);
  return rows.length;
}
