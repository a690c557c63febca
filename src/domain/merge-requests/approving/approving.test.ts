/** Approving over HTTP: what counts, who may, and that merging waits for it. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Called, ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeMembers,
  makeUser,
} from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit } from '../../../../test/support/git.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { overtake } from '../../../../test/support/races.ts';
import { PASSWORD } from '../../../../test/support/rows.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });

type Caller = { token: string };
const path = (id: number, iid = 1) => `/projects/${id}/merge_requests/${iid}`;
const call = ({ token }: Caller, line: string, body?: Record<string, unknown>): Promise<Called> =>
  ashlar.as(token)(line as 'GET /', { ...(body && { body }) });
const approve = (user: Caller, id: number, body: Record<string, unknown> = {}) =>
  call(user, `POST ${path(id)}/approve`, body);
const shown = async (id: number) => bodyOf(await ashlar.root(`GET ${path(id)}`), 200);
const approvals = async (id: number, user?: Caller) =>
  bodyOf(
    await (user ? call(user, `GET ${path(id)}/approvals`) : ashlar.root(`GET ${path(id)}/approvals`)),
    200,
  );
const notes = async (id: number) =>
  bodyOf(await ashlar.root(`GET ${path(id)}/notes`, { query: 'sort=asc' }), 200).map(
    ({ body }: { body: string }) => body,
  );
const addRule = async (id: number, body: Record<string, unknown>) =>
  bodyOf(
    await ashlar.root(`POST /projects/${id}/approval_rules`, {
      body: { name: 'Rule', approvals_required: 1, ...body },
    }),
    201,
  );
const configure = async (id: number, body: Record<string, unknown>) =>
  bodyOf(await ashlar.root(`POST /projects/${id}/approvals`, { body }), 201);
const merge = (id: number, body: Record<string, unknown> = {}) =>
  ashlar.root(`PUT ${path(id)}/merge`, { body });

/** A project with a merge request of root's, and its members. */
async function makeWorld(attributes: Record<string, unknown> = {}) {
  const { id } = await makeReviewedProject(ashlar, attributes);
  const made = await makeMergeRequest(ashlar, id, 'topic');
  const members = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer', 'maintainer');
  return { id, made, ...members };
}

