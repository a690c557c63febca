/** Rules for a token: its scopes, its last day, its name, its role (facts: Tokens, 2FA, sudo, job tokens). Pure. */

import { adminScopes, type Scope, scopeNames } from '../../kernel/actor.ts';
import { MAINTAINER, OWNER, type Role } from '../../kernel/policy/roles.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import type { ValidationMessages } from '../../platform/failure.ts';

/** Kinds that are listed and managed here; OAuth and job tokens are managed elsewhere. */
export type ManagedKind = 'personal' | 'impersonation' | 'project' | 'group';

/** Scopes for OAuth applications alone. */
const oauthScopes: readonly Scope[] = ['openid', 'profile', 'email', 'ai_workflows', 'mcp'];

export const tokenScopes: readonly Scope[] = scopeNames.filter((scope) => !oauthScopes.includes(scope));

/** The scopes that a user's token can have. */
export const personalScopes = (admin: boolean): readonly Scope[] =>
  admin ? tokenScopes : tokenScopes.filter((scope) => !adminScopes.includes(scope));

/** The scopes of project and group tokens: their bots have no account to read. */
export const resourceScopes: readonly Scope[] = personalScopes(false).filter(
  (scope) => scope !== 'read_user',
);

export const deployScopes = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_virtual_registry',
  'write_virtual_registry',
  'read_package_registry',
  'write_package_registry',
] as const;

/** The problems of the scopes, or undefined. */
export function scopeProblems(scopes: readonly string[], available: readonly string[]): string[] | undefined {
  if (scopes.length === 0) return ["can't be blank"];
  return scopes.every((scope) => available.includes(scope))
    ? undefined
    : ['can only contain available scopes'];
}

/** The problems of a name, or undefined; the schema checks its length. */
export const nameProblems = (name: string): string[] | undefined =>
  name.trim() === '' ? ["can't be blank"] : undefined;

const DAY_MS = 86_400_000;
const MAX_LIFETIME_DAYS = 365;

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** The calendar day so many days after `time`'s. */
export const dayAfter = (time: Date, days: number): string => dayOf(new Date(time.getTime() + days * DAY_MS));

/**
 * The lifetime of a token whose request names no day: so many days, always or only when tokens must expire.
 */
export type Lifespan = { days: number; always: boolean };

export const newTokenLife: Lifespan = { days: MAX_LIFETIME_DAYS, always: false };
/** A token that a user makes through the API ends with the day. */
export const ownTokenLife: Lifespan = { days: 1, always: true };
export const rotatedTokenLife: Lifespan = { days: 7, always: true };

export type ExpiryRequest = {
  kind: ManagedKind;
  /** Whether it is a service account's. */
  ofService?: boolean;
  /** `YYYY-MM-DD`; null for never, undefined when the request names none. */
  asked: string | null | undefined;
  unasked: Lifespan;
  now: Date;
  settings: Pick<
    ApplicationSettings,
    | 'require_personal_access_token_expiry'
    | 'max_personal_access_token_lifetime'
    | 'service_access_tokens_expiration_enforced'
  >;
};

export type Expiry = { day: string | null } | { problems: string[] };

/** The day at whose start, in UTC, the token ends; null for never. */
export function decideExpiry({
  kind,
  ofService = false,
  asked: requested,
  unasked,
  now,
  settings,
}: ExpiryRequest): Expiry {
  const configured = settings.max_personal_access_token_lifetime;
  const isEnforced = !ofService || settings.service_access_tokens_expiration_enforced;
  const required = isEnforced && (settings.require_personal_access_token_expiry || configured !== null);
  const longest = configured ?? MAX_LIFETIME_DAYS;
  if (requested === undefined) {
    return { day: required || unasked.always ? dayAfter(now, Math.min(unasked.days, longest)) : null };
  }
  if (requested === null) return required ? { problems: ["can't be blank"] } : { day: null };
  // A bot's token ends with its membership, whose day is not in the past; others may have expired when they are
  // made.
  const ofBot = kind === 'project' || kind === 'group';
  if (ofBot && requested < dayOf(now)) return { problems: ["can't be in the past"] };
  if (required && requested > dayAfter(now, longest)) {
    return { problems: [`must be before ${dayAfter(now, longest + 1)}`] };
  }
  return { day: requested };
}

/** Midnight, UTC, at the start of the day. */
export const startOf = (day: string | null): Date | null =>
  day === null ? null : new Date(`${day}T00:00:00.000Z`);

export const DEFAULT_LEVEL = MAINTAINER;

/** The reason why a creator with this role may not give a token this level, or undefined. */
export function levelProblem(level: number, creator: Role): string | undefined {
  if (level <= creator) return undefined;
  return level === OWNER
    ? 'Could not provision owner access to project access token'
    : "Access level of the token can't be greater than the access level of the user who created the token";
}

/** The problems that there are, by property; undefined when there are none. */
export function gatherProblems(
  problems: Record<string, string[] | undefined>,
): ValidationMessages | undefined {
  const present = Object.entries(problems).flatMap(([property, texts]) => (texts ? [[property, texts]] : []));
  return present.length === 0 ? undefined : Object.fromEntries(present);
}

export type Lifetime = { revoked_at: Date | null; expires_at: Date | null };

export const isExpired = (token: Pick<Lifetime, 'expires_at'>, time: Date): boolean =>
  token.expires_at !== null && token.expires_at <= time;

/** Neither revoked nor expired. */
export const isActive = (token: Lifetime, time: Date): boolean =>
  token.revoked_at === null && !isExpired(token, time);

export const tokenSorts = [
  'created_asc',
  'created_desc',
  'expires_asc',
  'expires_desc',
  'last_used_asc',
  'last_used_desc',
  'name_asc',
  'name_desc',
] as const;
export type TokenSort = (typeof tokenSorts)[number];

export type TokenOrder = { by: 'id' | 'created' | 'expires' | 'last_used' | 'name'; sort: 'asc' | 'desc' };

/** Column and direction; by ascending id when the request names none. */
export function tokenOrder(sort: TokenSort | undefined): TokenOrder {
  if (sort === undefined) return { by: 'id', sort: 'asc' };
  const cut = sort.lastIndexOf('_');
  // The two halves of a member of the closed list above.
  const order = { by: sort.slice(0, cut), sort: sort.slice(cut + 1) };
  return order as TokenOrder;
}
