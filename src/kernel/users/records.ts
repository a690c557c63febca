/** User records in other records, and addresses of avatars and profiles. */
import Type, { type Static } from 'typebox';
import { nullable } from '../../platform/http/parameters/schema.ts';
import { digest } from '../../platform/secret.ts';
import { avatarFilename } from '../files/pictures.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

export const UserBasic = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  public_email: nullable(Type.String()),
  name: Type.String(),
  state: Type.String(),
  locked: Type.Boolean(),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
});
export type UserBasic = Static<typeof UserBasic>;

/** The columns that the public record needs. */
export type UserBasicRow = {
  id: number;
  username: string;
  public_email: string | null;
  name: string;
  state: string;
  locked_at?: Date | null;
  locked?: boolean;
  avatar: string | null;
  email: string;
};

/** Settings that addresses in records depend on. */
export type Surroundings = { baseUrl: string; settings: Pick<ApplicationSettings, 'gravatar_enabled'> };

/** The address of an uploaded avatar below `/uploads/-/system`, or undefined without one. */
export const uploadUrl = (
  around: Surroundings,
  owner: 'user' | 'group' | 'project' | 'projects/topic',
  id: number,
  avatar: string | null,
): string | undefined =>
  avatar === null
    ? undefined
    : `${around.baseUrl}/uploads/-/system/${owner}/avatar/${id}/${encodeURIComponent(avatarFilename(avatar))}`;

/** The uploaded avatar, else the Gravatar where the setting allows it, else null (facts: Notes). */
export function userAvatarUrl(
  around: Surroundings,
  user: { id: number; avatar: string | null; email: string },
): string | null {
  const uploaded = uploadUrl(around, 'user', user.id, user.avatar);
  if (uploaded !== undefined) return uploaded;
  if (!around.settings.gravatar_enabled) return null;
  return knownGravatarUrl(user.email);
}

/** A cache, as lists repeat the same users: the latest addresses. */
const gravatarUrls = new Map<string, string>();
const GRAVATARS_KEPT = 1_000;

function knownGravatarUrl(email: string): string {
  const known = gravatarUrls.get(email);
  if (known !== undefined) return known;
  const url = gravatarUrl(email);
  if (gravatarUrls.size >= GRAVATARS_KEPT) gravatarUrls.clear();
  gravatarUrls.set(email, url);
  return url;
}

/** The Gravatar address, at twice `size` pixels for dense screens. */
export function gravatarUrl(email: string, size = 40): string {
  const address = digest(email.trim().toLowerCase()).toString('hex');
  return `https://www.gravatar.com/avatar/${address}?s=${2 * size}&d=identicon`;
}

export const presentUserBasic = (around: Surroundings, user: UserBasicRow): UserBasic => ({
  id: user.id,
  username: user.username,
  public_email: user.public_email,
  name: user.name,
  state: user.state,
  locked: user.locked ?? user.locked_at != null,
  avatar_url: userAvatarUrl(around, user),
  web_url: `${around.baseUrl}/${user.username}`,
});

/** The columns of UserBasicRow, for a statement that selects from `users`. */
export const userBasicColumns = [
  'users.id',
  'users.username',
  'users.public_email',
  'users.name',
  'users.state',
  'users.locked_at',
  'users.avatar',
  'users.email',
] as const;