describe('a rule of any approver', () => {
  test('is met by the approvals that it asks for, and merging waits for them', async () => {
    const { id, made, developer, maintainer } = await makeWorld();
    await addRule(id, { name: 'All', approvals_required: 2 });
    expect((await shown(id)).detailed_merge_status).toBe('not_approved');
    expect(await merge(id)).toMatchObject({ status: 405, body: { message: '405 Method Not Allowed' } });
    expect(await approvals(id, developer)).toMatchObject({
      iid: made.iid,
      merge_status: 'can_be_merged',
      approved: false,
      approvals_required: 2,
      approvals_left: 2,
      approved_by: [],
      approvers: [],
      approver_groups: [],
      user_has_approved: false,
      user_can_approve: true,
      approval_rules_left: [{ name: 'All', rule_type: 'any_approver' }],
      has_approval_rules: true,
    });
    expect(bodyOf(await approve(developer, id, { sha: made.sha }), 201)).toMatchObject({
      approved: false,
      approvals_left: 1,
      user_has_approved: true,
      user_can_approve: false,
      approved_by: [{ user: { id: developer.id } }],
    });
    expect((await approve(developer, id)).status).toBe(401);
    expect(bodyOf(await approve(maintainer, id), 201)).toMatchObject({ approved: true, approvals_left: 0 });
    const [listed] = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests`), 200);
    expect(listed.detailed_merge_status).toBe('mergeable');
    bodyOf(await merge(id), 200);
    expect((await approve(maintainer, id)).status).toBe(401);
    expect((await call(developer, `POST ${path(id)}/unapprove`)).status).toBe(404);
    // The merge's commit mentions it by its own time.
    const own = (await notes(id)).filter((note: string) => !note.startsWith('mentioned in commit'));
    expect(own).toEqual(['approved this merge request', 'approved this merge request']);
  });

  test('is not met any more when an approval is taken back', async () => {
    const { id, developer } = await makeWorld();
    await addRule(id, { name: 'All' });
    bodyOf(await ashlar.root(`PUT ${path(id)}`, { body: { reviewer_ids: [developer.id] } }), 200);
    expect((await call(developer, `POST ${path(id)}/unapprove`)).status).toBe(404);
    const todos = async () => bodyOf(await call(developer, 'GET /todos'), 200);
    expect(await todos()).toHaveLength(1);
    bodyOf(await approve(developer, id), 201);
    expect(await todos()).toEqual([]);
    const states = async () =>
      bodyOf(await ashlar.root(`GET ${path(id)}/reviewers`), 200).map(
        ({ state }: { state: string }) => state,
      );
    expect(await states()).toEqual(['approved']);
    const events = bodyOf(await call(developer, 'GET /events'), 200);
    expect(events[0]).toMatchObject({ action_name: 'approved', target_type: 'MergeRequest', target_iid: 1 });
    expect(bodyOf(await call(developer, `POST ${path(id)}/unapprove`), 201)).toMatchObject({
      approved: false,
      approved_by: [],
      user_has_approved: false,
    });
    expect(await states()).toEqual(['unapproved']);
    expect((await merge(id)).status).toBe(405);
    expect((await notes(id)).slice(-2)).toEqual([
      'approved this merge request',
      'unapproved this merge request',
    ]);
  });
});

describe('an approval of anybody counts no more', () => {
  const members = (id: number) => `/projects/${id}/members`;

  test.each([
    ['of who is blocked', (_: number, user: MadeUser) => ashlar.root(`POST /users/${user.id}/block`)],
    [
      'of who is no member any more',
      (id: number, user: MadeUser) => ashlar.root(`DELETE ${members(id)}/${user.id}`),
    ],
    [
      'of who only reads by now',
      (id: number, user: MadeUser) =>
        ashlar.root(`PUT ${members(id)}/${user.id}`, { body: { access_level: 20 } }),
    ],
    [
      'of whose membership is over',
      (_: number, user: MadeUser) =>
        ashlar.app.services.database.db
          .updateTable('members')
          .set({ expires_at: '2001-01-01' })
          .where('user_id', '=', user.id)
          .execute(),
    ],
  ])('%s', async (_, leave) => {
    const { id, developer, maintainer } = await makeWorld({ visibility: 'public' });
    await addRule(id, { name: 'All' });
    bodyOf(await approve(developer, id), 201);
    expect((await shown(id)).detailed_merge_status).toBe('mergeable');
    await leave(id, developer);
    expect((await shown(id)).detailed_merge_status).toBe('not_approved');
    expect((await merge(id)).status).toBe(405);
    expect(await approvals(id)).toMatchObject({ approved: false, approvals_left: 1 });
    bodyOf(await approve(maintainer, id), 201);
    bodyOf(await merge(id), 200);
  });

  test('unless a rule of the project asks them; one of the merge request’s author does not do', async () => {
    const { id, reporter, maintainer } = await makeWorld();
    const group = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'Asked', path: `asked-${id}` } }),
      201,
    );
    await addMember(ashlar, `groups/${group.id}`, reporter, 10);
    await addRule(id, { name: 'All' });
    const asked = await addRule(id, { name: 'Asked', group_ids: [group.id] });
    bodyOf(await approve(reporter, id), 201);
    expect((await shown(id)).detailed_merge_status).toBe('mergeable');
    bodyOf(await ashlar.root(`DELETE /projects/${id}/approval_rules/${asked.id}`), 204);
    expect((await shown(id)).detailed_merge_status).toBe('not_approved');
    const own = [
      { name: 'Mine', group_ids: [group.id], approvals_required: 1 },
      { name: 'All', approvals_required: 1 },
    ];
    for (const body of own) bodyOf(await ashlar.root(`POST ${path(id)}/approval_rules`, { body }), 201);
    expect((await shown(id)).detailed_merge_status).toBe('not_approved');
    bodyOf(await approve(maintainer, id), 201);
    expect((await shown(id)).detailed_merge_status).toBe('mergeable');
  });
});

describe('who may', () => {
  test('is not the author, nor a reader without a right', async () => {
    const { id, reporter, maintainer } = await makeWorld({ visibility: 'public' });
    await addRule(id, { name: 'All' });
    expect(await ashlar.root(`POST ${path(id)}/approve`)).toMatchObject({
      status: 401,
      body: { message: '401 Unauthorized' },
    });
    expect((await approve(reporter, id)).status).toBe(403);
    expect((await approve(await makeUser(ashlar), id)).status).toBe(403);
    expect((await approve(maintainer, id, { sha: 'f'.repeat(40) })).body.message).toBe(
      `SHA does not match HEAD of source branch: ${(await shown(id)).sha}`,
    );
    await configure(id, { merge_requests_author_approval: true });
    bodyOf(await ashlar.root(`POST ${path(id)}/approve`), 201);
  });

  test('is a named reporter, as long as they are a member; no other approval counts for their rule', async () => {
    const { id, reporter, developer } = await makeWorld();
    const group = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'People', path: `people-${id}` } }),
      201,
    );
    const inGroup = await makeUser(ashlar);
    await addMember(ashlar, `groups/${group.id}`, inGroup, 10);
    await addRule(id, { name: 'Named', user_ids: [reporter.id] });
    await addRule(id, { name: 'Grouped', group_ids: [group.id], approvals_required: 3 });
    bodyOf(await approve(developer, id), 201);
    const state = async () => bodyOf(await ashlar.root(`GET ${path(id)}/approval_state`), 200);
    expect(await state()).toMatchObject({
      approval_rules_overwritten: false,
      rules: [
        {
          name: 'Named',
          rule_type: 'regular',
          code_owner: false,
          approved: false,
          approved_by: [],
          users: [{ id: reporter.id }],
          eligible_approvers: [{ id: reporter.id }],
          source_rule: null,
          overridden: false,
        },
        { name: 'Grouped', approved: false, groups: [{ id: group.id }] },
      ],
    });
    bodyOf(await approve(reporter, id), 201);
    // Private: who is in the group alone does not see it.
    expect((await approve(inGroup, id)).status).toBe(404);
    expect((await shown(id)).detailed_merge_status).toBe('not_approved');
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { visibility: 'public' } }), 200);
    bodyOf(await approve(inGroup, id), 201);
    // The group has two members, of whom one wrote it: all who can approve have.
    expect((await state()).rules.map(({ approved }: { approved: boolean }) => approved)).toEqual([
      true,
      true,
    ]);
    expect((await shown(id)).detailed_merge_status).toBe('mergeable');
    bodyOf(await ashlar.root(`DELETE /groups/${group.id}/members/${inGroup.id}`), 204);
    await ashlar.root(`DELETE /projects/${id}/members/${reporter.id}`);
    expect((await call(reporter, `GET ${path(id)}/approvals`)).body).toMatchObject({
      user_has_approved: true,
      user_can_approve: false,
    });
  });

  test('is whom a rule of the group names, in the projects of which they are members', async () => {
    const group = bodyOf(
      await ashlar.root('POST /groups', {
        body: { name: 'Two', path: `two-${Date.now()}`, visibility: 'public' },
      }),
      201,
    );
    const named = await makeUser(ashlar);
    const places = { namespace_id: group.id, visibility: 'public' };
    const [ours, other] = [await makeWorld(places), await makeWorld(places)];
    await addMember(ashlar, `groups/${group.id}`, named, 20);
    bodyOf(
      await ashlar.root(`POST /groups/${group.id}/approval_rules`, {
        body: { name: 'Named', approvals_required: 1, user_ids: [named.id] },
      }),
      201,
    );
    bodyOf(await ashlar.root(`DELETE /groups/${group.id}/members/${named.id}`), 204);
    await addMember(ashlar, `projects/${ours.id}`, named, 20);
    const eligible = async (id: number) =>
      bodyOf(await ashlar.root(`GET ${path(id)}/approval_state`), 200).rules[0].eligible_approvers;
    expect(await eligible(ours.id)).toMatchObject([{ id: named.id }]);
    expect(await eligible(other.id)).toEqual([]);
    expect((await approve(named, other.id)).status).toBe(403);
    bodyOf(await approve(named, ours.id), 201);
    expect((await shown(ours.id)).detailed_merge_status).toBe('mergeable');
  });

  test('is no committer where that is not wanted', async () => {
    const { id, developer, maintainer } = await makeWorld();
    await addRule(id, { name: 'Two', user_ids: [developer.id, maintainer.id] });
    const actions = [{ action: 'create', file_path: 'more.txt', content: 'more' }];
    const commit = { branch: 'topic', commit_message: 'More', actions };
    bodyOf(await call(developer, `POST /projects/${id}/repository/commits`, commit), 201);
    await waitForFollowing(ashlar);
    expect((await approvals(id, developer)).user_can_approve).toBe(true);
    await configure(id, { merge_requests_disable_committers_approval: true });
    expect(await approvals(id, developer)).toMatchObject({
      user_can_approve: false,
      suggested_approvers: [{ id: maintainer.id }],
    });
    expect((await approve(developer, id)).status).toBe(401);
    bodyOf(await approve(maintainer, id), 201);
    expect((await shown(id)).detailed_merge_status).toBe('mergeable');
  });

  test('is asked for as before when a commit is in their name that they did not make', async () => {
    const { id } = await makeWorld();
    const ada = await makeUser(ashlar, { email: 'ada@example.com' });
    await addMember(ashlar, `projects/${id}`, ada, 30);
    await addRule(id, { name: 'Ada', user_ids: [ada.id] });
    await configure(id, { merge_requests_disable_committers_approval: true });
    expect((await merge(id)).status).toBe(405);
    const home = makeHome();
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const { path_with_namespace } = bodyOf(await ashlar.root(`GET /projects/${id}`), 200);
    const address = addressOf(ashlar.url, path_with_namespace, ROOT_TOKEN);
    await mustGit(home, ['clone', '--quiet', '--branch', 'topic', address, 'work']);
    await commitFiles(join(home, 'work'), { 'evil.txt': 'evil' });
    await mustGit(join(home, 'work'), ['push', '--quiet', 'origin', 'topic']);
    await waitForFollowing(ashlar);
    expect((await approve(ada, id)).status).toBe(401);
    expect(await approvals(id)).toMatchObject({
      approved: false,
      approvals_left: 1,
      suggested_approvers: [],
    });
    expect((await shown(id)).detailed_merge_status).toBe('not_approved');
    expect((await merge(id)).status).toBe(405);
  });

  test('proves by their password who they are, where that is wanted', async () => {
    const { id, developer } = await makeWorld();
    await configure(id, { require_reauthentication_to_approve: true });
    expect((await approvals(id)).require_password_to_approve).toBe(true);
    expect((await approve(developer, id)).status).toBe(401);
    expect((await approve(developer, id, { approval_password: 'wrong' })).status).toBe(401);
    expect((await approvals(id)).approved_by).toEqual([]);
    bodyOf(await approve(developer, id, { approval_password: PASSWORD }), 201);
  });
});

describe('rules for branches', () => {
  test('hold where the target is such a branch; a group’s for protected ones', async () => {
    const group = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'Above', path: 'above-rules' } }),
      201,
    );
    const { id, developer } = await makeWorld({ namespace_id: group.id });
    await commitTo(ashlar, id, 'stable', { 'stable.txt': 'stable' });
    const protectedOne = bodyOf(
      await ashlar.root(`POST /projects/${id}/protected_branches`, { body: { name: 'stable' } }),
      201,
    );
    await addRule(id, { name: 'Stable', user_ids: [developer.id], protected_branch_ids: [protectedOne.id] });
    expect((await shown(id)).detailed_merge_status).toBe('mergeable');
    const rule = { name: 'Above', approvals_required: 1 };
    bodyOf(await ashlar.root(`POST /groups/${group.id}/approval_rules`, { body: rule }), 201);
    const names = async () =>
      bodyOf(await ashlar.root(`GET ${path(id)}/approval_state`), 200).rules.map(
        ({ name }: { name: string }) => name,
      );
    // The first branch of a project is protected.
    expect(await names()).toEqual(['Above']);
    bodyOf(await ashlar.root(`DELETE /projects/${id}/protected_branches/main`), 204);
    expect(await names()).toEqual([]);
    bodyOf(await ashlar.root(`PUT ${path(id)}`, { body: { target_branch: 'stable' } }), 200);
    expect(await names()).toEqual(['Stable', 'Above']);
  });
});

test('one approves once, however often they ask at the same moment', async () => {
  const { id, developer } = await makeWorld();
  const all = await Promise.all(Array.from({ length: 6 }, () => approve(developer, id)));
  expect(all.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401, 401]);
  expect((await approvals(id)).approved_by).toHaveLength(1);
});

describe('what changes while it is merged', () => {
  /** Changes as who holds the merge request, when the merge is about to claim it. */
  const mergeAfter = async (change: (tx: Sql, id: number) => Promise<unknown>) => {
    const { id, made, developer } = await makeWorld();
    await addRule(id, { name: 'All' });
    bodyOf(await approve(developer, id), 201);
    return overtake(
      ashlar,
      async (tx) => {
        await tx`update merge_requests set updated_at = updated_at + interval '1 second' where id = ${made.id}`;
        await change(tx, made.id);
      },
      () => merge(id),
    );
  };

  test('the approval that it needed is taken back: it stays open', async () => {
    const refused = await mergeAfter(
      (tx, id) => tx`delete from merge_request_approvals where merge_request_id = ${id}`,
    );
    expect(refused.status).toBe(405);
  });

  test.each<[what: string, settings: object, change: (tx: Sql, id: number) => Promise<unknown>]>([
    [
      'a thread is begun',
      { only_allow_merge_if_all_discussions_are_resolved: true },
      (
        tx,
        id,
      ) => tx`insert into notes (project_id, merge_request_id, author_id, body, discussion_id, in_thread,
        created_at, updated_at) select project_id, id, 1, 'Why?', 'thread', true, now(), now()
        from merge_requests where id = ${id}`,
    ],
    [
      'another one is to be merged first',
      {},
      (tx, id) => tx`insert into merge_request_blocks (blocking_id, blocked_id, created_at)
        select other.id, ${id}, now() from merge_requests other
        where other.project_id = (select project_id from merge_requests where id = ${id}) and other.id <> ${id} limit 1`,
    ],
    [
      'a status check is asked for',
      { only_allow_merge_if_all_status_checks_passed: true },
      (
        tx,
        id,
      ) => tx`insert into external_status_checks (project_id, name, external_url, created_at, updated_at)
        select project_id, 'Check', 'https://checks.example.com', now(), now() from merge_requests where id = ${id}`,
    ],
    [
      'its title makes it a draft',
      {},
      (tx, id) => tx`update merge_requests set title = 'Draft: ' || title, draft = true where id = ${id}`,
    ],
  ])('%s: it stays open', async (_what, settings, change) => {
    const { id, made } = await makeWorld();
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { description: 'A', ...settings } }), 200);
    await makeMergeRequest(ashlar, id, 'other');
    const refused = await overtake(
      ashlar,
      async (tx) => {
        await tx`update merge_requests set updated_at = updated_at + interval '1 second' where id = ${made.id}`;
        await change(tx, made.id);
      },
      () => merge(id),
    );
    expect(refused.status).toBe(405);
    const { state } = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${made.iid}`), 200);
    expect(state).toBe('opened');
  });

  test('another approval comes: it is merged', async () => {
    const merged = await mergeAfter(
      (tx, id) => tx`
        insert into merge_request_approvals (merge_request_id, user_id, created_at) values (${id}, 1, now())`,
    );
    expect(merged).toMatchObject({ status: 200, body: { state: 'merged' } });
  });
});

