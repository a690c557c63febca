/** Approvals of deployments: which are missing, and for what one counts (facts: Deployments; facts-ci: 7.2). Pure. */
import {
  type Deployer,
  type Environment,
  isAdmitted,
  meets,
  type Protection,
  type StoredAccess,
} from './rules.ts';

/** A rule for those who approve, as it is called. */
export type ApprovalRule = StoredAccess & { title: string };

/** What asks for approvals: its rules, or, where it has none, so many of those who deploy. */
export type ApprovedProtection = Protection & {
  required_approval_count: number;
  rules: readonly ApprovalRule[];
};

export type Approval = { rule_id: number | null; by_deployer: boolean; status: string };

const required = (rule: ApprovalRule): number => rule.required_approvals ?? 0;

const missingFor = (rule: ApprovalRule, given: readonly Approval[]): number =>
  Math.max(0, required(rule) - given.filter(({ rule_id }) => rule_id === rule.id).length);

/** So many approvals are missing of a deployment to the environment. */
export function missingApprovals(
  protections: readonly ApprovedProtection[],
  environment: Environment,
  approvals: readonly Approval[],
): number {
  const given = approvals.filter(({ status }) => status === 'approved');
  const byDeployers = given.filter(({ by_deployer }) => by_deployer).length;
  return protections
    .filter((each) => meets(each, environment))
    .reduce(
      (sum, { rules, required_approval_count }) =>
        sum +
        (rules.length > 0
          ? rules.reduce((all, rule) => all + missingFor(rule, given), 0)
          : Math.max(0, required_approval_count - byDeployers)),
      0,
    );
}

/**
 * For what an approval of the user counts: for a rule of the name, or the first that admits the user, those before others that
 * still miss one; and for what has no rules. Undefined for who may not approve.
 */
export function standingOf(
  protections: readonly ApprovedProtection[],
  environment: Environment,
  approver: Deployer,
  approvals: readonly Approval[],
  representedAs?: string,
): Pick<Approval, 'rule_id' | 'by_deployer'> | undefined {
  const met = protections.filter((each) => meets(each, environment));
  const own = met.flatMap(({ rules }) => rules).filter((rule) => isAdmitted([rule], approver));
  const named = own.filter(({ title }) => representedAs === undefined || title === representedAs);
  const given = approvals.filter(({ status }) => status === 'approved');
  const rule = named.find((each) => missingFor(each, given) > 0) ?? named[0];
  const counting = met.filter(
    ({ rules, required_approval_count }) => rules.length === 0 && required_approval_count > 0,
  );
  const byDeployer = counting.length > 0 && counting.every(({ entries }) => isAdmitted(entries, approver));
  if (!rule && (!byDeployer || representedAs !== undefined)) return undefined;
  return { rule_id: rule?.id ?? null, by_deployer: byDeployer };
}
