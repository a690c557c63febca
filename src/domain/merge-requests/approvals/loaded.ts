/** The approvals of merge requests, put together of the rows that approvals/queries.ts selects. Pure. */
import { isForBranch } from '../approval-rules/rules.ts';
import {
  type ApprovalSettings,
  effectiveSettings,
  groupDefaults,
  type InstanceLocks,
  instanceSettings,
  projectDefaults,
} from '../approval-settings/rules.ts';
import { type Approvable, type ApprovalRule, type ApprovalState, approvalState } from './approval-state.ts';

/** A rule as it holds for one merge request, with what it names. */
export type HoldingRule = ApprovalRule & {
  id: number;
  name: string;
  reportType: string | null;
  /** Of a code owners file. */
  section: string | null;
  ofMergeRequest: boolean;
  sourceRuleId: number | null;
  userIds: readonly number[];
  groupIds: readonly number[];
};

type RuleRow = {
  of_merge_request_id: number;
  id: number;
  name: string;
  rule_type: string;
  report_type: string | null;
  section: string | null;
  approvals_required: number;
  applies_to_all_protected_branches: boolean;
  of_group: boolean;
  of_merge_request: boolean;
  source_rule_id: number | null;
  approver_ids: number[];
  branch_ids: number[];
  user_ids: number[];
  group_ids: number[];
};

export type ApprovalRows = {
  approvals: {
    merge_request_id: number;
    user_id: number;
    created_at: string;
    id: number;
    /** Whether they change merge requests of the project now. */
    may_change: boolean;
  };
  committers: { merge_request_id: number; user_id: number };
  /** Of a project and its top-level group; null where they never said anything. */
  approval_settings: { id: number; own: ApprovalSettings | null; root: ApprovalSettings | null };
  approval_rules: RuleRow;
  protections: { id: number; project_id: number; name: string; code_owner_approval_required: boolean };
};

/** A merge request, as far as its rules depend on it. */
export type ApprovedRow = {
  id: number;
  project_id: number;
  author_id: number;
  target_branch: string;
  approvals_before_merge: number | null;
};

export type LoadedApprovals = {
  of: Approvable;
  rules: readonly HoldingRule[];
  settings: ApprovalSettings;
  /** Oldest first. */
  approvals: readonly { userId: number; approvedAt: string }[];
  /** Rules of its own; whether they stand in the place of the project's is the project's to say. */
  own: readonly HoldingRule[];
  isOverwritten: boolean;
};

type Rows = <Tag extends keyof ApprovalRows>(tag: Tag) => ApprovalRows[Tag][];

/** What the merge request asks for counts where its project asks for some approvals of anybody, and for fewer. */
const approvalsRequired = (row: RuleRow, atLeast: number): number =>
  row.rule_type === 'any_approver' && !row.of_group && !row.of_merge_request && row.approvals_required > 0
    ? Math.max(row.approvals_required, atLeast)
    : row.approvals_required;

/** Code owners are asked where the branch is protected so; elsewhere their rules are shown. */
function holdingRule(row: RuleRow, asksOwners: boolean, atLeast: number): HoldingRule {
  const isOwners = row.rule_type === 'code_owner';
  const approverIds = [...new Set(row.approver_ids)];
  const approvers = new Set(approverIds);
  return {
    id: row.id,
    name: row.name,
    // The table's check constraint admits only the types.
    ruleType: row.rule_type as ApprovalRule['ruleType'],
    reportType: row.report_type,
    section: row.section,
    isClosed: isOwners && row.section === null,
    approvalsRequired: isOwners && !asksOwners ? 0 : approvalsRequired(row, atLeast),
    approverIds,
    ofMergeRequest: row.of_merge_request && !isOwners,
    sourceRuleId: row.source_rule_id,
    // Whom a file names who is no owner is nobody's business: an address tells whose it is.
    userIds: isOwners ? row.user_ids.filter((id) => approvers.has(id)) : row.user_ids,
    groupIds: row.group_ids,
  };
}

export type Protection = { name: string; asksOwners: boolean };

/** A merge request, as far as it says which rules hold. */
export type Asking = Pick<ApprovedRow, 'target_branch' | 'approvals_before_merge'>;

/**
 * The rules that hold among those of the merge request, its project and the groups above: its own ones replace the
 * project's, where that is allowed, but no group's and no policy's; or it asks for more approvals than the project's rule of
 * any approver.
 */
