/** Settings of approvals over HTTP. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
let group: MadeGroup;
let inner: MadeGroup;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let configuration: string;
let ofProject: string;
let ofGroup: string;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  inner = await makeGroup(ashlar, { parent_id: group.id });
  ({ maintainer } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer'));
  ({ developer } = await makeMembers(ashlar, `groups/${group.id}`, 'developer'));
});

const restart = async () => {
  project = await makeProject(ashlar, { namespace_id: inner.id });
  configuration = `/projects/${project.id}/approvals`;
  ofProject = `/projects/${project.id}/merge_request_approval_setting`;
  ofGroup = `/groups/${group.id}/merge_request_approval_setting`;
};
beforeAll(restart);

const lax = {
  allow_author_approval: true,
  allow_committer_approval: true,
  allow_overrides_to_approver_list_per_merge_request: true,
  retain_approvals_on_push: true,
  require_reauthentication_to_approve: false,
};
afterEach(async () => {
  bodyOf(await ashlar.root(`PUT ${ofGroup}`, { body: lax }), 200);
  await restart();
});

const defaults = {
  approvers: [],
  approver_groups: [],
  approval_groups: [],
  approvals_before_merge: 0,
  reset_approvals_on_push: true,
  selective_code_owner_removals: false,
  disable_overriding_approvers_per_merge_request: false,
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: false,
  require_password_to_approve: false,
  require_reauthentication_to_approve: false,
};
const read = async (path: string) => bodyOf(await ashlar.root(`GET ${path}`), 200);
const configure = (body: object) => ashlar.as(maintainer.token)(`POST ${configuration}`, { body });

describe('the configuration of a project', () => {
  test('has defaults, and is changed by what is sent', async () => {
    expect(await read(configuration)).toEqual(defaults);
    const body = {
      reset_approvals_on_push: false,
      selective_code_owner_removals: true,
      disable_overriding_approvers_per_merge_request: true,
      merge_requests_author_approval: true,
      merge_requests_disable_committers_approval: true,
      require_reauthentication_to_approve: true,
    };
    const changed = { ...defaults, ...body, require_password_to_approve: true };
    expect(bodyOf(await configure(body), 201)).toEqual(changed);
    expect(bodyOf(await configure({}), 201)).toEqual(changed);
    expect(bodyOf(await configure({ merge_requests_author_approval: false }), 201)).toEqual({
      ...changed,
      merge_requests_author_approval: false,
    });
    const { sql } = ashlar.app.services.database;
    const events = await sql`select details ->> 'change' as change from audit_events
      where entity_type = 'Project' and entity_id = ${project.id} and event_name = 'approval_setting_updated' order by id`;
    expect(events.map(({ change }) => change)).toEqual([
      'allow_author_approval',
      'allow_committer_approval',
      'allow_overrides_to_approver_list_per_merge_request',
      'retain_approvals_on_push',
      'selective_code_owner_removals',
      'require_reauthentication_to_approve',
      'allow_author_approval',
    ]);
  });

  test('is the same under other names', async () => {
    bodyOf(await configure({ reset_approvals_on_push: false, merge_requests_author_approval: true }), 201);
    const own = (value: boolean) => ({ value, locked: false, inherited_from: null });
    const states = {
      allow_author_approval: own(true),
      allow_committer_approval: own(true),
      allow_overrides_to_approver_list_per_merge_request: own(true),
      retain_approvals_on_push: own(true),
      selective_code_owner_removals: own(false),
      require_password_to_approve: own(false),
      require_reauthentication_to_approve: own(false),
    };
    expect(await read(ofProject)).toEqual(states);
    const body = { allow_committer_approval: false };
    expect(bodyOf(await ashlar.as(maintainer.token)(`PUT ${ofProject}`, { body }), 200)).toEqual({
      ...states,
      allow_committer_approval: own(false),
    });
    expect(await read(configuration)).toMatchObject({ merge_requests_disable_committers_approval: true });
  });

  test('takes the older name of a setting, unless the newer one is sent', async () => {
    const older = { require_password_to_approve: true };
    expect(bodyOf(await configure(older), 201)).toMatchObject({ require_reauthentication_to_approve: true });
    const both = { ...older, require_reauthentication_to_approve: false };
    for (const [line, status] of [
      [`POST ${configuration}`, 201],
      [`PUT ${ofProject}`, 200],
    ] as const) {
      bodyOf(await ashlar.root(line, { body: both }), status);
      expect(await read(configuration)).toMatchObject({
        require_password_to_approve: false,
        require_reauthentication_to_approve: false,
      });
    }
  });

  test('does not remove approvals in two ways', async () => {
    const message = {
      selective_code_owner_removals: ['can only be enabled when retain_approvals_on_push is enabled'],
    };
    const both = { reset_approvals_on_push: true, selective_code_owner_removals: true };
    expect(bodyOf(await configure(both), 400)).toEqual({ message });
    expect(bodyOf(await configure({ selective_code_owner_removals: true }), 400)).toEqual({ message });
    expect(await read(configuration)).toEqual(defaults);
  });

  test('has one count of approvals of anybody: of the rule, and of the project', async () => {
    const rules = `/projects/${project.id}/approval_rules`;
    const counts = async () => [
      (await read(configuration)).approvals_before_merge,
      (await read(`/projects/${project.id}`)).approvals_before_merge,
      ...(await read(rules)).map((rule: { approvals_required: number }) => rule.approvals_required),
    ];
    expect(await counts()).toEqual([0, 0]);
    bodyOf(await configure({ approvals_before_merge: 0 }), 201);
    expect(await counts()).toEqual([0, 0]);
    bodyOf(await configure({ approvals_before_merge: 2 }), 201);
    expect(await counts()).toEqual([2, 2, 2]);
    const [rule] = await read(rules);
    expect(rule).toMatchObject({ name: 'All Members', rule_type: 'any_approver', eligible_approvers: [] });
    const body = { approvals_before_merge: 3 };
    bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body }), 200);
    expect(await counts()).toEqual([3, 3, 3]);
    bodyOf(await ashlar.root(`PUT ${rules}/${rule.id}`, { body: { approvals_required: 1 } }), 200);
    expect(await counts()).toEqual([1, 1, 1]);
    bodyOf(await ashlar.root(`DELETE ${rules}/${rule.id}`), 204);
    expect(await counts()).toEqual([0, 0]);
    bodyOf(await ashlar.root(`POST ${rules}`, { body: { name: 'Any', approvals_required: 4 } }), 201);
    expect(await counts()).toEqual([4, 4, 4]);
    for (const count of [-1, 101])
      expect((await configure({ approvals_before_merge: count })).status).toBe(400);
    const { id } = await makeProject(ashlar, { approvals_before_merge: 5 });
    expect(await read(`/projects/${id}/approval_rules`)).toMatchObject([{ approvals_required: 5 }]);
  });

  test('may be asked for by many at once', async () => {
    const changes = Array.from({ length: 8 }, (_, at) => ({
      approvals_before_merge: at + 1,
      ...(at % 2 === 0
        ? { reset_approvals_on_push: false, selective_code_owner_removals: true }
        : { reset_approvals_on_push: true, selective_code_owner_removals: false }),
    }));
    for (const answer of await Promise.all(changes.map(configure))) expect(answer.status).toBe(201);
    const after = await read(configuration);
    expect(after.reset_approvals_on_push && after.selective_code_owner_removals).toBe(false);
    expect(await read(`/projects/${project.id}/approval_rules`)).toMatchObject([
      { approvals_required: after.approvals_before_merge },
    ]);
  });
});

describe('a setting of a group', () => {
  const locked = { value: false, locked: true, inherited_from: 'group' };

  test('locks the projects below it, whatever they said', async () => {
    bodyOf(await configure({ merge_requests_author_approval: true }), 201);
    bodyOf(await ashlar.root(`PUT ${ofGroup}`, { body: { allow_author_approval: false } }), 200);
    expect(await read(ofGroup)).toMatchObject({
      allow_author_approval: { value: false, locked: false, inherited_from: null },
      allow_committer_approval: { value: true, locked: false, inherited_from: null },
    });
    expect(await read(`/groups/${inner.id}/merge_request_approval_setting`)).toMatchObject({
      allow_author_approval: locked,
    });
    expect(await read(ofProject)).toMatchObject({
      allow_author_approval: locked,
      allow_committer_approval: { value: true, locked: false, inherited_from: null },
    });
    expect(await read(configuration)).toMatchObject({ merge_requests_author_approval: false });
    expect(bodyOf(await configure({ merge_requests_author_approval: true }), 400)).toEqual({
      message: { merge_requests_author_approval: ['is locked by the group'] },
    });
    const body = { allow_author_approval: true };
    expect(bodyOf(await ashlar.root(`PUT ${ofProject}`, { body }), 400)).toEqual({
      message: { allow_author_approval: ['is locked by the group'] },
    });
    expect((await configure({ ...defaults, approvals_before_merge: 1 })).status).toBe(201);
    bodyOf(await ashlar.root(`PUT ${ofGroup}`, { body }), 200);
    expect(await read(ofProject)).toMatchObject({ allow_author_approval: { value: false, locked: false } });
  });

  test('is one of the top-level group', async () => {
    const body = { allow_author_approval: false };
    const path = `/groups/${inner.id}/merge_request_approval_setting`;
    expect(bodyOf(await ashlar.root(`PUT ${path}`, { body }), 400)).toEqual({
      message: '400 Bad request - only top-level groups have settings of approvals',
    });
  });
});

test('the instance locks groups and projects', async () => {
  const change = (value: boolean) =>
    ashlar.root('PUT /application/settings', {
      body: {
        prevent_merge_requests_author_approval: value,
        prevent_merge_requests_committers_approval: value,
        disable_overriding_approvers_per_merge_request: value,
      },
    });
  bodyOf(await change(true), 200);
  try {
    const lock = { value: false, locked: true, inherited_from: 'instance' };
    const states = {
      allow_author_approval: lock,
      allow_committer_approval: lock,
      allow_overrides_to_approver_list_per_merge_request: lock,
      retain_approvals_on_push: { locked: false },
    };
    for (const path of [ofGroup, ofProject]) expect(await read(path)).toMatchObject(states);
    const body = { allow_committer_approval: true };
    for (const path of [ofGroup, ofProject])
      expect((await ashlar.root(`PUT ${path}`, { body })).body).toEqual({
        message: { allow_committer_approval: ['is locked by the instance'] },
      });
  } finally {
    bodyOf(await change(false), 200);
  }
});

test('Maintainers have the settings of projects, Owners those of groups', async () => {
  const statuses = async (user: MadeUser) => [
    (await ashlar.as(user.token)(`GET ${configuration}`)).status,
    (await ashlar.as(user.token)(`POST ${configuration}`, { body: {} })).status,
    (await ashlar.as(user.token)(`GET ${ofProject}`)).status,
    (await ashlar.as(user.token)(`PUT ${ofProject}`, { body: {} })).status,
    (await ashlar.as(user.token)(`GET ${ofGroup}`)).status,
    (await ashlar.as(user.token)(`PUT ${ofGroup}`, { body: {} })).status,
  ];
  expect(await statuses(maintainer)).toEqual([200, 201, 200, 200, 403, 403]);
  expect(await statuses(developer)).toEqual([403, 403, 403, 403, 403, 403]);
});
