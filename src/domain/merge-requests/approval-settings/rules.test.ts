/** Settings of approvals, and who locks them. */
import { describe, expect, test } from 'vitest';
import {
  type ApprovalSettings,
  effectiveSettings,
  groupDefaults,
  instanceSettings,
  type Layer,
  projectDefaults,
  settingProblems,
  settingState,
} from './rules.ts';

const unlocked = {
  prevent_merge_requests_author_approval: false,
  prevent_merge_requests_committers_approval: false,
  disable_overriding_approvers_per_merge_request: false,
};
const above = (instance: Partial<typeof unlocked> = {}, group: Partial<ApprovalSettings> = {}): Layer[] => [
  { from: 'instance', settings: instanceSettings({ ...unlocked, ...instance }) },
  { from: 'group', settings: { ...groupDefaults, ...group } },
];

test('without a word from above a project has its own', () => {
  for (const own of [projectDefaults, { ...groupDefaults, selective_code_owner_removals: true }])
    expect(effectiveSettings(own, above())).toEqual(own);
});

describe('the stricter value from above holds, and is locked', () => {
  test.each([
    ['allow_author_approval', true, above({ prevent_merge_requests_author_approval: true }), 'instance'],
    [
      'allow_committer_approval',
      true,
      above({ prevent_merge_requests_committers_approval: true }),
      'instance',
    ],
    [
      'allow_overrides_to_approver_list_per_merge_request',
      true,
      above({ disable_overriding_approvers_per_merge_request: true }),
      'instance',
    ],
    ['allow_author_approval', true, above({}, { allow_author_approval: false }), 'group'],
    [
      'allow_author_approval',
      true,
      above({ prevent_merge_requests_author_approval: true }, { allow_author_approval: false }),
      'instance',
    ],
    ['retain_approvals_on_push', true, above({}, { retain_approvals_on_push: false }), 'group'],
    ['selective_code_owner_removals', false, above({}, { selective_code_owner_removals: true }), 'group'],
    [
      'require_reauthentication_to_approve',
      false,
      above({}, { require_reauthentication_to_approve: true }),
      'group',
    ],
  ] as const)('%s', (name, wished, layers, from) => {
    const own = { ...groupDefaults, [name]: wished };
    expect(settingState(name, own, layers)).toEqual({ value: !wished, locked: true, inherited_from: from });
    expect(effectiveSettings(own, layers)).toEqual({ ...own, [name]: !wished });
    expect(settingProblems(own, { [name]: wished }, layers)).toEqual({
      [name]: [`is locked by the ${from}`],
    });
    // What holds anyway may be said.
    expect(settingProblems({ ...own, retain_approvals_on_push: true }, { [name]: !wished }, layers)).toEqual(
      {},
    );
  });
});

test('where pushes remove all approvals, none is removed selectively', () => {
  const own = { ...groupDefaults, selective_code_owner_removals: true };
  expect(effectiveSettings(own, above({}, { retain_approvals_on_push: false }))).toMatchObject({
    retain_approvals_on_push: false,
    selective_code_owner_removals: false,
  });
});

describe('a project cannot have both removals', () => {
  const refused = {
    selective_code_owner_removals: ['can only be enabled when retain_approvals_on_push is enabled'],
  };
  const on = { selective_code_owner_removals: true };
  const retaining = { retain_approvals_on_push: true };

  test.each([
    [projectDefaults, on, refused],
    [projectDefaults, { ...on, ...retaining }, {}],
    [{ ...projectDefaults, ...retaining }, on, {}],
    [{ ...projectDefaults, ...retaining, ...on }, { retain_approvals_on_push: false }, refused],
    [
      { ...projectDefaults, ...retaining, ...on },
      { retain_approvals_on_push: false, selective_code_owner_removals: false },
      {},
    ],
    [{ ...projectDefaults, ...on }, { allow_author_approval: true }, {}],
  ])('%j and %j', (own, changes, problems) => {
    expect(settingProblems(own, changes, above())).toEqual(problems);
  });
});
