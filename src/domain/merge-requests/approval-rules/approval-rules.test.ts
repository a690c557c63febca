/** Approval rules of projects and groups over HTTP. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
let group: MadeGroup;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;
let stranger: MadeUser;
let rules: string;
let groupRules: string;

beforeAll(async () => {
  stranger = await makeUser(ashlar);
});
beforeEach(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  ({ maintainer, developer } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer', 'developer'));
  ({ reporter } = await makeMembers(ashlar, `projects/${project.id}`, 'reporter'));
  rules = `/projects/${project.id}/approval_rules`;
  groupRules = `/groups/${group.id}/approval_rules`;
});

type Named = { id: number };
const idsOf = (records: readonly Named[]): number[] => records.map(({ id }) => id);
const make = async (body: object, path = rules) =>
  bodyOf(
    await ashlar.root(`POST ${path}`, { body: { name: 'Security', approvals_required: 1, ...body } }),
    201,
  );
const change = async (id: number, body: object) =>
  bodyOf(await ashlar.root(`PUT ${rules}/${id}`, { body }), 200);
const protect = async (name: string): Promise<Named> =>
  bodyOf(await ashlar.root(`POST /projects/${project.id}/protected_branches`, { body: { name } }), 201);

test('a rule is made, shown, changed and deleted', async () => {
  const made = await make({ user_ids: [developer.id], approvals_required: 2 });
  expect(made).toEqual({
    id: expect.any(Number),
    name: 'Security',
    rule_type: 'regular',
    report_type: null,
    eligible_approvers: [expect.objectContaining({ username: developer.username })],
    approvals_required: 2,
    users: [expect.objectContaining({ id: developer.id })],
    groups: [],
    contains_hidden_groups: false,
    protected_branches: [],
    applies_to_all_protected_branches: false,
  });
  expect(bodyOf(await ashlar.root(`GET ${rules}`), 200)).toEqual([made]);
  expect(bodyOf(await ashlar.root(`GET ${rules}/${made.id}`), 200)).toEqual(made);
  expect(await change(made.id, { name: 'Renamed', approvals_required: 0 })).toEqual({
    ...made,
    name: 'Renamed',
    approvals_required: 0,
  });
  expect((await ashlar.root(`DELETE ${rules}/${made.id}`)).status).toBe(204);
  expect((await ashlar.root(`GET ${rules}/${made.id}`)).status).toBe(404);
  const { sql } = ashlar.app.services.database;
  const events =
    await sql`select event_name from audit_events where details ->> 'target_type' = 'ApprovalRule'
    and details ->> 'target_id' = ${String(made.id)} order by id`;
  expect(events.map(({ event_name }) => event_name)).toEqual([
    'approval_rule_created',
    'approval_rule_updated',
    'approval_rule_deleted',
  ]);
});

describe('approvers', () => {
  test('are members of the project; others are left out', async () => {
    const made = await make({
      user_ids: [stranger.id, reporter.id, 987_654_321],
      usernames: [maintainer.username.toUpperCase(), 'no-such-user'],
    });
    expect(idsOf(made.users)).toEqual([maintainer.id, reporter.id].sort((a, b) => a - b));
    const nobody = await make({ name: 'Nobody', user_ids: [stranger.id] });
    expect(nobody).toMatchObject({ rule_type: 'regular', users: [], eligible_approvers: [] });
  });

  test('are no more when they have left, or are blocked', async () => {
    const { id } = await make({ user_ids: [reporter.id, developer.id] });
    const eligible = async () =>
      idsOf(bodyOf(await ashlar.root(`GET ${rules}/${id}`), 200).eligible_approvers);
    expect((await eligible()).sort()).toEqual([reporter.id, developer.id].sort());
    bodyOf(await ashlar.root(`DELETE /projects/${project.id}/members/${reporter.id}`), 204);
    expect(await eligible()).toEqual([developer.id]);
    bodyOf(await ashlar.root(`POST /users/${developer.id}/block`), 201);
    expect(await eligible()).toEqual([]);
  });

  test('are the direct members of a group, who need not be members of the project', async () => {
    const outer = await makeGroup(ashlar);
    const team = await makeGroup(ashlar, { parent_id: outer.id });
    const { developer: above } = await makeMembers(ashlar, `groups/${outer.id}`, 'developer');
    const { guest: direct } = await makeMembers(ashlar, `groups/${team.id}`, 'guest');
    const { eligible_approvers, groups } = await make({ group_ids: [team.id], user_ids: [reporter.id] });
    expect(idsOf(groups)).toEqual([team.id]);
    const ids = idsOf(eligible_approvers);
    expect(ids).toContain(direct.id);
    expect(ids).toContain(reporter.id);
    expect(ids).not.toContain(above.id);
  });

  test('are named by the lists that are sent; an empty one names nobody', async () => {
    const team = await makeGroup(ashlar);
    const { id } = await make({ user_ids: [developer.id], group_ids: [team.id] });
    expect(await change(id, { user_ids: [reporter.id] })).toMatchObject({
      users: [{ id: reporter.id }],
      groups: [{ id: team.id }],
    });
    expect(await change(id, { usernames: [developer.username] })).toMatchObject({
      users: [{ id: developer.id }],
    });
    expect(await change(id, { groups: [] })).toMatchObject({ users: [{ id: developer.id }], groups: [] });
    expect(await change(id, { user_ids: [0] })).toMatchObject({ users: [], rule_type: 'regular' });
    expect(await change(id, { users: `${reporter.id},${developer.id}` })).toMatchObject({
      users: [reporter.id, developer.id].sort((a, b) => a - b).map((each) => ({ id: each })),
    });
  });
});

describe('a group that the caller does not see', () => {
  const asMaintainer = (line: string, body?: object) => ashlar.as(maintainer.token)(line, body && { body });

  test('is not there to be named', async () => {
    const hidden = await makeGroup(ashlar);
    const body = { name: 'Team', approvals_required: 1, group_ids: [hidden.id] };
    const refused = await asMaintainer(`POST ${rules}`, body);
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Group Not Found' }]);
    const absent = await asMaintainer(`POST ${rules}`, { ...body, group_ids: [987_654_321] });
    expect([absent.status, absent.body]).toEqual([refused.status, refused.body]);
  });

  test('is not named, nor are its members; it stays in the rule, and goes when it is to go', async () => {
    const [hidden, seen] = [await makeGroup(ashlar), await makeGroup(ashlar, { visibility: 'public' })];
    const secret = await makeUser(ashlar);
    await addMember(ashlar, `groups/${hidden.id}`, secret, 30);
    const body = { group_ids: [hidden.id, seen.id], user_ids: [developer.id] };
    const { id, eligible_approvers: all } = await make(body);
    expect(idsOf(all)).toContain(secret.id);
    const eligible = async (path: string) =>
      idsOf(bodyOf(await asMaintainer(`GET ${path}`), 200).eligible_approvers);
    expect(await eligible(`${rules}/${id}`)).toEqual([developer.id]);
    const older = bodyOf(await asMaintainer(`GET /projects/${project.id}/approval_settings`), 200).rules;
    expect(JSON.stringify(older)).not.toContain(secret.username);
    const shown = async () => {
      const { groups, contains_hidden_groups } = bodyOf(await asMaintainer(`GET ${rules}/${id}`), 200);
      return [idsOf(groups), contains_hidden_groups];
    };
    expect(await shown()).toEqual([[seen.id], true]);
    bodyOf(await asMaintainer(`PUT ${rules}/${id}`, { group_ids: [] }), 200);
    expect(await shown()).toEqual([[], true]);
    bodyOf(await asMaintainer(`PUT ${rules}/${id}`, { group_ids: [seen.id] }), 200);
    expect(await shown()).toEqual([[seen.id], true]);
    bodyOf(await asMaintainer(`PUT ${rules}/${id}`, { remove_hidden_groups: true }), 200);
    expect(await shown()).toEqual([[seen.id], false]);
    const { groups } = bodyOf(await ashlar.root(`GET ${rules}/${id}`), 200);
    expect(idsOf(groups)).toEqual([seen.id]);
  });
});

describe('protected branches', () => {
  test('limit a rule', async () => {
    const [main, release] = [await protect('main'), await protect('release/*')];
    const made = await make({ rule_type: 'regular', protected_branch_ids: [release.id] });
    expect(made.protected_branches).toEqual([
      bodyOf(await ashlar.root(`GET /projects/${project.id}/protected_branches/release%2F*`), 200),
    ]);
    const all = await change(made.id, { protected_branch_ids: [], applies_to_all_protected_branches: true });
    expect(idsOf(all.protected_branches)).toEqual([main.id, release.id]);
    await make({ name: 'Everywhere', rule_type: 'regular' });
    await make({ name: 'Main', rule_type: 'regular', protected_branch_ids: [main.id] });
    const named = async (query?: string) => {
      const path = `/projects/${project.id}/approval_settings`;
      const found = bodyOf(await ashlar.root(`GET ${path}`, query === undefined ? {} : { query }), 200);
      return found.rules.map((rule: { name: string }) => rule.name);
    };
    expect(await named()).toEqual(['Security', 'Everywhere', 'Main']);
    expect(await named('target_branch=release/1')).toEqual(['Security', 'Everywhere']);
    expect(await named('target_branch=main')).toEqual(['Security', 'Everywhere', 'Main']);
    expect(await named('target_branch=dev')).toEqual(['Everywhere']);
  });

  test('are those of the project', async () => {
    const other = await makeProject(ashlar);
    const path = `POST /projects/${other.id}/protected_branches`;
    const { id } = bodyOf(await ashlar.root(path, { body: { name: 'main' } }), 201);
    const answers = [];
    for (const each of [id, 987_654_321]) {
      const body = { name: 'x', approvals_required: 1, protected_branch_ids: [each] };
      const { status, body: answer } = await ashlar.root(`POST ${rules}`, { body });
      answers.push([status, answer]);
    }
    const refused = [400, { message: { protected_branches: ["must be the project's"] } }];
    expect(answers).toEqual([refused, refused]);
  });
});

describe('refused', () => {
  const refused = async (body: object, path = rules) =>
    bodyOf(await ashlar.root(`POST ${path}`, { body: { name: 'x', approvals_required: 1, ...body } }), 400)
      .message;

  test('are names that are taken or blank', async () => {
    const { id } = await make({ rule_type: 'regular' });
    expect(await refused({ name: 'Security', rule_type: 'regular' })).toEqual({
      name: ['has already been taken'],
    });
    expect(await refused({ name: ' ' })).toEqual({ name: ["can't be blank"] });
    const other = await make({ name: 'Other', rule_type: 'regular' });
    const body = { name: 'Security' };
    expect(bodyOf(await ashlar.root(`PUT ${rules}/${other.id}`, { body }), 400)).toEqual({
      message: { name: ['has already been taken'] },
    });
    expect(await change(id, body)).toMatchObject(body);
  });

  test('is a second rule of any approver, and approvers of one', async () => {
    const { id, rule_type } = await make({});
    expect(rule_type).toBe('any_approver');
    const message = { rule_type: ['any-approver for the project already exists'] };
    expect(await refused({})).toEqual(message);
    expect(await refused({ rule_type: 'any_approver' })).toEqual(message);
    const named = { rule_type: ['any-approver rules have no users and no groups'] };
    expect(await refused({ rule_type: 'any_approver', user_ids: [developer.id] })).toEqual(named);
    const body = { user_ids: [developer.id] };
    expect(bodyOf(await ashlar.root(`PUT ${rules}/${id}`, { body }), 400).message).toEqual(named);
    // Those who would be left out are named, too.
    const strangers = { user_ids: [stranger.id] };
    expect(bodyOf(await ashlar.root(`PUT ${rules}/${id}`, { body: strangers }), 400).message).toEqual(named);
  });

  test('are counts that nobody could give', async () => {
    for (const approvals_required of [-1, 101, 'x'])
      expect((await ashlar.root(`POST ${rules}`, { body: { name: 'x', approvals_required } })).status).toBe(
        400,
      );
  });

  test('is one rule too many', async () => {
    const { sql } = ashlar.app.services.database;
    await sql`insert into approval_rules (project_id, name, rule_type, approvals_required, created_at, updated_at)
      select ${project.id}, x::text, 'regular', 1, now(), now() from generate_series(1, 100) x`;
    expect(await refused({ rule_type: 'regular' })).toEqual({ base: ['has 100 rules already'] });
  });
});

test('of many that ask at once for the rule of any approver, one gets it', async () => {
  const body = (at: number) => ({ name: `Any ${at}`, approvals_required: at });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => ashlar.root(`POST ${rules}`, { body: body(at) })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(400)]);
  const [rule, ...others] = bodyOf(await ashlar.root(`GET ${rules}`), 200);
  expect(others).toEqual([]);
  expect(bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200).approvals_before_merge).toBe(
    rule.approvals_required,
  );
});

test('a report rule has a report', async () => {
  const body = { rule_type: 'report_approver', report_type: 'code_coverage', user_ids: [developer.id] };
  expect(await make({ name: 'Coverage-Check', ...body })).toMatchObject({
    rule_type: 'report_approver',
    report_type: 'code_coverage',
    users: [{ id: developer.id }],
  });
});

test('a rule for a branch that is no more protected is for all branches', async () => {
  const branch = await protect('main');
  const { id } = await make({ rule_type: 'regular', protected_branch_ids: [branch.id] });
  bodyOf(await ashlar.root(`DELETE /projects/${project.id}/protected_branches/main`), 204);
  expect(bodyOf(await ashlar.root(`GET ${rules}/${id}`), 200).protected_branches).toEqual([]);
  const query = 'target_branch=dev';
  const shown = bodyOf(await ashlar.root(`GET /projects/${project.id}/approval_settings`, { query }), 200);
  expect(idsOf(shown.rules)).toEqual([id]);
});

describe('the older addresses', () => {
  test('have the same rules', async () => {
    const path = `/projects/${project.id}/approval_settings`;
    const made = await make({ user_ids: [developer.id] }, `${path}/rules`);
    const { approvers, ...record } = made;
    expect(approvers).toEqual(made.eligible_approvers);
    expect(bodyOf(await ashlar.root(`GET ${rules}`), 200)).toEqual([record]);
    const body = { approvals_required: 3 };
    expect(bodyOf(await ashlar.root(`PUT ${path}/rules/${made.id}`, { body }), 200)).toEqual({
      ...made,
      ...body,
    });
    await make({ name: 'Any', approvals_required: 2 });
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toMatchObject({
      rules: [{ ...made, ...body }, { name: 'Any' }],
      fallback_approvals_required: 2,
    });
    expect((await ashlar.root(`DELETE ${path}/rules/${made.id}`)).status).toBe(204);
    expect((await ashlar.root(`DELETE ${path}/rules/${made.id}`)).status).toBe(404);
  });
});

describe('a rule of a group', () => {
  test('is made and changed', async () => {
    const made = await make({ user_ids: [developer.id, reporter.id] }, groupRules);
    // The Reporter is a member of the project alone.
    expect(made).toMatchObject({
      rule_type: 'regular',
      users: [{ id: developer.id }],
      protected_branches: [],
      applies_to_all_protected_branches: true,
    });
    const put = async (body: object) =>
      bodyOf(await ashlar.root(`PUT ${groupRules}/${made.id}`, { body }), 200);
    expect(await put({ approvals_required: 2 })).toEqual({ ...made, approvals_required: 2 });
    expect(await put({ rule_type: 'any_approver', user_ids: [] })).toMatchObject({
      rule_type: 'any_approver',
      users: [],
    });
    expect(bodyOf(await ashlar.root(`GET ${groupRules}`), 200)).toHaveLength(1);
    const second = { name: 'Any', approvals_required: 1 };
    expect(bodyOf(await ashlar.root(`POST ${groupRules}`, { body: second }), 400)).toEqual({
      message: { rule_type: ['any-approver for the group already exists'] },
    });
    expect(bodyOf(await ashlar.root(`GET ${rules}`), 200)).toEqual([]);
    expect(bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200).approvals_before_merge).toBe(0);
  });
});

test('the rules of others are not there', async () => {
  const other = await makeProject(ashlar);
  const { id } = await make({}, `/projects/${other.id}/approval_rules`);
  const ofGroup = await make({}, groupRules);
  for (const each of [id, ofGroup.id]) {
    expect((await ashlar.root(`GET ${rules}/${each}`)).status).toBe(404);
    expect((await ashlar.root(`PUT ${rules}/${each}`, { body: { name: 'x' } })).status).toBe(404);
    expect((await ashlar.root(`DELETE ${rules}/${each}`)).status).toBe(404);
  }
});

test('Developers see the rules of a project, Maintainers change them; Owners have those of a group', async () => {
  const { id } = await make({});
  const statuses = async (user: MadeUser) => {
    const found: number[] = [];
    // In turn: the last one deletes what the first ones show.
    for (const [line, body] of [
      [`GET ${rules}/${id}`, undefined],
      [`PUT ${rules}/${id}`, { name: 'x' }],
      [`GET ${groupRules}`, undefined],
      [`POST ${groupRules}`, { name: 'x', approvals_required: 1 }],
      [`DELETE ${rules}/${id}`, undefined],
    ] as const)
      found.push((await ashlar.as(user.token)(line, body && { body })).status);
    return found;
  };
  expect(await statuses(stranger)).toEqual([404, 404, 404, 404, 404]);
  expect(await statuses(reporter)).toEqual([403, 403, 403, 403, 403]);
  expect(await statuses(developer)).toEqual([200, 403, 403, 403, 403]);
  expect(await statuses(maintainer)).toEqual([200, 200, 403, 403, 204]);
});