test('an automatic merge waits for the last approval', async () => {
  const { id, developer } = await makeWorld();
  await addRule(id, { name: 'All' });
  expect(bodyOf(await merge(id, { auto_merge: true }), 200).state).toBe('opened');
  bodyOf(await approve(developer, id), 201);
  await waitForFollowing(ashlar);
  expect((await shown(id)).state).toBe('merged');
});

test('lists are filtered by who approved', async () => {
  const { id, developer, maintainer } = await makeWorld();
  await makeMergeRequest(ashlar, id, 'other');
  bodyOf(await approve(developer, id), 201);
  bodyOf(await approve(maintainer, id), 201);
  bodyOf(await call(maintainer, `POST ${path(id, 2)}/approve`), 201);
  await makeMergeRequest(ashlar, id, 'third');
  const listed = async (query: string) =>
    bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests`, { query: `sort=asc&${query}` }), 200).map(
      ({ iid }: { iid: number }) => iid,
    );
  expect(await listed(`approved_by_ids[]=${maintainer.id}`)).toEqual([1, 2]);
  expect(await listed(`approved_by_ids[]=${maintainer.id}&approved_by_ids[]=${developer.id}`)).toEqual([1]);
  expect(await listed(`approved_by_usernames[]=${developer.username}`)).toEqual([1]);
  expect(await listed('approved_by_ids=None')).toEqual([3]);
  expect(await listed('approved_by_usernames=Any')).toEqual([1, 2]);
});

test('the message of a merge names who approved', async () => {
  const { id, developer } = await makeWorld({ merge_commit_template: '%{title}\n\n%{approved_by}' });
  bodyOf(await approve(developer, id), 201);
  bodyOf(await merge(id), 200);
  const { message } = bodyOf(await ashlar.root(`GET /projects/${id}/repository/commits/main`), 200);
  expect(message).toMatch(/^Merge topic\n\nApproved-by: .+ <.+@.+>$/);
});

test('a bot removes all approvals, and nobody else', async () => {
  const { id, developer, maintainer } = await makeWorld();
  bodyOf(await approve(developer, id), 201);
  const expires_at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const token = { name: 'bot', scopes: ['api'], access_level: 30, expires_at };
  const bot = bodyOf(await ashlar.root(`POST /projects/${id}/access_tokens`, { body: token }), 201);
  const reset = (user: Caller) => call(user, `PUT ${path(id)}/reset_approvals`);
  expect((await reset(maintainer)).status).toBe(401);
  expect((await approvals(id)).approved_by).toHaveLength(1);
  expect((await reset({ token: bot.token })).status).toBe(202);
  expect((await approvals(id)).approved_by).toEqual([]);
  const set = async (state_event: string) =>
    bodyOf(await ashlar.root(`PUT ${path(id)}`, { body: { state_event } }), 200);
  // What is closed loses approvals like what is open.
  for (const take of [
    () => call(maintainer, `POST ${path(id)}/unapprove`),
    () => reset({ token: bot.token }),
  ]) {
    bodyOf(await approve(maintainer, id), 201);
    await set('close');
    expect((await take()).status).toBeLessThan(300);
    expect((await approvals(id)).approved_by).toEqual([]);
    await set('reopen');
  }
  bodyOf(await merge(id), 200);
  expect((await reset({ token: bot.token })).status).toBe(401);
});

test('drafts are published with an approval that is not refused', async () => {
  const { id, developer } = await makeWorld();
  bodyOf(await call(developer, `POST ${path(id)}/draft_notes`, { note: 'Well done' }), 201);
  expect((await approve(developer, id, { publish_review: true, sha: 'f'.repeat(40) })).status).toBe(409);
  expect(await notes(id)).toEqual([]);
  bodyOf(await approve(developer, id, { publish_review: true }), 201);
  expect(await notes(id)).toEqual(['Well done', 'left review comments', 'approved this merge request']);
  expect(bodyOf(await ashlar.root(`GET ${path(id)}/reviewers`), 200)).toMatchObject([{ state: 'approved' }]);
});

describe('below premium', () => {
  const free = useApp({ env: { ASHLAR_TIER: 'free' } });

  test('approvals are shown, and nothing waits for them', async () => {
    const { id } = await makeReviewedProject(free);
    await makeMergeRequest(free, id, 'topic');
    expect(bodyOf(await free.root(`GET ${path(id)}/approvals`), 200)).toEqual({
      user_has_approved: false,
      user_can_approve: true,
      approved: false,
      approved_by: [],
    });
    expect(bodyOf(await free.root(`GET ${path(id)}`), 200).detailed_merge_status).toBe('mergeable');
    expect(bodyOf(await free.root(`POST ${path(id)}/approve`), 201)).toMatchObject({ approved: true });
    expect((await free.root(`GET ${path(id)}/approval_state`)).status).toBe(403);
  });
});
