/** Token rows → wire records. The value itself is in none of them: routes add it, once. */
import { now } from '../../platform/clock.ts';
import type { DeployTokenRow } from './deploy-queries.ts';
import type { TokenRow } from './queries.ts';
import { dayOf, isActive, isExpired } from './rules.ts';
import type { DeployToken, ImpersonationToken, PersonalAccessToken, ResourceAccessToken } from './schema.ts';

export const presentToken = (token: TokenRow): PersonalAccessToken => ({
  id: token.id,
  name: token.name,
  revoked: token.revoked_at !== null,
  created_at: token.created_at.toISOString(),
  description: token.description,
  scopes: token.scopes,
  user_id: token.user_id,
  last_used_at: token.last_used_at?.toISOString() ?? null,
  active: isActive(token, now()),
  expires_at: token.expires_at && dayOf(token.expires_at),
});

export const presentImpersonationToken = (token: TokenRow): ImpersonationToken => ({
  ...presentToken(token),
  impersonation: true,
});

export const presentResourceToken = (token: TokenRow): ResourceAccessToken => ({
  ...presentToken(token),
  access_level: token.access_level ?? 0,
  resource_type: token.project_id === null ? 'group' : 'project',
  resource_id: token.project_id ?? token.namespace_id ?? 0,
});

export const presentDeployToken = (token: DeployTokenRow): DeployToken => ({
  id: token.id,
  name: token.name,
  username: token.username,
  expires_at: token.expires_at?.toISOString() ?? null,
  scopes: token.scopes,
  revoked: token.revoked_at !== null,
  expired: isExpired(token, now()),
});
