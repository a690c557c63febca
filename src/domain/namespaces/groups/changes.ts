/** Shared parts of changes to groups: context, locks, settings and refusals. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { AuditedEntity } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { groupSettings, premiumGroupSettings } from '../../../kernel/namespaces/group-settings.ts';
import { duplicateFormats } from '../../../kernel/namespaces/package-settings.ts';
import { lockNamespace } from '../../../kernel/namespaces/path-actions.ts';
import type { NamespaceRow } from '../../../kernel/namespaces/rows.ts';
import { changeBranchProtection } from '../../../kernel/policy/branch-protection.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { conflict, forbidden, invalid } from '../../../platform/failure.ts';
import { patternCompiler, wholePatternProblem } from '../../../platform/patterns/pattern.ts';
import type { UpdateGroup } from './schema.ts';

/** The context of every change of a group. */
export type GroupWriteContext = {
  services: Needs<'blobs' | 'config' | 'database' | 'registered'>;
  settings: ApplicationSettings;
  actor: Actor;
};

export const groupEntity = (row: Pick<NamespaceRow, 'id' | 'full_path'>): AuditedEntity => ({
  type: 'Group',
  id: row.id,
  path: row.full_path,
});

/** Refuses wrong values of properties; every problem at once. */
export function refuseProblems(problems: Record<string, string[]>): void {
  const wrong = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  if (wrong.length > 0) throw invalid(Object.fromEntries(wrong));
}

/** 400 for patterns that are none. */
export async function refusePatterns(input: UpdateGroup): Promise<void> {
  const compile = await patternCompiler();
  const problems = duplicateFormats.map((format) => {
    const name = `${format}_duplicate_exception_regex` as const;
    const problem = input[name] ? wholePatternProblem(compile, input[name]) : undefined;
    return [name, problem === undefined ? [] : [problem]] as const;
  });
  refuseProblems(Object.fromEntries(problems));
}

/**
 * Locks a group and the one that it is in, so that its path can change; 404 or 409 when it was deleted or
 * moved meanwhile.
 */
export async function lockWithParent(
  tx: Db,
  group: AuthorizedGroup,
): Promise<{ row: NamespaceRow; parent: NamespaceRow | undefined }> {
  const parentId = group.row.parent_id;
  // The parent first: two that change groups of one parent then wait for each other there.
  const parent = parentId === null ? undefined : found(await lockNamespace(tx, parentId), 'Group');
  const row = found(await lockNamespace(tx, group.id), 'Group');
  if (row.parent_id !== parentId) throw conflict('409 Conflict: Resource lock');
  return { row, parent };
}

/**
 * The settings that a request changes, ready to be merged into the stored ones: older names are read as the
 * current ones, and settings that the tier does not have are left out.
 */
export function changedSettings(
  { services, settings, actor }: GroupWriteContext,
  input: UpdateGroup,
  stored: { settings: unknown },
): Record<string, Json> {
  const {
    name: _name,
    path: _path,
    description: _description,
    visibility: _visibility,
    avatar: _avatar,
    emails_disabled,
    default_branch_protection: level,
    default_branch_protection_defaults: record,
    ...named
  } = input;
  const { max_artifacts_size: artifacts, repository_size_limit: repository } = named;
  if ((artifacts !== undefined || repository !== undefined) && !actor.admin) throw forbidden();
  const current = groupSettings(stored).default_branch_protection_defaults;
  const changes: Record<string, Json> = {
    ...(emails_disabled !== undefined && { emails_enabled: !emails_disabled }),
    ...((level !== undefined || record !== undefined) && {
      default_branch_protection_defaults: changeBranchProtection(
        current ?? settings.default_branch_protection_defaults,
        { level, record },
      ).record,
    }),
  };
  for (const [setting, value] of Object.entries(named)) if (value !== undefined) changes[setting] = value;
  if (services.config.tier === 'free') for (const setting of premiumGroupSettings) delete changes[setting];
  return changes;
}

/** Levels of nested groups, at most (facts give no number; the public product stops at 20). */
export const MAX_DEPTH = 20;
export const tooDeep = `has too many levels: at most ${MAX_DEPTH} groups can be nested`;
