/** Namespaces in other records. */
import Type, { type Static } from 'typebox';
import { nullable } from '../../platform/http/parameters/schema.ts';
import { type Surroundings, uploadUrl, userAvatarUrl } from '../users/records.ts';
import type { NamespaceSummary, OwnerSummary } from './rows.ts';

export const NamespaceBasic = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  path: Type.String(),
  kind: Type.String(),
  full_path: Type.String(),
  parent_id: nullable(Type.Integer()),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
});
export type NamespaceBasic = Static<typeof NamespaceBasic>;

/** The record; a personal namespace shows its owner's avatar. */
export const presentNamespaceBasic = (
  around: Surroundings,
  namespace: NamespaceSummary,
  owner: OwnerSummary | null,
): NamespaceBasic => ({
  id: namespace.id,
  name: namespace.name,
  path: namespace.path,
  kind: namespace.kind,
  full_path: namespace.full_path,
  parent_id: namespace.parent_id,
  avatar_url: owner
    ? userAvatarUrl(around, owner)
    : (uploadUrl(around, 'group', namespace.id, namespace.avatar) ?? null),
  web_url:
    namespace.kind === 'user'
      ? `${around.baseUrl}/${namespace.full_path}`
      : groupWebUrl(around, namespace.full_path),
});

export const groupWebUrl = (around: { baseUrl: string }, fullPath: string): string =>
  `${around.baseUrl}/groups/${fullPath}`;
