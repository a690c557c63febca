/**
 * Protection of the default branch, in two forms: the record, and the deprecated level, which stands for one
 * of five records (facts: Deprecated / renamed items).
 */
import Type, { type Static } from 'typebox';
import { DEVELOPER, MAINTAINER } from './roles.ts';

const levels = [DEVELOPER, MAINTAINER] as const;
type BranchLevel = (typeof levels)[number];

const AllowedLevels = (description: string) =>
  Type.Array(
    Type.Object({ access_level: Type.Unsafe<BranchLevel>({ type: 'integer', enum: [...levels] }) }),
    { maxItems: levels.length, description },
  );

export const BranchProtection = Type.Object({
  allowed_to_push: AllowedLevels('Levels that may push: 30 or 40.'),
  allow_force_push: Type.Boolean({ description: 'Whether those who may push may force it.' }),
  allowed_to_merge: AllowedLevels('Levels that may merge: 30 or 40.'),
  developer_can_initial_push: Type.Boolean({ description: 'Developers may make the first push.' }),
});
export type BranchProtection = Static<typeof BranchProtection>;

/** Changes of the record; absent properties stay. */
export const BranchProtectionChanges = Type.Partial(BranchProtection);

export const branchProtectionLevels = [0, 1, 2, 3, 4] as const;
export type BranchProtectionLevel = (typeof branchProtectionLevels)[number];

const protection = (push: BranchLevel, merge: BranchLevel, rest: Partial<BranchProtection> = {}) => ({
  allowed_to_push: [{ access_level: push }],
  allow_force_push: false,
  allowed_to_merge: [{ access_level: merge }],
  developer_can_initial_push: false,
  ...rest,
});

/** 0 none, 1 partial, 2 full, 3 against pushes, 4 full after the initial push. */
const protections: Record<BranchProtectionLevel, BranchProtection> = {
  0: protection(DEVELOPER, DEVELOPER, { allow_force_push: true }),
  1: protection(DEVELOPER, MAINTAINER),
  2: protection(MAINTAINER, MAINTAINER),
  3: protection(MAINTAINER, DEVELOPER),
  4: protection(MAINTAINER, MAINTAINER, { developer_can_initial_push: true }),
};

/** The record of a level. */
export const branchProtectionOf = (level: BranchProtectionLevel): BranchProtection =>
  structuredClone(protections[level]);

const includesDeveloper = (allowed: BranchProtection['allowed_to_push']): boolean =>
  allowed.some((each) => each.access_level === DEVELOPER);

/** The level whose record is this one, or the strictest that allows developers as much. */
export function branchProtectionLevel(record: BranchProtection): BranchProtectionLevel {
  if (includesDeveloper(record.allowed_to_push)) {
    return includesDeveloper(record.allowed_to_merge) && record.allow_force_push ? 0 : 1;
  }
  if (includesDeveloper(record.allowed_to_merge)) return 3;
  return record.developer_can_initial_push ? 4 : 2;
}

/** Applies a change in either form: the record wins over the level (facts: Deprecated / renamed items). */
export function changeBranchProtection(
  current: BranchProtection,
  changes: { level?: BranchProtectionLevel | undefined; record?: Partial<BranchProtection> | undefined },
): { level: BranchProtectionLevel; record: BranchProtection } {
  const start = changes.level === undefined ? current : branchProtectionOf(changes.level);
  const record = { ...start, ...changes.record };
  return { level: branchProtectionLevel(record), record };
}
