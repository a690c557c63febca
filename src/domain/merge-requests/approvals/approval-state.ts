/** Whose approvals a merge request needs, has, and may get (facts: merge requests §6.2, §6.3). Pure. */
import type { ApprovalSettings } from '../approval-settings/rules.ts';

export type ApprovalRule = {
  ruleType: 'any_approver' | 'regular' | 'code_owner' | 'report_approver';
  approvalsRequired: number;
  /** The rule's users and the direct members of its groups, each once; nobody for `any_approver`. */
  approverIds: readonly number[];
  /** Whether nobody can approve it: who owns the files is too much to tell. */
  isClosed?: boolean;
};

/** A merge request, as far as approvals depend on it. */
export type Approvable = {
  authorId: number;
  committerIds: ReadonlySet<number>;
  /** Users, in the order in which they approved. */
  approvedBy: readonly number[];
  /** Whose approval counts for a rule of any approver: those who change merge requests of the project, or whom it asks. */
  anyApproverIds: ReadonlySet<number>;
  settings: Pick<ApprovalSettings, 'allow_author_approval' | 'allow_committer_approval'>;
};

const isExcludedAuthor = ({ authorId, settings }: Approvable, userId: number): boolean =>
  userId === authorId && !settings.allow_author_approval;

/** Whether an approval of this user counts. */
const counts = (of: Approvable, userId: number): boolean =>
  !isExcludedAuthor(of, userId) && (of.settings.allow_committer_approval || !of.committerIds.has(userId));

export type RuleState<Rule extends ApprovalRule> = {
  rule: Rule;
  approvedBy: readonly number[];
  /** Approvers whose approval is missing, or may still be added. */
  waitingFor: readonly number[];
  approvalsLeft: number;
  approved: boolean;
};

function ruleState<Rule extends ApprovalRule>(rule: Rule, of: Approvable): RuleState<Rule> {
  const approvers = new Set(rule.approverIds);
  const asked = rule.ruleType === 'any_approver' ? of.anyApproverIds : approvers;
  const approvedBy = of.approvedBy.filter((id) => asked.has(id) && counts(of, id));
  const given = new Set(approvedBy);
  const waitingFor = [...approvers].filter((id) => !given.has(id) && counts(of, id));
  const left = Math.max(0, rule.approvalsRequired - approvedBy.length);
  // Nobody can give what more approvals than approvers are: all of them do. A policy's rule stays closed. A commit may say that
  // anybody committed it: who does not count for that alone makes a rule no easier.
  const isClamped = rule.ruleType === 'regular' || (rule.ruleType === 'code_owner' && !rule.isClosed);
  const others = [...approvers].filter((id) => !given.has(id) && !isExcludedAuthor(of, id));
  const approvalsLeft = isClamped ? Math.min(left, others.length) : left;
  return { rule, approvedBy, waitingFor, approvalsLeft, approved: approvalsLeft === 0 };
}

export type ApprovalState<Rule extends ApprovalRule> = {
  rules: readonly RuleState<Rule>[];
  approved: boolean;
  /** Sums of all rules: one approval may count for several. */
  approvalsRequired: number;
  approvalsLeft: number;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** The state of each rule, and of all: a merge request without rules is approved. */
export function approvalState<Rule extends ApprovalRule>(
  rules: readonly Rule[],
  of: Approvable,
): ApprovalState<Rule> {
  const states = rules.map((rule) => ruleState(rule, of));
  return {
    rules: states,
    approved: states.every(({ approved }) => approved),
    approvalsRequired: sum(rules.map(({ approvalsRequired }) => approvalsRequired)),
    approvalsLeft: sum(states.map(({ approvalsLeft }) => approvalsLeft)),
  };
}

/** Whether the user, who sees the merge request, may approve it: once, as one who may change it or an approver of a rule. */
export function mayApprove(
  rules: readonly ApprovalRule[],
  of: Approvable,
  user: { id: number; mayUpdate: boolean },
): boolean {
  if (of.approvedBy.includes(user.id) || !counts(of, user.id)) return false;
  return user.mayUpdate || rules.some(({ approverIds }) => approverIds.includes(user.id));
}
