/** Protected branches and tags as records. */
import { DEVELOPER, MAINTAINER } from '../../../kernel/policy/roles.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { BranchRow, GrantRow, TagRow } from './queries.ts';
import type { ProtectedBranch, ProtectedRefAccess, ProtectedTag } from './schema.ts';

/** Whether the instance's tier has users in rules, and unprotect access. */
export const isPremium = (services: Needs<'config'>): boolean => services.config.tier !== 'free';

const descriptions = new Map([
  [0, 'No one'],
  [DEVELOPER, 'Developers + Maintainers'],
  [MAINTAINER, 'Maintainers'],
  [60, 'Instance admins'],
]);

/** Whom a grant names, in words. */
export const describeGrant = ({ access_level, title }: Pick<GrantRow, 'access_level' | 'title'>): string =>
  descriptions.get(access_level ?? -1) ?? title ?? '';

const presentGrant = (row: GrantRow, premium: boolean): ProtectedRefAccess => ({
  id: row.id,
  access_level: row.access_level,
  access_level_description: describeGrant(row),
  deploy_key_id: row.deploy_key_id,
  ...(premium && { user_id: row.user_id, group_id: row.group_id }),
});

const byAction =
  (grants: readonly GrantRow[], premium: boolean) =>
  (action: string): ProtectedRefAccess[] =>
    grants.filter((grant) => grant.action === action).map((grant) => presentGrant(grant, premium));

export function presentBranch(row: BranchRow, premium: boolean): ProtectedBranch {
  const of = byAction(row.grants, premium);
  return {
    id: row.id,
    name: row.name,
    push_access_levels: of('push'),
    merge_access_levels: of('merge'),
    allow_force_push: row.allow_force_push,
    ...(premium && {
      unprotect_access_levels: of('unprotect'),
      code_owner_approval_required: row.code_owner_approval_required,
      inherited: false,
    }),
  };
}

export const presentTag = (row: TagRow, premium: boolean): ProtectedTag => ({
  name: row.name,
  create_access_levels: byAction(row.grants, premium)('create'),
});
