import { describe, expect, test } from 'vitest';
import {
  type Approval,
  type ApprovalRule,
  type ApprovedProtection,
  missingApprovals,
  standingOf,
} from './approval-rules.ts';
import type { Access, Deployer } from './rules.ts';

const live = { name: 'live', tier: 'production' };
const nobody: Access = {
  access_level: null,
  user_id: null,
  group_id: null,
  group_inheritance_type: 0,
  required_approvals: null,
};
const rule = (
  id: number,
  required_approvals: number,
  more: Partial<Access>,
  title = `rule ${id}`,
): ApprovalRule => ({
  ...nobody,
  ...more,
  id,
  required_approvals,
  title,
});
const protection = (more: Partial<ApprovedProtection> = {}): ApprovedProtection => ({
  project_id: 1,
  name: 'live',
  entries: [{ ...nobody, access_level: 40 }],
  required_approval_count: 0,
  rules: [],
  ...more,
});
const by = (rule_id: number | null, by_deployer = false, status = 'approved'): Approval => ({
  rule_id,
  by_deployer,
  status,
});

describe('missing approvals', () => {
  const two = protection({ rules: [rule(1, 2, { access_level: 40 }), rule(2, 1, { user_id: 7 })] });
  const counted = protection({ required_approval_count: 2 });
  test.each<[what: string, ApprovedProtection[], Approval[], missing: number]>([
    ['nothing asks for any', [protection()], [], 0],
    ['another environment asks', [{ ...counted, name: 'staging' }], [], 0],
    ['rules are added up', [two], [], 3],
    ['each rule counts its own', [two], [by(1), by(1), by(1)], 1],
    ['all rules have theirs', [two], [by(1), by(1), by(2)], 0],
    ['one that was rejected is none', [two], [by(1, false, 'rejected'), by(2)], 2],
    ['one of a rule that is gone is none', [two], [by(null), by(9)], 3],
    ['deployers are counted', [counted], [by(null, true)], 1],
    ['others are not counted among them', [counted], [by(null), by(1)], 2],
    [
      'a tier of a group asks, too',
      [two, protection({ project_id: null, name: 'production', required_approval_count: 1 })],
      [by(1), by(1), by(2)],
      1,
    ],
    [
      'an approval counts for a rule and for deployers',
      [two, protection({ project_id: null, name: 'production', required_approval_count: 1 })],
      [by(1), by(1), by(2, true)],
      0,
    ],
    ['rules win over the number', [{ ...two, required_approval_count: 5 }], [by(1), by(1), by(2)], 0],
  ])('%s', (_, protections, approvals, missing) => {
    expect(missingApprovals(protections, live, approvals)).toBe(missing);
  });
});

describe('an approval', () => {
  const rules = protection({
    rules: [
      rule(1, 1, { access_level: 40 }, 'Maintainers'),
      rule(2, 1, { user_id: 7 }, 'Ada'),
      rule(3, 1, { group_id: 3 }, 'Ops'),
    ],
  });
  const counted = protection({ required_approval_count: 1 });
  const who = (role: number, more: Partial<Deployer> = {}): Deployer => ({
    id: 7,
    role,
    admin: false,
    isMember: () => false,
    ...more,
  });
  const standing = (rule_id: number | null, by_deployer = false) => ({ rule_id, by_deployer });
  test.each<
    [
      what: string,
      ApprovedProtection[],
      Deployer,
      Approval[],
      as: string | undefined,
      ReturnType<typeof standing> | undefined,
    ]
  >([
    ['of nobody in particular', [rules], who(30, { id: 8 }), [], undefined, undefined],
    ['of a role', [rules], who(40, { id: 8 }), [], undefined, standing(1)],
    ['of the first rule of several', [rules], who(40), [], undefined, standing(1)],
    ['of the next, where the first has all', [rules], who(40), [by(1)], undefined, standing(2)],
    ['of the first, where all have all', [rules], who(40), [by(1), by(2)], undefined, standing(1)],
    ['of the rule that is named', [rules], who(40), [], 'Ada', standing(2)],
    ['of a rule that does not admit', [rules], who(40), [], 'Ops', undefined],
    ['of a group', [rules], who(20, { id: 8, isMember: (id) => id === 3 }), [], undefined, standing(3)],
    ['of a deployer', [counted], who(40), [], undefined, standing(null, true)],
    ['of a deployer under a name', [counted], who(40), [], 'Maintainers', undefined],
    ['of who does not deploy', [counted], who(30), [], undefined, undefined],
    ['of an administrator', [counted], who(0, { admin: true }), [], undefined, standing(null, true)],
    ['where nothing asks for it', [protection()], who(50), [], undefined, undefined],
    [
      'for both kinds',
      [rules, protection({ project_id: null, name: 'production', required_approval_count: 1 })],
      who(40),
      [],
      undefined,
      standing(1, true),
    ],
  ])('%s', (_, protections, approver, given, as, expected) => {
    expect(standingOf(protections, live, approver, given, as)).toEqual(expected);
  });
});
