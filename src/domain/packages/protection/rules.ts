/** Which roles push and delete packages whose names a rule protects (facts-packages: Package record). Pure. */

import { MAINTAINER } from '../../../kernel/policy/roles.ts';
import { neededLevel, type RuleLevels } from '../../../kernel/protection/levels.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';
import { normalName } from '../names/python-names.ts';

export type ProtectionRule = RuleLevels & {
  package_type: string;
  package_name_pattern: string;
};

/** Names and patterns of some formats are the same in any spelling. */
const spelled: Partial<Record<string, (text: string) => string>> = {
  pypi: normalName,
  nuget: (text) => text.toLowerCase(),
};

const matches = ({ package_type, package_name_pattern }: ProtectionRule, name: string): boolean => {
  const spell = spelled[package_type];
  return spell ? fits(spell(name), spell(package_name_pattern)) : fits(name, package_name_pattern);
};

const ofName = (rules: readonly ProtectionRule[], name: string): ProtectionRule[] =>
  rules.filter((rule) => matches(rule, name));

/** 403 for a level below what a rule that matches the name asks of those who push. */
export function requirePush(rules: readonly ProtectionRule[], level: number, name: string): void {
  if (level < neededLevel(ofName(rules, name), 'push_level'))
    throw new Failure('forbidden', 'Package protected.', { error: 'Package protected.' });
}

/** The same of those who delete. */
export function requireDelete(rules: readonly ProtectionRule[], level: number, name: string): void {
  if (level < neededLevel(ofName(rules, name), 'delete_level'))
    throw forbidden('Package is deletion protected.');
}

/** Whether who may no more than a Maintainer, as what the clock does, may not delete the package. */
export const keepsFromMaintainers = (
  rules: readonly ProtectionRule[],
  { package_type, name }: { package_type: string; name: string },
): boolean =>
  MAINTAINER <
  neededLevel(
    ofName(
      rules.filter((rule) => rule.package_type === package_type),
      name,
    ),
    'delete_level',
  );
