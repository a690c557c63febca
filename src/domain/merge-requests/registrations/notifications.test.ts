/** Mails about merge requests: who gets which, in one thread, and who gets none. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeUser,
} from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { type ReceivedMail, takeMails } from '../../../../test/support/mails.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());
const app = useApp({
  env: { SMTP_URL: smtp.url, ASHLAR_URL: 'https://site.example', ASHLAR_TIER: 'ultimate' },
});

type Made = { id: number; iid: number };

let project: MadeProject;
let author: MadeUser;
let peer: MadeUser;
let reviewer: MadeUser;
let branches = 0;

const api = (user: MadeUser) => app.as(user.token);
const mailOf = (user: MadeUser): string => `${user.username}@example.com`;
const path = ({ iid }: Made, rest = ''): string => `/projects/${project.id}/merge_requests/${iid}${rest}`;

/** All mails since the last call. */
async function letters(): Promise<ReceivedMail[]> {
  await waitForMail(app);
  return takeMails(smtp);
}

/** Who got a mail, why, and of which event it is. */
const summary = (all: readonly ReceivedMail[]): string[] =>
  all
    .map(({ to, id, headers }) => {
      const event = /-([a-z_]+)-\d+@/.exec(id)?.[1] ?? 'new';
      return `${to.replace('@example.com', '')} ${headers.get('x-ashlar-notificationreason')} ${event}`;
    })
    .sort();
const told = async (): Promise<string[]> => summary(await letters());

const open = (attributes: Record<string, unknown> = {}, by = author): Promise<Made> =>
  makeMergeRequest({ root: api(by) }, project.id, `cool-${++branches}`, { title: 'Cool it', ...attributes });

const put = async (made: Made, body: Record<string, unknown>, by = author): Promise<void> => {
  bodyOf(await api(by)(`PUT ${path(made)}`, { body }), 200);
};

const say = async (
  made: Made,
  body: string,
  by: MadeUser,
  more: Record<string, unknown> = {},
): Promise<void> => {
  bodyOf(await api(by)(`POST ${path(made, '/notes')}`, { body: { body, ...more } }), 201);
};

const setLevel = async (user: MadeUser, body: Record<string, unknown>): Promise<void> => {
  bodyOf(await api(user)(`PUT /projects/${project.id}/notification_settings`, { body }), 200);
};

async function tell(name: string, payload: Record<string, Json>): Promise<void> {
  const { db } = app.app.services.database;
  await inTransaction(db, (tx) => announce(tx, { fact: { name, payload } }));
}

beforeAll(async () => {
  author = await makeUser(app, { name: 'Ada Author' });
  peer = await makeUser(app, { name: 'Pit Peer' });
  reviewer = await makeUser(app, { name: 'Rita Reviewer' });
});

beforeEach(async () => {
  project = await makeReviewedProject(app);
  for (const user of [author, peer, reviewer]) await addMember(app, `projects/${project.id}`, user, 40);
  await letters();
});

