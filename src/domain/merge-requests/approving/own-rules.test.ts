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
  expect((await as(`DELETE ${one}`)).status).toBe(204);
  expect((await as(`GET ${one}`)).status).toBe(404);
  // The project's rule of any approver is another one.
  expect(bodyOf(await ashlar.root(`GET /projects/${id}`), 200).approvals_before_merge).toBe(0);
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
