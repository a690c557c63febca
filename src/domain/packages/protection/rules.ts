/** Which roles push and delete packages whose names a rule protects (facts-packages: Package record). Pure. */
import type { Role } from '../../../kernel/policy/roles.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';
import { normalName } from '../names/python-names.ts';

/** Levels by their names; an administrator's is above all roles. */
export const protectionLevels = { maintainer: 40, owner: 50, admin: 60 } as const;
export type ProtectionLevel = keyof typeof protectionLevels;

export const levelNamed = (name: ProtectionLevel | null | undefined): number | null =>
  name ? protectionLevels[name] : null;
export const nameOfLevel = (level: number | null): ProtectionLevel | null =>
  (Object.keys(protectionLevels) as ProtectionLevel[]).find((name) => protectionLevels[name] === level) ??
  null;

export type ProtectionRule = {
  package_type: string;
  package_name_pattern: string;
  /** Null where everybody who publishes may. */
  push_level: number | null;
  /** Null where everybody who deletes may. */
  delete_level: number | null;
};

/** The level of a caller with the role. */
export const levelOf = (caller: { admin: boolean } | undefined, role: Role): number =>
  caller?.admin ? protectionLevels.admin : role;

/** Names of Python packages are the same in any spelling. */
const patternOf = ({ package_type, package_name_pattern }: ProtectionRule): string =>
  package_type === 'pypi' ? normalName(package_name_pattern) : package_name_pattern;

const needed = (
  rules: readonly ProtectionRule[],
  name: string,
  column: 'push_level' | 'delete_level',
): number =>
  Math.max(0, ...rules.filter((rule) => fits(name, patternOf(rule))).map((rule) => rule[column] ?? 0));

/** 403 for a level below what a rule that matches the name asks of those who push. */
export function requirePush(rules: readonly ProtectionRule[], level: number, name: string): void {
  if (level < needed(rules, name, 'push_level'))
    throw new Failure('forbidden', 'Package protected.', { error: 'Package protected.' });
}

/** The same of those who delete. */
export function requireDelete(rules: readonly ProtectionRule[], level: number, name: string): void {
  if (level < needed(rules, name, 'delete_level')) throw forbidden('Package is deletion protected.');
}