describe('a new one', () => {
  test('reaches assignees, reviewers and the mentioned, with what it is', async () => {
    const mentioned = await makeUser(app);
    await addMember(app, `projects/${project.id}`, mentioned, 20);
    await letters();
    const made = await open({
      assignee_ids: [peer.id],
      reviewer_ids: [reviewer.id],
      labels: 'cold',
      description: `**Water** for @${mentioned.username}`,
    });
    const all = await letters();
    expect(summary(all)).toEqual(
      [
        `${peer.username} assigned new`,
        `${reviewer.username} review_requested new`,
        `${mentioned.username} mentioned new`,
      ].sort(),
    );
    const mail = all.find(({ to }) => to === mailOf(peer));
    expect(mail?.id).toBe(`<merge_request-${made.id}-${peer.id}@site.example>`);
    expect(mail?.subject).toContain(`Cool it (!${made.iid})`);
    for (const line of [
      'Ada Author opened a merge request:',
      `Branches: cool-${branches} → main`,
      'Assigned to: Pit Peer',
      'Reviewers: Rita Reviewer',
      'Labels: cold',
      `https://site.example/${project.path_with_namespace}/-/merge_requests/${made.iid}`,
    ])
      expect(mail?.text).toContain(`${line}\r\n`);
    expect(mail?.html).toContain('<strong>Water</strong>');
    expect(mail?.headers.get('x-gitlab-mergerequest-iid')).toBe(String(made.iid));
    expect(mail?.headers.get('x-gitlab-mergerequest-state')).toBe('opened');
  });

  test('reaches watchers, those who chose it, and subscribers of its labels', async () => {
    const [watching, choosing, labelled] = [await makeUser(app), await makeUser(app), await makeUser(app)];
    for (const user of [watching, choosing, labelled])
      await addMember(app, `projects/${project.id}`, user, 20);
    await setLevel(watching, { level: 'watch' });
    await setLevel(choosing, { level: 'custom', merge_merge_request: true });
    bodyOf(
      await app.root(`POST /projects/${project.id}/labels`, { body: { name: 'warm', color: '#ff0000' } }),
      201,
    );
    bodyOf(await api(labelled)(`POST /projects/${project.id}/labels/warm/subscribe`), 201);
    await letters();
    const made = await open({ labels: 'warm' });
    expect(await told()).toEqual(
      [`${watching.username} watching new`, `${labelled.username} subscribed new`].sort(),
    );
    bodyOf(await api(author)(`PUT ${path(made, '/merge')}`), 200);
    expect(await told()).toEqual(
      [
        `${watching.username} watching merge_merge_request`,
        `${choosing.username} custom merge_merge_request`,
      ].sort(),
    );
  });

  test('calls an approver once', async () => {
    const [approver, called, silent] = [await makeUser(app), await makeUser(app), await makeUser(app)];
    for (const user of [approver, called, silent]) await addMember(app, `projects/${project.id}`, user, 30);
    for (const user of [approver, called]) await setLevel(user, { level: 'custom', approver: true });
    const user_ids = [approver, called, silent].map(({ id }) => id);
    const rule = { name: 'Team', approvals_required: 1, user_ids };
    bodyOf(await app.root(`POST /projects/${project.id}/approval_rules`, { body: rule }), 201);
    await open({ description: `@${called.username} look` });
    const mails = await letters();
    expect(summary(mails)).toEqual(
      [`${approver.username} custom new`, `${called.username} mentioned new`].sort(),
    );
    const mail = mails.find(({ to }) => to === mailOf(approver));
    expect(mail?.text).toContain('Ada Author opened a merge request that you can approve:');
    expect(mail?.text).toContain(`Branches: cool-${branches} → main`);
  });
});

