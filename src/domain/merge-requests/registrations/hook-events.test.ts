/** Merge requests and comments on them, as hooks are told. */
import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeMembers } from '../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);
let id = 0;

beforeEach(async () => {
  ({ id } = await makeReviewedProject(ashlar, { visibility: 'public' }));
  receiver.clear();
});
const one = () => `/projects/${id}/merge_requests/1`;
const reach = async (count: number) => {
  await expect.poll(() => receiver.payloads().length).toBe(count);
  return receiver.payloads();
};
const actions = () => receiver.payloads().map(({ object_attributes }) => object_attributes.action);

test('a merge request is told from its opening to its merge', async () => {
  await receiver.listen(ashlar, `/projects/${id}`, { merge_requests_events: true, note_events: true });
  const made = await makeMergeRequest(ashlar, id, 'topic');
  const [opened] = await reach(1);
  expect(opened).toMatchObject({
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: { username: 'root', email: '[REDACTED]' },
    project: { id },
    object_attributes: {
      id: made.id,
      iid: 1,
      action: 'open',
      state: 'opened',
      state_id: 1,
      source_branch: made.source_branch,
      target_branch: made.target_branch,
      last_commit: { id: made.sha },
      source: { id },
      target: { id },
      url: made.web_url,
    },
    labels: [],
    repository: { name: expect.any(String) },
  });
  const body = { title: 'Draft: Another', add_labels: 'stone' };
  bodyOf(await ashlar.root(`PUT ${one()}`, { body }), 200);
  const updated = (await reach(2))[1];
  expect(updated.object_attributes).toMatchObject({ action: 'update', draft: true });
  expect(updated.object_attributes).not.toHaveProperty('oldrev');
  expect(updated.changes).toMatchObject({
    title: { previous: made.title, current: 'Draft: Another' },
    draft: { previous: false, current: true },
    labels: { previous: [], current: [{ title: 'stone' }] },
  });
  await commitTo(ashlar, id, made.source_branch, { 'more.txt': 'more\n' });
  const pushed = (await reach(3))[2];
  expect(pushed.object_attributes).toMatchObject({ action: 'update', oldrev: made.sha });
  bodyOf(await ashlar.root(`POST ${one()}/notes`, { body: { body: 'Hm' } }), 201);
  const noted = (await reach(4))[3];
  expect(noted).toMatchObject({
    object_kind: 'note',
    object_attributes: { noteable_type: 'MergeRequest', note: 'Hm' },
    merge_request: { iid: 1, source_branch: made.source_branch, last_commit: { id: expect.any(String) } },
  });
  bodyOf(await ashlar.root(`PUT ${one()}`, { body: { state_event: 'close' } }), 200);
  await reach(5);
  bodyOf(await ashlar.root(`PUT ${one()}`, { body: { state_event: 'reopen', title: 'Ready' } }), 200);
  await reach(6);
  await waitForFollowing(ashlar);
  bodyOf(await ashlar.root(`PUT ${one()}/merge`), 200);
  await expect.poll(() => actions().at(-1)).toBe('merge');
  expect(actions()).toEqual(['open', 'update', 'update', 'create', 'close', 'reopen', 'merge']);
  expect(receiver.payloads().at(-1)).toMatchObject({
    object_attributes: { state: 'merged', merge_commit_sha: expect.any(String) },
    changes: { state_id: { previous: 1, current: 3 } },
  });
});

