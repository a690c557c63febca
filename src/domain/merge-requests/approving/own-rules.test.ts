/** Approval rules of merge requests themselves, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });

async function makeWorld() {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic');
  const members = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer');
  const path = `/projects/${id}/merge_requests/1` as const;
  const ofProject = bodyOf(
    await ashlar.root(`POST /projects/${id}/approval_rules`, {
      body: { name: 'Two', approvals_required: 2, user_ids: [members.developer.id] },
    }),
    201,
  );
  const status = async () => bodyOf(await ashlar.root(`GET ${path}`), 200).detailed_merge_status;
  return { id, path, ofProject, status, ...members };
}

test('they replace the project’s, as long as it wants that', async () => {
  const { id, path, ofProject, status, developer } = await makeWorld();
  const as = ashlar.as(developer.token);
  expect(bodyOf(await as(`GET ${path}/approval_rules`), 200)).toEqual([]);
  const body = { name: 'Mine', approvals_required: 0 };
  const made = bodyOf(await as(`POST ${path}/approval_rules`, { body }), 201);
  expect(made).toMatchObject({ ...body, rule_type: 'any_approver', source_rule: null, overridden: false });
  expect(await status()).toBe('mergeable');
  expect((await as(`POST ${path}/approval_rules`, { body })).body.message).toEqual({
    rule_type: ['any-approver for the merge request already exists'],
  });
  const copied = bodyOf(
    await as(`POST ${path}/approval_rules`, {
      body: { name: 'Copy', approvals_required: 1, approval_project_rule_id: ofProject.id },
    }),
    201,
  );
  expect(copied).toMatchObject({
    name: 'Two',
    rule_type: 'regular',
    approvals_required: 1,
    users: [{ id: developer.id }],
    source_rule: { id: ofProject.id },
    overridden: true,
  });
  expect(await status()).toBe('not_approved');
  const state = async () => bodyOf(await ashlar.root(`GET ${path}/approval_state`), 200);
  expect(await state()).toMatchObject({
    approval_rules_overwritten: true,
    rules: [
      { id: made.id, approved: true },
      { id: copied.id, approved: false },
    ],
  });
  const one = `${path}/approval_rules/${copied.id}` as const;
  const changed = { name: 'Other', approvals_required: 0, user_ids: [0] };
  expect(bodyOf(await as(`PUT ${one}`, { body: changed }), 200)).toMatchObject({ name: 'Other', users: [] });
  expect(await status()).toBe('mergeable');
  const limit = { body: { disable_overriding_approvers_per_merge_request: true } };
  bodyOf(await ashlar.root(`POST /projects/${id}/approvals`, limit), 201);
  expect(await state()).toMatchObject({ approval_rules_overwritten: false, rules: [{ id: ofProject.id }] });
  expect(await status()).toBe('not_approved');
  expect((await ashlar.root(`PUT ${one}`, { body: { name: 'New' } })).status).toBe(403);
  expect((await ashlar.root(`DELETE ${one}`)).status).toBe(403);
  const allowed = { body: { disable_overriding_approvers_per_merge_request: false } };
  bodyOf(await ashlar.root(`POST /projects/${id}/approvals`, allowed), 201);
  // What it was approved by went when the project wanted that no more.
  expect(await state()).toMatchObject({ approval_rules_overwritten: false });
  expect((await as(`GET ${one}`)).status).toBe(404);
  const again = bodyOf(await as(`POST ${path}/approval_rules`, { body }), 201);
  expect((await as(`DELETE ${path}/approval_rules/${again.id}`)).status).toBe(204);
  expect((await as(`GET ${path}/approval_rules/${again.id}`)).status).toBe(404);
  // The project's rule of any approver is another one.
  expect(bodyOf(await ashlar.root(`GET /projects/${id}`), 200).approvals_before_merge).toBe(0);
});

const count = async (path: string) =>
  bodyOf(await ashlar.root(`GET ${path}/approvals` as 'GET /'), 200).approvals_required;

test('it asks for more approvals than its project, when it is made or later', async () => {
  const { id, path, ofProject, developer, reporter } = await makeWorld();
  bodyOf(await ashlar.root(`DELETE /projects/${id}/approval_rules/${ofProject.id}`), 204);
  const project = { approvals_before_merge: 1 };
  bodyOf(await ashlar.root(`POST /projects/${id}/approvals`, { body: project }), 201);
  const set = async (body: Record<string, unknown>) =>
    bodyOf(await ashlar.as(developer.token)(`PUT ${path}`, { body }), 200).approvals_before_merge;
  expect(await set({ approvals_before_merge: 3 })).toBe(3);
  expect(await count(path)).toBe(3);
  expect(await set({ title: 'Other' })).toBe(3);
  expect(await set({ approvals_before_merge: 0 })).toBe(0);
  expect(await count(path)).toBe(1);
  expect(await set({ approvals_before_merge: null })).toBe(null);
  const many = { body: { approvals_before_merge: 101 } };
  expect((await ashlar.root(`PUT ${path}`, many)).status).toBe(400);
  expect((await ashlar.as(reporter.token)(`PUT ${path}`, { body: project })).status).toBe(403);
  const made = await makeMergeRequest(ashlar, id, 'second', { approvals_before_merge: 2 });
  expect(made.approvals_before_merge).toBe(2);
  expect(await count(`/projects/${id}/merge_requests/${made.iid}`)).toBe(2);
  const limit = { body: { disable_overriding_approvers_per_merge_request: true } };
  bodyOf(await ashlar.root(`POST /projects/${id}/approvals`, limit), 201);
  expect(await count(`/projects/${id}/merge_requests/${made.iid}`)).toBe(1);
  expect(await set({ approvals_before_merge: 5 })).toBe(null);
});

test('counts of its own rules are changed with it', async () => {
  const { id, path, ofProject, developer } = await makeWorld();
  const as = ashlar.as(developer.token);
  const rule = { name: 'Mine', approvals_required: 1, user_ids: [developer.id] };
  const made = bodyOf(await as(`POST ${path}/approval_rules`, { body: rule }), 201);
  const set = (ruleId: number, title: string) =>
    as(`PUT ${path}`, {
      body: { title, approval_rules_attributes: [{ id: ruleId, approvals_required: 4 }] },
    });
  bodyOf(await set(made.id, 'Four'), 200);
  const shown = async () => bodyOf(await as(`GET ${path}/approval_rules/${made.id}`), 200);
  expect(await shown()).toMatchObject({ name: 'Mine', approvals_required: 4, users: [{ id: developer.id }] });
  expect((await set(ofProject.id, 'None')).status).toBe(404);
  expect(bodyOf(await as(`GET ${path}`), 200).title).toBe('Four');
  bodyOf(await as(`PUT ${path}`, { body: { state_event: 'close' } }), 200);
  bodyOf(await set(ofProject.id, 'Closed'), 200);
  const unasked = { approval_rules_attributes: [{ id: ofProject.id, approvals_required: 0 }] };
  const second = await makeMergeRequest(ashlar, id, 'second', unasked);
  expect(await count(`/projects/${id}/merge_requests/${second.iid}`)).toBe(2);
});

test('a group that wants it no more takes the rules of open merge requests below it', async () => {
  const group = await makeGroup(ashlar);
  const { id } = await makeReviewedProject(ashlar, { namespace_id: group.id });
  const [open, closed] = [await makeMergeRequest(ashlar, id, 'a'), await makeMergeRequest(ashlar, id, 'b')];
  const at = ({ iid }: { iid: number }) => `/projects/${id}/merge_requests/${iid}` as const;
  for (const each of [open, closed])
    bodyOf(
      await ashlar.root(`POST ${at(each)}/approval_rules`, { body: { name: 'Own', approvals_required: 0 } }),
      201,
    );
  bodyOf(await ashlar.root(`PUT ${at(closed)}`, { body: { state_event: 'close' } }), 200);
  const setting = { allow_overrides_to_approver_list_per_merge_request: false };
  const path = `/groups/${group.id}/merge_request_approval_setting` as const;
  bodyOf(await ashlar.root(`PUT ${path}`, { body: setting }), 200);
  const rules = async (each: { iid: number }) =>
    bodyOf(await ashlar.root(`GET ${at(each)}/approval_rules`), 200);
  expect(await rules(open)).toEqual([]);
  expect(await rules(closed)).toHaveLength(1);
});

test('the rules for another branch are at an older address', async () => {
  const { id, path, ofProject, developer } = await makeWorld();
  const protection = { name: 'stable' };
  const branch = bodyOf(
    await ashlar.root(`POST /projects/${id}/protected_branches`, { body: protection }),
    201,
  );
  const rule = {
    name: 'Stable',
    approvals_required: 1,
    protected_branch_ids: [branch.id],
    user_ids: [developer.id],
  };
  const stable = bodyOf(await ashlar.root(`POST /projects/${id}/approval_rules`, { body: rule }), 201);
  const shown = async (query = '') =>
    bodyOf(await ashlar.root(`GET ${path}/approval_settings`, { query }), 200);
  const [named] = [{ id: developer.id }];
  expect(await shown()).toMatchObject({
    approval_rules_overwritten: false,
    rules: [{ id: ofProject.id, approved: false, approvers: [named], eligible_approvers: [named] }],
  });
  const { rules } = await shown('target_branch=stable');
  expect(rules.map(({ id: ruleId }: { id: number }) => ruleId)).toEqual([ofProject.id, stable.id]);
});

test('readers read them, and whose merge request it is not, changes none', async () => {
  const { id, path, ofProject, reporter, developer } = await makeWorld();
  const body = { name: 'Mine', approvals_required: 1, user_ids: [developer.id, (await makeUser(ashlar)).id] };
  const made = bodyOf(await ashlar.root(`POST ${path}/approval_rules`, { body }), 201);
  expect(made.users).toMatchObject([{ id: developer.id }]);
  const as = ashlar.as(reporter.token);
  expect(bodyOf(await as(`GET ${path}/approval_rules/${made.id}`), 200)).toEqual(made);
  expect((await as(`POST ${path}/approval_rules`, { body: { ...body, name: 'b' } })).status).toBe(403);
  expect((await as(`PUT ${path}/approval_rules/${made.id}`, { body: { name: 'b' } })).status).toBe(403);
  expect((await as(`DELETE ${path}/approval_rules/${made.id}`)).status).toBe(403);
  // A project's rule is none of the merge request, and a rule of another project can be no source.
  expect((await ashlar.root(`GET ${path}/approval_rules/${ofProject.id}`)).status).toBe(404);
  expect(
    (await ashlar.root(`PUT /projects/${id}/approval_rules/${made.id}`, { body: { name: 'b' } })).status,
  ).toBe(404);
  const other = await makeWorld();
  const source = { name: 'b', approvals_required: 0, approval_project_rule_id: ofProject.id };
  expect((await ashlar.root(`POST ${other.path}/approval_rules`, { body: source })).status).toBe(404);
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { state_event: 'close' } }), 200);
  expect((await ashlar.root(`POST ${path}/approval_rules`, { body: { ...body, name: 'c' } })).status).toBe(
    403,
  );
});

test('members of a group that the reader does not see are nobody’s business', async () => {
  const { id, path, developer } = await makeWorld();
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { visibility: 'public' } }), 200);
  const hidden = await makeGroup(ashlar);
  const member = await makeUser(ashlar);
  await addMember(ashlar, `groups/${hidden.id}`, member, 30);
  const body = { name: 'Hidden', approvals_required: 1, group_ids: [hidden.id], user_ids: [developer.id] };
  const own = bodyOf(await ashlar.root(`POST ${path}/approval_rules`, { body }), 201);
  const named = { id: developer.id };
  const texts = async (call: typeof ashlar.root) => {
    const records = [`${path}/approvals`, `${path}/approval_state`, `${path}/approval_rules/${own.id}`].map(
      async (line) => bodyOf(await call(`GET ${line}`), 200),
    );
    return Promise.all(records);
  };
  for (const call of [ashlar.call, ashlar.as(developer.token)]) {
    const all = await texts(call);
    expect(JSON.stringify(all)).not.toContain(member.username);
    expect(all).toMatchObject([
      { approvals_left: 1, suggested_approvers: [named] },
      { rules: [{ eligible_approvers: [named], contains_hidden_groups: true }] },
      { eligible_approvers: [named], users: [named], groups: [], contains_hidden_groups: true },
    ]);
  }
  for (const shown of await texts(ashlar.as(member.token)))
    expect(JSON.stringify(shown)).toContain(member.username);
  bodyOf(await ashlar.as(member.token)(`POST ${path}/approve`), 201);
  bodyOf(await ashlar.as(developer.token)(`POST ${path}/approve`), 201);
  const approversFor = async (call: typeof ashlar.root) => {
    const { rules } = bodyOf(await call(`GET ${path}/approval_state`), 200);
    return rules[0].approved_by.map(({ id: userId }: { id: number }) => userId).sort();
  };
  for (const call of [ashlar.call, ashlar.as(developer.token)])
    expect(await approversFor(call)).toEqual([developer.id]);
  expect(await approversFor(ashlar.as(member.token))).toEqual([developer.id, member.id].sort());
});