export function holdingRules(
  rows: readonly RuleRow[],
  { target_branch: targetBranch, approvals_before_merge: asked }: Asking,
  protections: ReadonlyMap<number, Protection>,
  allowsOwn: boolean,
): Pick<LoadedApprovals, 'rules' | 'own' | 'isOverwritten'> {
  const all = [...protections.values()];
  const patterns = all.map(({ name }) => name);
  const asksOwners = isForBranch(
    { patterns: [], appliesToAllProtected: true },
    targetBranch,
    all.filter((each) => each.asksOwners).map(({ name }) => name),
  );
  const isHere = (row: RuleRow): boolean =>
    isForBranch(
      {
        patterns: row.branch_ids.flatMap((id) => protections.get(id)?.name ?? []),
        appliesToAllProtected: row.of_group || row.applies_to_all_protected_branches,
      },
      targetBranch,
      patterns,
    );
  const isOverwritten =
    allowsOwn && rows.some((row) => row.of_merge_request && row.rule_type !== 'code_owner');
  const holds = (row: RuleRow): boolean => {
    if (row.rule_type === 'code_owner') return true;
    if (row.of_merge_request) return isOverwritten;
    if (isOverwritten && !row.of_group && row.rule_type !== 'report_approver') return false;
    return isHere(row);
  };
  const sorted = rows.toSorted((one, other) => one.id - other.id);
  const atLeast = allowsOwn ? (asked ?? 0) : 0;
  return {
    rules: sorted.filter(holds).map((row) => holdingRule(row, asksOwners, atLeast)),
    own: sorted.filter((row) => row.of_merge_request).map((row) => holdingRule(row, asksOwners, atLeast)),
    isOverwritten,
  };
}

/** The approvals of each merge request. */
export function loadedApprovals(rows: Rows, instance: InstanceLocks): (of: ApprovedRow) => LoadedApprovals {
  const approvals = Map.groupBy(
    rows('approvals').toSorted((one, other) => one.id - other.id),
    (row) => row.merge_request_id,
  );
  const committers = Map.groupBy(rows('committers'), (row) => row.merge_request_id);
  const settings = new Map(rows('approval_settings').map((row) => [row.id, row]));
  const rules = Map.groupBy(rows('approval_rules'), (row) => row.of_merge_request_id);
  const protections = Map.groupBy(rows('protections'), (row) => row.project_id);
  return ({ id, project_id, author_id, ...asking }) => {
    const { own, root } = settings.get(project_id) ?? { own: null, root: null };
    const effective = effectiveSettings(own ?? projectDefaults, [
      { from: 'instance', settings: instanceSettings(instance) },
      { from: 'group', settings: root ?? groupDefaults },
    ]);
    const given = approvals.get(id) ?? [];
    const held = holdingRules(
      rules.get(id) ?? [],
      asking,
      new Map(
        (protections.get(project_id) ?? []).map((each) => [
          each.id,
          { name: each.name, asksOwners: each.code_owner_approval_required },
        ]),
      ),
      effective.allow_overrides_to_approver_list_per_merge_request,
    );
    return {
      ...held,
      of: {
        authorId: author_id,
        committerIds: new Set((committers.get(id) ?? []).map(({ user_id }) => user_id)),
        approvedBy: given.map(({ user_id }) => user_id),
        // Whom the merge request's own rules name, its author chose; of optional rules not all approvers are known.
        anyApproverIds: new Set([
          ...given.flatMap(({ user_id, may_change }) => (may_change ? user_id : [])),
          ...held.rules.flatMap(({ ofMergeRequest, approvalsRequired, approverIds }) =>
            ofMergeRequest || approvalsRequired === 0 ? [] : approverIds,
          ),
        ]),
        settings: effective,
      },
      settings: effective,
      approvals: given.map(({ user_id, created_at }) => ({
        userId: user_id,
        approvedAt: new Date(created_at).toISOString(),
      })),
    };
  };
}

/** Below premium there are no rules, and every approval counts. */
export function optionalApprovals(loaded: LoadedApprovals): LoadedApprovals {
  const settings = {
    ...loaded.settings,
    allow_author_approval: true,
    allow_committer_approval: true,
    require_reauthentication_to_approve: false,
  };
  return { ...loaded, rules: [], isOverwritten: false, settings, of: { ...loaded.of, settings } };
}

export const stateOf = ({ rules, of }: LoadedApprovals): ApprovalState<HoldingRule> =>
  approvalState(rules, of);

/** Whether it has what its rules ask for; what is closed or merged, or of a lower tier, needs nothing any more. */
export const isApproved = (loaded: LoadedApprovals | undefined): boolean =>
  loaded === undefined || stateOf(loaded).approved;
