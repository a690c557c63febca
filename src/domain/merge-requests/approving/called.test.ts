/** Whom a new merge request calls to approve it: to-dos of who is named, mails to who chose them. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeUser,
} from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { takeMails } from '../../../../test/support/mails.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());
const app = useApp({ env: { SMTP_URL: smtp.url, ASHLAR_TIER: 'premium' } });

let project: MadeProject;
let author: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;
let branches = 0;

const as = (user: MadeUser) => app.as(user.token);
const open = (attributes: Record<string, unknown> = {}) =>
  makeMergeRequest({ root: as(author) }, project.id, `topic-${++branches}`, attributes);

/** Who got a mail about it since the last call. */
async function told(): Promise<string[]> {
  await waitForMail(app);
  return takeMails(smtp)
    .map(({ to }) => to.replace('@example.com', ''))
    .sort();
}
const calls = async (user: MadeUser): Promise<string[]> =>
  bodyOf(await as(user)('GET /todos'), 200).map(
    (todo: { action_name: string; target: { id: number } }) => `${todo.action_name} ${todo.target.id}`,
  );
const addRule = async (body: Record<string, unknown>) =>
  bodyOf(
    await app.root(`POST /projects/${project.id}/approval_rules`, {
      body: { name: 'Team', approvals_required: 1, ...body },
    }),
    201,
  );
const choose = async (user: MadeUser, path = `/projects/${project.id}`) =>
  bodyOf(
    await as(user)(`PUT ${path}/notification_settings`, { body: { level: 'custom', approver: true } }),
    200,
  );

beforeEach(async () => {
  project = await makeReviewedProject(app);
  [author, developer, reporter] = [await makeUser(app), await makeUser(app), await makeUser(app)];
  for (const user of [author, developer]) await addMember(app, `projects/${project.id}`, user, 30);
  await addMember(app, `projects/${project.id}`, reporter, 20);
  await told();
});

describe('to-dos', () => {
  test('come to those whom a rule names, and go with the approval', async () => {
    const [stranger, member] = [await makeUser(app), await makeUser(app)];
    const group = await makeGroup(app);
    await addMember(app, `groups/${group.id}`, member, 30);
    await addMember(app, `projects/${project.id}`, member, 30);
    await addRule({
      user_ids: [author.id, developer.id, reporter.id, stranger.id],
      group_ids: [group.id],
    });
    const { id, iid } = await open();
    await told();
    expect(await calls(developer)).toEqual([`approval_required ${id}`]);
    expect(await calls(reporter)).toEqual([`approval_required ${id}`]);
    for (const user of [author, stranger, member]) expect(await calls(user)).toEqual([]);
    bodyOf(await as(developer)(`POST /projects/${project.id}/merge_requests/${iid}/approve`), 201);
    expect(await calls(developer)).toEqual([]);
    const [todo] = bodyOf(await as(reporter)('GET /todos'), 200);
    expect(todo).toMatchObject({ author: { id: author.id }, target_type: 'MergeRequest', state: 'pending' });
  });

  test('come to those whom a rule of the merge request newly names', async () => {
    const { id, iid } = await open();
    await told();
    const path = `/projects/${project.id}/merge_requests/${iid}/approval_rules`;
    const body = { name: 'Own', approvals_required: 1, user_ids: [author.id, developer.id] };
    const rule = bodyOf(await app.root(`POST ${path}`, { body }), 201);
    expect(await calls(developer)).toEqual([`added_approver ${id}`]);
    expect(await calls(reporter)).toEqual([]);
    const user_ids = [developer.id, reporter.id];
    bodyOf(await app.root(`PUT ${path}/${rule.id}`, { body: { user_ids } }), 200);
    for (const user of [developer, reporter]) expect(await calls(user)).toEqual([`added_approver ${id}`]);
    expect(await calls(author)).toEqual([]);
    const filtered = await as(reporter)('GET /todos', { query: 'action=added_approver' });
    expect(bodyOf(filtered, 200)).toHaveLength(1);
  });

  test('come to code owners whom the file names', async () => {
    await commitTo(app, project.id, 'main', {
      CODEOWNERS: `* @${developer.username} @${reporter.username}\n`,
    });
    await app.root(`PATCH /projects/${project.id}/protected_branches/main`, {
      body: { code_owner_approval_required: true },
    });
    const { id } = await open();
    await told();
    expect(await calls(developer)).toEqual([`approval_required ${id}`]);
    expect(await calls(reporter)).toEqual([]);
  });

  test('do not come from rules that ask for nothing, are for other branches, or came later', async () => {
    const protectedBranch = bodyOf(
      await app.root(`POST /projects/${project.id}/protected_branches`, { body: { name: 'release-*' } }),
      201,
    );
    await addRule({ name: 'Optional', approvals_required: 0, user_ids: [developer.id] });
    await addRule({
      name: 'Release',
      user_ids: [developer.id],
      protected_branch_ids: [protectedBranch.id],
    });
    await open();
    await told();
    await addRule({ name: 'Late', user_ids: [developer.id] });
    await told();
    expect(await calls(developer)).toEqual([]);
  });
});

describe('mails', () => {
  test('come to those who chose them and whose approval a rule waits for', async () => {
    await addRule({ user_ids: [reporter.id] });
    for (const user of [author, developer, reporter]) await choose(user);
    await open();
    expect(await told()).toEqual([reporter.username]);
  });

  test('come to all who may approve where a rule waits for anybody', async () => {
    await addRule({ name: 'All' });
    for (const user of [author, developer, reporter]) await choose(user);
    const stranger = await makeUser(app);
    await choose(stranger, '');
    await open();
    expect(await told()).toEqual([developer.username]);
  });

  test('come by a choice for everything, unless the project is chosen otherwise', async () => {
    const chooser = await makeUser(app);
    await addMember(app, `projects/${project.id}`, chooser, 30);
    await choose(chooser, '');
    await addRule({ name: 'All' });
    await told();
    await open();
    expect(await told()).toEqual([chooser.username]);
    bodyOf(
      await as(chooser)(`PUT /projects/${project.id}/notification_settings`, {
        body: { level: 'participating' },
      }),
      200,
    );
    await open();
    expect(await told()).toEqual([]);
  });

  test('do not come where no rule waits, nor for who no longer reads the project', async () => {
    await choose(developer);
    await open();
    expect(await told()).toEqual([]);
    await addRule({ user_ids: [developer.id] });
    bodyOf(await app.root(`DELETE /projects/${project.id}/members/${developer.id}`), 204);
    await open();
    expect(await told()).toEqual([]);
  });
});