describe('what happens to one', () => {
  test('comes in the thread of the first mail, to those who have to do with it', async () => {
    const made = await open({ reviewer_ids: [reviewer.id] });
    await letters();
    await say(made, `Why, @${peer.username}?`, reviewer);
    const mails = await letters();
    expect(summary(mails)).toEqual(
      [`${author.username} author new_note`, `${peer.username} mentioned new_note`].sort(),
    );
    const reply = mails.find(({ to }) => to === mailOf(author));
    const first = `<merge_request-${made.id}-${author.id}@site.example>`;
    expect(reply?.headers.get('in-reply-to')).toBe(first);
    expect(reply?.headers.get('references')).toBe(first);
    expect(reply?.subject).toMatch(/^Re: .*Cool it/);
    expect(reply?.text).toContain('Rita Reviewer commented on a merge request:');
    expect(reply?.text).toContain(`/-/merge_requests/${made.iid}#note_`);
    await put(made, { state_event: 'close' });
    expect(await told()).toEqual(
      [
        `${reviewer.username} participating close_merge_request`,
        `${peer.username} participating close_merge_request`,
      ].sort(),
    );
    await put(made, { state_event: 'reopen' }, peer);
    expect(await told()).toEqual(
      [
        `${author.username} author reopen_merge_request`,
        `${reviewer.username} participating reopen_merge_request`,
      ].sort(),
    );
    await put(made, { title: 'Cool it down' });
    expect(await told()).toEqual([]);
    bodyOf(await api(peer)(`PUT ${path(made, '/merge')}`), 200);
    const merged = await letters();
    expect(summary(merged)).toContain(`${author.username} author merge_merge_request`);
    expect(merged[0]?.text).toContain('Pit Peer merged a merge request:');
    expect(merged[0]?.headers.get('x-gitlab-mergerequest-state')).toBe('merged');
  });

  test('assignees and reviewers hear that they are, and that they are no longer', async () => {
    const made = await open({ assignee_ids: [peer.id] });
    await letters();
    await put(made, { assignee_ids: [reviewer.id], reviewer_ids: [peer.id] });
    const mails = await letters();
    expect(summary(mails)).toEqual(
      [
        `${reviewer.username} assigned reassign_merge_request`,
        `${peer.username} unassigned reassign_merge_request`,
        `${peer.username} review_requested change_reviewer_merge_request`,
        `${reviewer.username} participating change_reviewer_merge_request`,
      ].sort(),
    );
    const lines = mails.flatMap(({ text }) => text.split('\r\n'));
    expect(lines).toContain('Assigned to: Pit Peer → Rita Reviewer');
    expect(lines).toContain('Reviewers: nobody → Pit Peer');
    await put(made, { reviewer_ids: [] });
    const gone = await letters();
    expect(summary(gone)).toContain(`${peer.username} unassigned change_reviewer_merge_request`);
    expect(gone[0]?.text).toContain('Reviewers: Pit Peer → nobody');
  });

  test('pushes are told to those who take part, not to who only watches', async () => {
    const watching = await makeUser(app);
    await addMember(app, `projects/${project.id}`, watching, 20);
    const made = await open({ reviewer_ids: [reviewer.id] });
    await setLevel(watching, { level: 'watch' });
    await letters();
    const branch = `cool-${branches}`;
    const by = { root: api(author) };
    for (const number of [1, 2])
      await commitTo(by, project.id, branch, { fan: `${number}\n` }, { message: `Fan ${number}` });
    const mails = await letters();
    expect(new Set(summary(mails))).toEqual(
      new Set([`${reviewer.username} participating push_to_merge_request`]),
    );
    const text = mails.map((mail) => mail.text).join();
    for (const part of [
      'Ada Author pushed to a merge request:',
      `Branches: ${branch} → main`,
      'Fan 1',
      'Fan 2',
    ])
      expect(text).toContain(part);
    const { sha } = bodyOf(await api(peer)(`GET ${path(made)}`), 200);
    expect(text).toContain(`https://site.example/${project.path_with_namespace}/-/commit/${sha}`);
  });

  test('a review is told by one mail, with all that was said', async () => {
    const made = await open();
    await letters();
    for (const note of ['First thing', `Second thing, @${peer.username}`])
      bodyOf(await api(reviewer)(`POST ${path(made, '/draft_notes')}`, { body: { note } }), 201);
    expect(await told()).toEqual([]);
    bodyOf(await api(reviewer)(`POST ${path(made, '/draft_notes/bulk_publish')}`), 204);
    const all = await letters();
    expect(summary(all)).toEqual(
      [`${author.username} author new_note`, `${peer.username} mentioned new_note`].sort(),
    );
    for (const said of ['First thing', 'Second thing'])
      expect(all.find(({ to }) => to === mailOf(author))?.text).toContain(said);
  });

  test('an approval, and that it is taken back, is told to who takes part', async () => {
    const made = await open({ reviewer_ids: [peer.id] });
    await letters();
    bodyOf(await api(reviewer)(`POST ${path(made, '/approve')}`), 201);
    const participants = (event: string) =>
      [`${author.username} author ${event}`, `${peer.username} participating ${event}`].sort();
    const mails = await letters();
    expect(summary(mails)).toEqual(participants('approve_merge_request'));
    expect(mails[0]?.text).toContain('approved a merge request:');
    bodyOf(await api(reviewer)(`POST ${path(made, '/unapprove')}`), 201);
    expect(await told()).toEqual(participants('unapprove_merge_request'));
  });

  test('that the last thread is settled is told to who takes part, and to who watches', async () => {
    const [watching, choosing] = [await makeUser(app), await makeUser(app)];
    for (const user of [watching, choosing]) await addMember(app, `projects/${project.id}`, user, 20);
    const made = await open({ reviewer_ids: [reviewer.id] });
    const threads: string[] = [];
    for (const body of ['Why?', 'How?'])
      threads.push(
        bodyOf(await api(reviewer)(`POST ${path(made, '/discussions')}`, { body: { body } }), 201).id,
      );
    await setLevel(watching, { level: 'watch' });
    await setLevel(choosing, { level: 'custom', new_note: true });
    await letters();
    const settle = async (id: string | undefined) =>
      bodyOf(await api(author)(`PUT ${path(made, `/discussions/${id}`)}`, { body: { resolved: true } }), 200);
    await settle(threads[0]);
    expect(await told()).toEqual([]);
    await settle(threads[1]);
    const mails = await letters();
    expect(summary(mails)).toEqual(
      [
        `${reviewer.username} participating resolve_all_threads`,
        `${watching.username} watching resolve_all_threads`,
      ].sort(),
    );
    expect(mails[0]?.text).toContain('Ada Author resolved all threads of a merge request:');
    await settle(threads[1]);
    expect(await told()).toEqual([]);
  });

  test('that it will be merged as soon as its checks pass is told once', async () => {
    const made = await open({ title: 'Draft: Cool it', reviewer_ids: [reviewer.id] });
    await letters();
    bodyOf(await api(author)(`PUT ${path(made, '/merge')}`, { body: { auto_merge: true } }), 200);
    expect(await told()).toEqual([`${reviewer.username} participating merge_when_pipeline_succeeds`]);
    bodyOf(await api(author)(`POST ${path(made, '/cancel_merge_when_pipeline_succeeds')}`), 201);
    expect(await told()).toEqual([]);
  });
});