test('approvals say whether they are all, and what a push took away', async () => {
  const { developer, maintainer } = await makeMembers(ashlar, `projects/${id}`, 'developer', 'maintainer');
  const rule = { name: 'All', approvals_required: 2 };
  bodyOf(await ashlar.root(`POST /projects/${id}/approval_rules`, { body: rule }), 201);
  const made = await makeMergeRequest(ashlar, id, 'topic');
  await waitForFollowing(ashlar);
  await receiver.listen(ashlar, `/projects/${id}`, { merge_requests_events: true });
  const say = async ({ token }: MadeUser, what: 'approve' | 'unapprove', told: number) => {
    bodyOf(await ashlar.as(token)(`POST ${one()}/${what}`), 201);
    return (await reach(told)).at(-1).object_attributes;
  };
  expect(await say(developer, 'approve', 1)).toMatchObject({ action: 'approval', system: false });
  expect(await say(maintainer, 'approve', 2)).toMatchObject({ action: 'approved', system: false });
  expect(await say(maintainer, 'unapprove', 3)).toMatchObject({ action: 'unapproved' });
  expect(await say(developer, 'unapprove', 4)).toMatchObject({ action: 'unapproval' });
  await say(developer, 'approve', 5);
  await say(maintainer, 'approve', 6);
  await commitTo(ashlar, id, made.source_branch, { 'more.txt': 'more\n' });
  const [pushed, reset] = (await reach(8)).slice(-2);
  expect(pushed.object_attributes).toMatchObject({ action: 'update', oldrev: made.sha, system: false });
  expect(reset.object_attributes).toMatchObject({
    action: 'unapproved',
    system: true,
    system_action: 'approvals_reset_on_push',
  });
});

test('settled threads are told where merging waits for them', async () => {
  const waits = { only_allow_merge_if_all_discussions_are_resolved: true };
  await makeMergeRequest(ashlar, id, 'topic');
  await waitForFollowing(ashlar);
  await receiver.listen(ashlar, `/projects/${id}`, { merge_requests_events: true });
  const settle = async (told: number) => {
    const thread = bodyOf(await ashlar.root(`POST ${one()}/discussions`, { body: { body: 'Why?' } }), 201);
    const body = { resolved: true };
    bodyOf(await ashlar.root(`PUT ${one()}/discussions/${thread.id}`, { body }), 200);
    return (await reach(told)).at(-1).changes;
  };
  expect(await settle(1)).toEqual({});
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: waits }), 200);
  expect(await settle(2)).toEqual({ blocking_discussions_resolved: { previous: false, current: true } });
});

test('a test sends the newest, or says what there must be', async () => {
  const { id: hook } = await receiver.listen(ashlar, `/projects/${id}`, {});
  const trigger = () => ashlar.root(`POST /projects/${id}/hooks/${hook}/test/merge_requests_events`);
  expect((await trigger()).body.message).toBe('Ensure the project has merge requests.');
  await makeMergeRequest(ashlar, id, 'topic');
  expect((await trigger()).status).toBe(201);
  expect(receiver.payloads('Merge Request Hook')).toHaveLength(1);
});

test('a comment on a line has its code, which follows pushes', async () => {
  const made = await makeMergeRequest(ashlar, id, 'topic');
  const { base_sha, head_sha, start_sha } = bodyOf(await ashlar.root(`GET ${one()}`), 200).diff_refs;
  await receiver.listen(ashlar, `/projects/${id}`, { note_events: true });
  const place = { position_type: 'text', old_path: 'topic.txt', new_path: 'topic.txt', new_line: 1 };
  const position = { base_sha, head_sha, start_sha, ...place };
  const codeOf = (line: number) => `${createHash('sha1').update('topic.txt').digest('hex')}_0_${line}`;
  const told = async (count: number) => (await reach(count)).at(-1).object_attributes;
  const begun = { body: { body: 'Why?', position } };
  const thread = bodyOf(await ashlar.root(`POST ${one()}/discussions`, begun), 201);
  expect(await told(1)).toMatchObject({ type: 'DiffNote', line_code: codeOf(1) });
  const answer = { body: { body: 'So' } };
  bodyOf(await ashlar.root(`POST ${one()}/discussions/${thread.id}/notes`, answer), 201);
  expect(await told(2)).toMatchObject({ note: 'So', line_code: codeOf(1) });
  bodyOf(await ashlar.root(`POST ${one()}/draft_notes`, { body: { note: 'Draft', position } }), 201);
  bodyOf(await ashlar.root(`POST ${one()}/draft_notes/bulk_publish`), 204);
  expect(await told(3)).toMatchObject({ note: 'Draft', line_code: codeOf(1) });
  await commitTo(ashlar, id, made.source_branch, { 'topic.txt': 'before\ntopic\n' });
  await waitForFollowing(ashlar);
  const [first] = thread.notes;
  bodyOf(await ashlar.root(`PUT ${one()}/notes/${first.id}`, { body: { body: 'Why so?' } }), 200);
  expect(await told(4)).toMatchObject({ note: 'Why so?', line_code: codeOf(2) });
});
