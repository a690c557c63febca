/** What a request makes of an approval rule, and the branches that a rule is for. Pure (facts: merge requests §6.2). */
import type { ValidationMessages } from '../../../platform/failure.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';
import type { NewRule, RuleChanges, ruleTypes } from './schema.ts';

export type RuleType = (typeof ruleTypes)[number];

/** The approvers that a request names; undefined for those that it leaves as they are. */
export type NamedApprovers = {
  userIds: readonly number[] | undefined;
  usernames: readonly string[] | undefined;
  groupIds: readonly number[] | undefined;
};

const real = (ids: readonly number[] | undefined) => ids?.filter((id) => id !== 0);

export const namedApprovers = (input: RuleChanges): NamedApprovers => ({
  userIds: real(input.user_ids ?? input.users),
  usernames: input.usernames,
  groupIds: real(input.group_ids ?? input.groups),
});

export const namesAnybody = ({ userIds, usernames, groupIds }: NamedApprovers): boolean =>
  [userIds, usernames, groupIds].some((named) => named !== undefined && named.length > 0);

/** The type of a new rule. A request that names strangers alone makes a rule of nobody, and not one of everybody. */
export function newRuleType(input: NewRule): RuleType {
  if (input.rule_type) return input.rule_type;
  if (input.report_type) return 'report_approver';
  return namesAnybody(namedApprovers(input)) ? 'regular' : 'any_approver';
}

/** The messages for a rule as it would be; empty where there are none. */
export function ruleProblems(rule: {
  name: string;
  ruleType: RuleType;
  reportType: string | null;
  hasApprovers: boolean;
}): ValidationMessages {
  const { name, ruleType, reportType, hasApprovers } = rule;
  const isForAll = ruleType === 'any_approver';
  return {
    ...(name.trim() === '' && { name: ["can't be blank"] }),
    ...(isForAll && hasApprovers && { rule_type: ['any-approver rules have no users and no groups'] }),
    ...(ruleType === 'report_approver' && reportType === null && { report_type: ["can't be blank"] }),
    ...(ruleType !== 'report_approver' &&
      reportType !== null && { report_type: ['is for rules of type report_approver'] }),
  };
}

/** The names of branches that a rule is for. */
export type RuleBranches = {
  /** Patterns of its protected branches. */
  patterns: readonly string[];
  appliesToAllProtected: boolean;
};

/** Whether the rule is for a branch; `protections` are the patterns of all protected branches. */
export function isForBranch(
  { patterns, appliesToAllProtected }: RuleBranches,
  branch: string,
  protections: readonly string[],
): boolean {
  const meets = (all: readonly string[]) => all.some((pattern) => fits(branch, pattern));
  if (appliesToAllProtected) return meets(protections);
  return patterns.length === 0 || meets(patterns);
}
