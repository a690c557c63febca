/** The parts of making a token that all kinds share: the decision, its row and value, its audit event. */
import { sql } from 'kysely';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { tokenEvent } from '../../kernel/identity/token-actions.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { runAsOne } from '../../platform/db/run-as-one.ts';
import { invalid } from '../../platform/failure.ts';
import { digest, randomText } from '../../platform/secret.ts';
import { type ChangedToken, membershipSourceOfToken, selectChanged } from './queries.ts';
import {
  decideExpiry,
  gatherProblems,
  type Lifespan,
  type ManagedKind,
  nameProblems,
  scopeProblems,
  startOf,
} from './rules.ts';

/** A token just made, and its value: the only time that it is known. */
export type Issued = { row: ChangedToken; token: string };

export type TokenRequest = {
  name: string;
  description?: string | null;
  scopes?: readonly string[];
  expires_at?: string | null;
};

export type Terms = { available: readonly string[]; unasked: Lifespan; ofService?: boolean };

export type DecidedToken = { name: string; description: string | null; scopes: string[]; day: string | null };

/** The properties of the new token; 400 with all problems of the request. */
export function decideToken(
  settings: ApplicationSettings,
  kind: ManagedKind,
  request: TokenRequest,
  { available, unasked, ofService = false }: Terms,
): DecidedToken {
  const scopes = [...new Set(request.scopes ?? [])];
  const expiry = decideExpiry({
    kind,
    ofService,
    asked: request.expires_at,
    unasked,
    now: now(),
    settings,
  });
  const problems = gatherProblems({
    name: nameProblems(request.name),
    scopes: scopeProblems(scopes, available),
    expires_at: 'problems' in expiry ? expiry.problems : undefined,
  });
  if (problems || 'problems' in expiry) throw invalid(problems ?? {});
  return { name: request.name, description: request.description ?? null, scopes, day: expiry.day };
}

type TokenOwner = {
  kind: ManagedKind;
  user_id: number;
  project_id?: number | null;
  namespace_id?: number | null;
  access_level?: number | null;
  family_id?: number | null;
  created_by_id: number;
};

/** Inserts a token under a new random value. */
export async function insertToken(
  tx: Db,
  settings: ApplicationSettings,
  owner: TokenOwner,
  { day, ...decided }: DecidedToken,
): Promise<Issued> {
  const token = `${settings.personal_access_token_prefix}${randomText(15)}`;
  const time = now();
  const made = tx
    .insertInto('access_tokens')
    .values({
      ...owner,
      ...decided,
      digest: digest(token),
      expires_at: startOf(day),
      created_at: time,
      updated_at: time,
    })
    .returningAll();
  const parts = [sql`access_tokens as (${made})`];
  const [row] = await runAsOne(tx, { statements: [], parts }, selectChanged(tx));
  return { row: found(row), token };
}

/** Writes the audit event of a change to a token: of its user, or of the project or group whose bot has it. */
export async function announceToken(
  tx: Db,
  author: Actor,
  change: 'created' | 'revoked' | 'rotated',
  token: ChangedToken,
): Promise<void> {
  const source = membershipSourceOfToken(token);
  await announce(tx, {
    author,
    audit: {
      entity: source?.entity ?? { type: 'User', id: token.user_id, path: token.username },
      event: tokenEvent(token.kind, change),
      details: { target_id: token.id, target_type: 'PersonalAccessToken', target_details: token.name },
    },
  });
}
