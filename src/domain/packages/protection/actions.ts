/** Makes and changes protection rules of packages. */
import { levelColumns } from '../../../kernel/protection/levels.ts';
import {
  createRule,
  type RuleContext,
  type RuleKind,
  requireLevel,
  updateRule,
} from '../../../kernel/protection/rule-actions.ts';
import type { RuleRow } from './queries.ts';
import type { RuleChanges } from './schema.ts';

export const packageRules: RuleKind<RuleRow> = {
  table: 'package_protection_rules',
  name: 'package',
  most: 100,
  noun: 'Package Protection Rule',
  audited: {
    event: 'package_protection_rule',
    type: 'Packages::Protection::Rule',
    details: ({ package_name_pattern }) => package_name_pattern,
  },
  check: requireLevel,
};

/** The columns that the changes name. */
const columnsOf = ({ package_name_pattern, package_type, ...levels }: RuleChanges) => ({
  ...(package_name_pattern !== undefined && { package_name_pattern }),
  ...(package_type !== undefined && { package_type }),
  ...levelColumns(levels),
});

/** 422 for a rule that asks nothing, and for one too many. */
export const createPackageRule = (
  context: RuleContext,
  rule: RuleChanges & Required<Pick<RuleChanges, 'package_name_pattern' | 'package_type'>>,
): Promise<RuleRow> => {
  const { package_name_pattern, package_type } = rule;
  const named = { package_name_pattern, package_type };
  return createRule(context, packageRules, {
    push_level: null,
    delete_level: null,
    ...named,
    ...columnsOf(rule),
  });
};

export const updatePackageRule = (context: RuleContext, id: number, changes: RuleChanges): Promise<RuleRow> =>
  updateRule(context, packageRules, id, columnsOf(changes));