describe('nothing is told', () => {
  test('to who ended it by one click, until they are called', async () => {
    const made = await open({ reviewer_ids: [reviewer.id] });
    const [mail] = await letters();
    const link = /^<https:\/\/site\.example(.*)>$/.exec(mail?.headers.get('list-unsubscribe') ?? '')?.[1];
    expect(link).toContain(`-merge_request-${made.id}-`);
    const asked = await app.call(`GET ${link}`, { raw: true });
    expect(asked.text).toContain('No more mails about this merge request?');
    const form = 'List-Unsubscribe=One-Click';
    expect((await app.call(`POST ${link}`, { raw: true, form })).status).toBe(200);
    expect(bodyOf(await api(reviewer)(`GET ${path(made)}`), 200).subscribed).toBe(false);
    await say(made, 'Hello', author);
    expect(await told()).toEqual([]);
    await say(made, `Hello @${reviewer.username}`, author);
    expect(await told()).toEqual([`${reviewer.username} mentioned new_note`]);
    bodyOf(await app.root(`DELETE ${path(made)}`), 204);
    expect((await app.call(`POST ${link}`, { raw: true, form })).status).toBe(200);
  });

  test('to who cannot read it: guests, strangers, former members, and of what is for the team', async () => {
    const { guest, reporter } = await makeMembers(app, `projects/${project.id}`, 'guest', 'reporter');
    const [stranger, leaving] = [await makeUser(app), await makeUser(app)];
    await addMember(app, `projects/${project.id}`, leaving, 30);
    await setLevel(guest, { level: 'watch' });
    await letters();
    const names = [guest, stranger, leaving].map(({ username }) => `@${username}`).join(' ');
    const made = await open({ description: names });
    expect(await told()).toEqual([`${leaving.username} mentioned new`]);
    bodyOf(await app.root(`DELETE /projects/${project.id}/members/${leaving.id}`), 204);
    await say(made, `${names} @${reporter.username}`, author, { internal: true });
    expect(await told()).toEqual([`${reporter.username} mentioned new_note`]);
  });

  test('of one that is gone, or in another project', async () => {
    const made = await open({ reviewer_ids: [reviewer.id] });
    await letters();
    const other = await makeReviewedProject(app);
    const payload = { project_id: other.id, user_id: author.id, merge_request_id: made.id };
    await tell('merge_request_closed', payload);
    expect(await told()).toEqual([]);
    bodyOf(await app.root(`DELETE ${path(made)}`), 204);
    await tell('merge_request_closed', { ...payload, project_id: project.id });
    expect(await told()).toEqual([]);
  });
});
