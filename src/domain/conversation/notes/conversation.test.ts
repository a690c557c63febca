/** Notes, threads and awards over real HTTP: on issues, epics, snippets and commits. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Call, useApp } from '../../../../test/support/app.ts';
import { makeEpic } from '../../../../test/support/epics.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeProject,
  makeSnippet,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();

const GUEST = 10;
const PLANNER = 15;
const MAINTAINER = 40;

let project: { id: number; path_with_namespace: string };
let author: MadeUser;
let guest: MadeUser;
let planner: MadeUser;
let maintainer: MadeUser;
let outsider: MadeUser;

beforeAll(async () => {
  project = await makeProject(ashlar, { visibility: 'public', initialize_with_readme: true });
  [author, guest, planner, maintainer, outsider] = await Promise.all(
    Array.from({ length: 5 }, () => makeUser(ashlar)) as [
      Promise<MadeUser>,
      Promise<MadeUser>,
      Promise<MadeUser>,
      Promise<MadeUser>,
      Promise<MadeUser>,
    ],
  );
  await addMember(ashlar, `projects/${project.id}`, author, GUEST);
  await addMember(ashlar, `projects/${project.id}`, guest, GUEST);
  await addMember(ashlar, `projects/${project.id}`, planner, PLANNER);
  await addMember(ashlar, `projects/${project.id}`, maintainer, MAINTAINER);
});

const as = (user: MadeUser): Call => ashlar.as(user.token);

/** The path of a new issue by the author. */
async function makeIssue(attributes: Record<string, unknown> = {}): Promise<string> {
  const body = { title: 'Something', ...attributes };
  const issue = bodyOf(await as(author)(`POST /projects/${project.id}/issues`, { body }), 201);
  return `/projects/${project.id}/issues/${issue.iid}`;
}

const say = async (path: string, user: MadeUser, body: string, more: Record<string, unknown> = {}) =>
  bodyOf(await as(user)(`POST ${path}/notes`, { body: { body, ...more } }), 201);

describe('notes', () => {
  test('are written, listed, shown, changed and deleted', async () => {
    const path = await makeIssue();
    const note = await say(path, guest, 'Hello');
    expect(note).toMatchObject({
      type: null,
      body: 'Hello',
      author: { id: guest.id },
      system: false,
      noteable_type: 'Issue',
      noteable_iid: Number(path.split('/').at(-1)),
      project_id: project.id,
      commit_id: null,
      resolvable: false,
      internal: false,
      confidential: false,
      commands_changes: {},
    });
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).user_notes_count).toBe(1);
    expect(bodyOf(await ashlar.root(`GET ${path}/notes/${note.id}`), 200)).toEqual(note);
    const listed = bodyOf(
      await ashlar.call(`GET ${path}/notes`, { query: 'activity_filter=only_comments' }),
      200,
    );
    expect(listed).toEqual([note]);
    const changed = await as(guest)(`PUT ${path}/notes/${note.id}`, { body: { body: 'Goodbye' } });
    expect(bodyOf(changed, 200).body).toBe('Goodbye');
    const late = await as(guest)(`DELETE ${path}/notes/${note.id}`, {
      headers: { 'if-unmodified-since': new Date(Date.now() - 86_400_000).toUTCString() },
    });
    expect(late.status).toBe(412);
    expect((await as(guest)(`DELETE ${path}/notes/${note.id}`)).status).toBe(204);
    expect((await as(guest)(`GET ${path}/notes/${note.id}`)).status).toBe(404);
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).user_notes_count).toBe(0);
  });

  test('are ordered as is asked for', async () => {
    const path = await makeIssue();
    const [first, second] = [await say(path, guest, 'one'), await say(path, guest, 'two')];
    await as(guest)(`PUT ${path}/notes/${first.id}`, { body: { body: 'uno' } });
    const ids = async (query: string) =>
      bodyOf(
        await as(guest)(`GET ${path}/notes`, { query: `activity_filter=only_comments&${query}` }),
        200,
      ).map(({ id }: { id: number }) => id);
    expect(await ids('')).toEqual([second.id, first.id]);
    expect(await ids('sort=asc')).toEqual([first.id, second.id]);
    expect(await ids('order_by=updated_at')).toEqual([first.id, second.id]);
    expect(await ids('sort=asc&per_page=1&page=2')).toEqual([second.id]);
  });

  test('tell the system of changes, apart from what people say', async () => {
    const path = await makeIssue();
    await say(path, guest, 'Said');
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { state_event: 'close' } }), 200);
    const told = bodyOf(
      await ashlar.root(`GET ${path}/notes`, { query: 'activity_filter=only_activity' }),
      200,
    );
    expect(told).toMatchObject([{ system: true, body: 'closed' }]);
    const [system] = told;
    expect((await ashlar.root(`PUT ${path}/notes/${system.id}`, { body: { body: 'x' } })).status).toBe(403);
    expect((await ashlar.root(`DELETE ${path}/notes/${system.id}`)).status).toBe(403);
  });

  test('are changed by their authors and by Maintainers only', async () => {
    const path = await makeIssue();
    const note = await say(path, guest, 'Mine');
    const change = (user: MadeUser) => as(user)(`PUT ${path}/notes/${note.id}`, { body: { body: 'Yours' } });
    expect((await change(planner)).status).toBe(403);
    expect((await change(outsider)).status).toBe(403);
    expect((await as(planner)(`DELETE ${path}/notes/${note.id}`)).status).toBe(403);
    expect((await change(maintainer)).status).toBe(200);
    expect((await as(maintainer)(`DELETE ${path}/notes/${note.id}`)).status).toBe(204);
  });

  test('need a text, and an account', async () => {
    const path = await makeIssue();
    const empty = await as(guest)(`POST ${path}/notes`, { body: { body: ' ' } });
    expect([empty.status, empty.body]).toEqual([400, { message: { note: ["can't be blank"] } }]);
    const none = await as(guest)(`POST ${path}/notes`, { body: {} });
    expect([none.status, none.body.error]).toEqual([400, 'body is missing']);
    const long = await as(guest)(`POST ${path}/notes`, { body: { body: 'x'.repeat(1_000_001) } });
    expect(long.status).toBe(400);
    expect((await ashlar.call(`POST ${path}/notes`, { body: { body: 'x' } })).status).toBe(401);
    expect(
      (await as(guest)(`POST /projects/${project.id}/issues/99999/notes`, { body: { body: 'x' } })).status,
    ).toBe(404);
  });

  test('have a time of their own only when an owner says so', async () => {
    const path = await makeIssue();
    const created_at = '2020-01-02T03:04:05.000Z';
    expect((await say(path, guest, 'now', { created_at })).created_at).not.toBe(created_at);
    const body = { body: 'then', created_at };
    expect(bodyOf(await ashlar.root(`POST ${path}/notes`, { body }), 201).created_at).toBe(created_at);
  });

  test('are for members only in a locked discussion', async () => {
    const path = await makeIssue();
    const note = await say(path, outsider, 'Before');
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { discussion_locked: true } }), 200);
    expect((await as(outsider)(`POST ${path}/notes`, { body: { body: 'After' } })).status).toBe(403);
    const change = await as(outsider)(`PUT ${path}/notes/${note.id}`, { body: { body: 'Else' } });
    expect(change.status).toBe(403);
    expect((await as(outsider)(`POST ${path}/award_emoji`, { body: { name: 'tada' } })).status).toBe(403);
    expect((await say(path, guest, 'A member')).body).toBe('A member');
  });

  test('on a confidential issue are for those who see it', async () => {
    const path = await makeIssue({ confidential: true });
    await say(path, author, 'Secret');
    for (const method of ['GET', 'POST']) {
      const refused = await as(guest)(
        `${method} ${path}/notes`,
        method === 'POST' ? { body: { body: 'x' } } : {},
      );
      expect(refused.status).toBe(404);
    }
    expect((await as(guest)(`GET ${path}/discussions`)).status).toBe(404);
    expect((await as(guest)(`GET ${path}/award_emoji`)).status).toBe(404);
    expect(bodyOf(await as(planner)(`GET ${path}/notes`), 200)).not.toHaveLength(0);
  });
});

describe('internal notes', () => {
  test('are written and read by the team alone, in lists, threads and counts', async () => {
    const path = await makeIssue();
    const secret = await say(path, planner, 'For us', { internal: true });
    expect(secret).toMatchObject({ internal: true, confidential: true });
    expect((await as(guest)(`POST ${path}/notes`, { body: { body: 'x', internal: true } })).status).toBe(403);
    expect((await as(author)(`GET ${path}/notes/${secret.id}`)).status).toBe(404);
    expect((await as(author)(`GET ${path}/notes/${secret.id}/award_emoji`)).status).toBe(404);
    const query = 'activity_filter=only_comments';
    expect(bodyOf(await as(author)(`GET ${path}/notes`, { query }), 200)).toEqual([]);
    expect(bodyOf(await as(planner)(`GET ${path}/notes`, { query }), 200)).toHaveLength(1);
    const threads = bodyOf(await as(planner)(`GET ${path}/discussions`), 200);
    const { id } = threads.find(({ notes }: { notes: { id: number }[] }) => notes[0]?.id === secret.id);
    expect(bodyOf(await as(author)(`GET ${path}/discussions`), 200)).not.toContainEqual(
      expect.objectContaining({ id }),
    );
    expect((await as(author)(`GET ${path}/discussions/${id}`)).status).toBe(404);
    const response = { body: { body: 'An answer' } };
    expect((await as(author)(`POST ${path}/discussions/${id}/notes`, response)).status).toBe(404);
    const answered = bodyOf(await as(planner)(`POST ${path}/discussions/${id}/notes`, response), 201);
    expect(answered.internal).toBe(true);
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).user_notes_count).toBe(0);
  });
});

describe('threads', () => {
  test('begin, are answered, settled and opened again', async () => {
    const path = await makeIssue();
    const begun = bodyOf(await as(guest)(`POST ${path}/discussions`, { body: { body: 'Why?' } }), 201);
    expect(begun).toMatchObject({
      individual_note: false,
      notes: [{ type: 'DiscussionNote', resolvable: true, resolved: false, resolved_by: null }],
    });
    expect(begun.id).toMatch(/^[0-9a-f]{40}$/);
    const thread = `${path}/discussions/${begun.id}`;
    const response = bodyOf(await as(author)(`POST ${thread}/notes`, { body: { body: 'Because' } }), 201);
    expect(bodyOf(await ashlar.call(`GET ${thread}/notes`), 200)).toMatchObject([
      { body: 'Why?' },
      { id: response.id },
    ]);
    expect((await as(outsider)(`PUT ${thread}`, { body: { resolved: true } })).status).toBe(403);
    const settled = bodyOf(await as(planner)(`PUT ${thread}`, { body: { resolved: true } }), 200);
    expect(settled.notes).toMatchObject([
      { resolved: true, resolved_by: { id: planner.id } },
      { resolved: true },
    ]);
    const opened = bodyOf(
      await as(guest)(`PUT ${thread}/notes/${response.id}`, { body: { resolved: false } }),
      200,
    );
    expect(opened).toMatchObject({ resolved: false, resolved_by: null, resolved_at: null });
    expect((await as(guest)(`PUT ${thread}/notes/${response.id}`, { body: {} })).status).toBe(400);
    expect((await as(author)(`DELETE ${thread}/notes/${response.id}`)).status).toBe(204);
    expect(bodyOf(await as(guest)(`GET ${thread}`), 200).notes).toHaveLength(1);
    expect((await as(guest)(`GET ${thread}/notes/${response.id}`)).status).toBe(404);
  });

  test('a note for itself becomes one by an answer, and then can be settled', async () => {
    const path = await makeIssue();
    const note = await say(path, guest, 'Alone');
    const query = 'per_page=100';
    const [discussion] = bodyOf(await as(guest)(`GET ${path}/discussions`, { query }), 200);
    expect(discussion).toMatchObject({ individual_note: true, notes: [{ id: note.id, resolvable: false }] });
    const thread = `${path}/discussions/${discussion.id}`;
    expect((await as(planner)(`PUT ${thread}`, { body: { resolved: true } })).status).toBe(400);
    bodyOf(await as(author)(`POST ${thread}/notes`, { body: { body: 'Not any more' } }), 201);
    expect(bodyOf(await as(guest)(`GET ${thread}`), 200)).toMatchObject({
      individual_note: false,
      notes: [{ type: 'DiscussionNote' }, { type: 'DiscussionNote' }],
    });
  });

  test('come in pages, each with all its notes', async () => {
    const path = await makeIssue();
    const ids: string[] = [];
    for (const body of ['one', 'two', 'three'])
      ids.push(bodyOf(await as(guest)(`POST ${path}/discussions`, { body: { body } }), 201).id);
    bodyOf(
      await as(guest)(`POST ${path}/discussions/${ids[1]}/notes`, { body: { body: 'two and a half' } }),
      201,
    );
    const page = await as(guest)(`GET ${path}/discussions`, { query: 'per_page=1&page=2' });
    expect(bodyOf(page, 200)).toMatchObject([
      { id: ids[1], notes: [{ body: 'two' }, { body: 'two and a half' }] },
    ]);
    expect(page.headers.get('x-total')).toBe('3');
  });

  test('what the system says is not answered, and no thread is known elsewhere', async () => {
    const path = await makeIssue();
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { title: 'Another' } }), 200);
    const [system] = bodyOf(await as(guest)(`GET ${path}/discussions`), 200);
    const response = { body: { body: 'x' } };
    expect((await as(guest)(`POST ${path}/discussions/${system.id}/notes`, response)).status).toBe(400);
    const other = await makeIssue();
    expect((await as(guest)(`GET ${other}/discussions/${system.id}`)).status).toBe(404);
    expect((await as(guest)(`GET ${other}/discussions/nothing`)).status).toBe(400);
  });
});

describe('quick actions', () => {
  test('alone they are carried out, and nothing is stored', async () => {
    const path = await makeIssue();
    const done = await as(planner)(`POST ${path}/notes`, {
      body: { body: '/title Better\n/assign me\n/estimate 2h\n/spend 1h\n/react :tada:' },
    });
    expect(done.status).toBe(202);
    expect(done.body.commands_changes).toMatchObject({ title: 'Better', time_estimate: 7_200 });
    expect(done.body.summary).toHaveLength(5);
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toMatchObject({
      title: 'Better',
      assignees: [{ id: planner.id }],
      time_stats: { time_estimate: 7_200, total_time_spent: 3_600 },
      user_notes_count: 0,
    });
    expect(bodyOf(await ashlar.root(`GET ${path}/award_emoji`), 200)).toMatchObject([{ name: 'tada' }]);
  });

  test('within a text they are carried out and left out', async () => {
    const path = await makeIssue();
    const note = await say(path, author, 'Done.\n/close');
    expect(note).toMatchObject({ body: 'Done.', commands_changes: { state_event: 'close' } });
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).state).toBe('closed');
  });

  test('nobody does by them what they may not do', async () => {
    const path = await makeIssue();
    const refused = await as(guest)(`POST ${path}/notes`, { body: { body: '/close\n/confidential' } });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      '400 Bad request - Could not apply close, confidential commands.',
    ]);
    expect(await say(path, outsider, 'Try\n/title Mine\n/lock')).toMatchObject({ body: 'Try' });
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toMatchObject({
      state: 'opened',
      title: 'Something',
      discussion_locked: null,
    });
  });

  test('what the system tells of something hidden does not name it', async () => {
    const hidden = await makeProject(ashlar);
    const made = await ashlar.root(`POST /projects/${hidden.id}/issues`, { body: { title: 'Hidden' } });
    const { iid } = bodyOf(made, 201);
    const [path, secret] = [await makeIssue(), await makeIssue({ confidential: true })];
    const number = secret.split('/').at(-1);
    const body = `/relate ${hidden.path_with_namespace}#${iid} #${number}`;
    expect((await ashlar.root(`POST ${path}/notes`, { body: { body } })).status).toBe(202);
    const told = async (call: Call) =>
      bodyOf(await call(`GET ${path}/notes`, { query: 'sort=asc&activity_filter=only_activity' }), 200).map(
        (note: { body: string }) => note.body,
      );
    expect(await told(ashlar.root)).toEqual([
      `marked this issue as related to ${hidden.path_with_namespace}#${iid}`,
      `marked this issue as related to #${number}`,
    ]);
    for (const call of [as(guest), ashlar.call])
      expect(await told(call)).toEqual(Array(2).fill('marked this issue as related to [hidden]'));
    expect((await told(as(planner)))[1]).toBe(`marked this issue as related to #${number}`);
  });

  test('what the system tells of a hidden epic does not name it', async () => {
    const [path, group] = [await makeIssue(), await makeGroup(ashlar)];
    const epic = await makeEpic(ashlar, group);
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { epic_id: epic.id } }), 200);
    const told = async (call: Call) => bodyOf(await call(`GET ${path}/notes`), 200)[0].body;
    expect(await told(ashlar.root)).toBe(`added to epic ${group.full_path}&${epic.iid}`);
    for (const call of [as(planner), ashlar.call]) expect(await told(call)).toBe('added to epic [hidden]');
  });

  test('of issues that the speaker may not read mean nothing', async () => {
    const other = await makeProject(ashlar, { visibility: 'public' });
    const made = await ashlar.root(`POST /projects/${other.id}/issues`, { body: { title: 'There' } });
    const named = `${other.path_with_namespace}#${bodyOf(made, 201).iid}`;
    const say = async (command: string) =>
      (await as(planner)(`POST ${await makeIssue()}/notes`, { body: { body: `/${command} ${named}` } }))
        .status;
    expect([await say('relate'), await say('duplicate')]).toEqual([202, 202]);
    const body = { issues_access_level: 'private' };
    bodyOf(await ashlar.root(`PUT /projects/${other.id}`, { body }), 200);
    expect([await say('relate'), await say('duplicate')]).toEqual([400, 400]);
  });

  test('an issue is no duplicate of itself', async () => {
    const path = await makeIssue();
    const body = { body: `/duplicate #${path.split('/').at(-1)}` };
    expect((await as(planner)(`POST ${path}/notes`, { body })).status).toBe(400);
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).state).toBe('opened');
  });

  test('relate and subscribe', async () => {
    const [path, other] = [await makeIssue(), await makeIssue()];
    const iid = other.split('/').at(-1);
    const done = await as(planner)(`POST ${path}/notes`, { body: { body: `/relate #${iid}\n/subscribe` } });
    expect(done.status).toBe(202);
    expect(bodyOf(await ashlar.root(`GET ${path}/links`), 200)).toMatchObject([{ iid: Number(iid) }]);
    expect(bodyOf(await as(planner)(`GET ${path}`), 200).subscribed).toBe(true);
  });
});

describe('what others hear', () => {
  const remindersOf = (user: MadeUser) =>
    ashlar.app.services.database.sql<{ action: string; note_id: number | null; state: string }[]>`
      select action, note_id, state from todos where user_id = ${user.id} order by id`;

  test('who is called is reminded, if they may see it; who answers is done', async () => {
    const path = await makeIssue({ confidential: true });
    const before = (await remindersOf(planner)).length;
    const text = `@${planner.username} what says @${guest.username}? \`@${maintainer.username}\``;
    const note = await say(path, author, text);
    expect((await remindersOf(planner)).slice(before)).toEqual([
      { action: 'directly_addressed', note_id: note.id, state: 'pending' },
    ]);
    expect(await remindersOf(guest)).toEqual([]);
    expect(await remindersOf(maintainer)).toEqual([]);
    await say(path, planner, 'Nothing');
    expect((await remindersOf(planner)).slice(before)).toMatchObject([{ state: 'done' }]);
  });

  test('who is called in an internal note is reminded only if of the team; a note takes its reminders along', async () => {
    const path = await makeIssue();
    const body = `See @${guest.username} and @${maintainer.username}`;
    const note = await say(path, planner, body, { internal: true });
    expect(await remindersOf(guest)).toEqual([]);
    expect(await remindersOf(maintainer)).toMatchObject([{ action: 'mentioned', note_id: note.id }]);
    expect((await as(planner)(`DELETE ${path}/notes/${note.id}`)).status).toBe(204);
    expect(await remindersOf(maintainer)).toEqual([]);
  });

  test('the feed and listeners hear of a note', async () => {
    const path = await makeIssue();
    const note = await say(path, guest, 'Heard');
    const { sql } = ashlar.app.services.database;
    const [event] =
      await sql`select * from activity_events where action = 'commented' and target_id = ${note.id}`;
    expect(event).toMatchObject({ author_id: guest.id, project_id: project.id, target_type: 'Note' });
  });
});

describe('awards', () => {
  test('are given once, counted, and taken back by who gave them', async () => {
    const path = await makeIssue();
    const award = bodyOf(await as(guest)(`POST ${path}/award_emoji`, { body: { name: 'thumbsup' } }), 201);
    expect(award).toMatchObject({
      name: 'thumbsup',
      user: { id: guest.id },
      awardable_type: 'Issue',
      url: null,
    });
    const again = await as(guest)(`POST ${path}/award_emoji`, { body: { name: '+1' } });
    expect([again.status, again.body.message]).toEqual([
      404,
      '404 Award Emoji Name has already been taken Not Found',
    ]);
    bodyOf(await as(outsider)(`POST ${path}/award_emoji`, { body: { name: 'thumbsdown' } }), 201);
    expect(bodyOf(await ashlar.call(`GET ${path}`), 200)).toMatchObject({ upvotes: 1, downvotes: 1 });
    expect(bodyOf(await ashlar.call(`GET ${path}/award_emoji`), 200)).toHaveLength(2);
    expect(bodyOf(await ashlar.call(`GET ${path}/award_emoji/${award.id}`), 200)).toEqual(award);
    expect((await as(planner)(`DELETE ${path}/award_emoji/${award.id}`)).status).toBe(401);
    expect((await as(guest)(`DELETE ${path}/award_emoji/${award.id}`)).status).toBe(204);
    expect((await as(guest)(`DELETE ${path}/award_emoji/${award.id}`)).status).toBe(404);
    expect(bodyOf(await ashlar.call(`GET ${path}`), 200)).toMatchObject({ upvotes: 0, downvotes: 1 });
  });

  test('at once the same is given once', async () => {
    const path = await makeIssue();
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => as(guest)(`POST ${path}/award_emoji`, { body: { name: 'thumbsup' } })),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 404, 404, 404, 404]);
    expect(bodyOf(await ashlar.call(`GET ${path}`), 200).upvotes).toBe(1);
  });

  test('are emoji', async () => {
    const path = await makeIssue();
    const wrong = await as(guest)(`POST ${path}/award_emoji`, { body: { name: 'no such thing' } });
    expect([wrong.status, wrong.body.message]).toEqual([
      404,
      '404 Award Emoji Name is not a valid emoji name Not Found',
    ]);
    expect((await ashlar.call(`POST ${path}/award_emoji`, { body: { name: 'tada' } })).status).toBe(401);
  });

  test('are given to notes, but not to what the system says', async () => {
    const path = await makeIssue();
    const note = await say(path, guest, 'Praise me');
    const awards = `${path}/notes/${note.id}/award_emoji`;
    const award = bodyOf(await as(planner)(`POST ${awards}`, { body: { name: 'heart' } }), 201);
    expect(award).toMatchObject({ awardable_id: note.id, awardable_type: 'Note' });
    expect(bodyOf(await ashlar.call(`GET ${awards}`), 200)).toEqual([award]);
    expect((await ashlar.root(`DELETE ${awards}/${award.id}`)).status).toBe(204);
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { state_event: 'close' } }), 200);
    const [system] = bodyOf(
      await ashlar.root(`GET ${path}/notes`, { query: 'activity_filter=only_activity' }),
      200,
    );
    const refused = await as(guest)(`POST ${path}/notes/${system.id}/award_emoji`, {
      body: { name: 'heart' },
    });
    expect(refused.status).toBe(404);
  });
});

describe('elsewhere', () => {
  test('snippets have notes, threads and awards', async () => {
    const snippet = await makeSnippet(ashlar, `/projects/${project.id}/snippets`, maintainer, {
      visibility: 'public',
    });
    const path = `/projects/${project.id}/snippets/${snippet.id}`;
    const note = await say(path, outsider, 'Nice');
    expect(note).toMatchObject({ noteable_type: 'Snippet', noteable_id: snippet.id, noteable_iid: null });
    const begun = bodyOf(await as(outsider)(`POST ${path}/discussions`, { body: { body: 'Why?' } }), 201);
    expect(begun.notes).toMatchObject([{ type: 'DiscussionNote', resolvable: false }]);
    bodyOf(await as(outsider)(`POST ${path}/award_emoji`, { body: { name: 'tada' } }), 201);
    bodyOf(await as(outsider)(`POST ${path}/notes/${note.id}/award_emoji`, { body: { name: 'tada' } }), 201);
    expect((await as(outsider)(`DELETE ${path}/notes/${note.id}`)).status).toBe(204);
  });

  test('private snippets are not talked about by those who do not see them', async () => {
    const snippet = await makeSnippet(ashlar, `/projects/${project.id}/snippets`, maintainer);
    const path = `/projects/${project.id}/snippets/${snippet.id}`;
    expect((await as(outsider)(`GET ${path}/notes`)).status).toBe(404);
    expect((await as(outsider)(`POST ${path}/notes`, { body: { body: 'x' } })).status).toBe(404);
  });

  test('commits have threads, and their comments are in them', async () => {
    const repository = `/projects/${project.id}/repository/commits`;
    const [{ id: sha }] = bodyOf(await ashlar.root(`GET ${repository}`), 200);
    bodyOf(await as(outsider)(`POST ${repository}/${sha}/comments`, { body: { note: 'Old' } }), 201);
    const begun = bodyOf(
      await as(outsider)(`POST ${repository}/main/discussions`, { body: { body: 'New' } }),
      201,
    );
    expect(begun.notes).toMatchObject([{ noteable_type: 'Commit', noteable_id: null, commit_id: sha }]);
    bodyOf(
      await as(outsider)(`POST ${repository}/${sha}/discussions/${begun.id}/notes`, {
        body: { body: 'More' },
      }),
      201,
    );
    expect(bodyOf(await ashlar.call(`GET ${repository}/${sha}/discussions`), 200)).toMatchObject([
      { individual_note: true, notes: [{ body: 'Old' }] },
      { notes: [{ body: 'New' }, { body: 'More' }] },
    ]);
    expect(bodyOf(await ashlar.call(`GET ${repository}/${sha}/comments`), 200)).toHaveLength(3);
    expect((await ashlar.call(`GET ${repository}/nothing/discussions`)).status).toBe(404);
  });

  test('epics have notes by their id, and awards by their number', async () => {
    const group = await makeGroup(ashlar, { visibility: 'public' });
    await addMember(ashlar, `groups/${group.id}`, guest, GUEST);
    // The second epic's number differs from its id.
    const place = `/groups/${group.id}/epics`;
    const made = [];
    for (const title of ['One', 'Two'])
      made.push(bodyOf(await ashlar.root(`POST ${place}`, { body: { title } }), 201));
    const epic = made[1];
    const note = await say(`${place}/${epic.id}`, guest, 'Big');
    expect(note).toMatchObject({
      noteable_type: 'Epic',
      noteable_id: epic.id,
      noteable_iid: 2,
      project_id: null,
    });
    const awards = `${place}/${epic.iid}/notes/${note.id}/award_emoji`;
    bodyOf(await as(guest)(`POST ${awards}`, { body: { name: 'tada' } }), 201);
    bodyOf(await as(guest)(`POST ${place}/${epic.iid}/award_emoji`, { body: { name: 'thumbsup' } }), 201);
    expect(bodyOf(await ashlar.root(`GET ${place}/${epic.iid}`), 200).upvotes).toBe(1);
    const begun = bodyOf(
      await as(guest)(`POST ${place}/${epic.id}/discussions`, { body: { body: 'Why?' } }),
      201,
    );
    const thread = `${place}/${epic.id}/discussions/${begun.id}`;
    expect(bodyOf(await as(guest)(`PUT ${thread}`, { body: { resolved: true } }), 200).notes).toMatchObject([
      { resolved: true },
    ]);
    const closed = await ashlar.root(`POST ${place}/${epic.id}/notes`, {
      body: { body: '/close\n/react :heart:' },
    });
    expect(closed.status).toBe(202);
    expect(bodyOf(await ashlar.root(`GET ${place}/${epic.iid}`), 200).state).toBe('closed');
    expect((await as(guest)(`GET ${place}/${epic.id + 1_000}/notes`)).status).toBe(404);
  });

  test('what others said on an epic is changed by Maintainers, and their threads are settled by Planners', async () => {
    const group = await makeGroup(ashlar, { visibility: 'public' });
    for (const [user, role] of [
      [guest, GUEST],
      [author, GUEST],
      [planner, PLANNER],
      [maintainer, MAINTAINER],
    ] as const)
      await addMember(ashlar, `groups/${group.id}`, user, role);
    const epic = await makeEpic(ashlar, group);
    const path = `/groups/${group.id}/epics/${epic.id}`;
    const note = await say(path, guest, 'Mine');
    const thread = bodyOf(await as(guest)(`POST ${path}/discussions`, { body: { body: 'Why?' } }), 201);
    const change = async (user: MadeUser) =>
      (await as(user)(`PUT ${path}/notes/${note.id}`, { body: { body: 'Ours' } })).status;
    const settle = async (user: MadeUser) =>
      (await as(user)(`PUT ${path}/discussions/${thread.id}`, { body: { resolved: true } })).status;
    expect([await change(author), await change(planner), await change(maintainer)]).toEqual([403, 403, 200]);
    expect([await settle(author), await settle(planner), await settle(guest)]).toEqual([403, 200, 200]);
  });

  test('nothing is said while a project is archived', async () => {
    const archived = await makeProject(ashlar, { visibility: 'public' });
    const body = { title: 'Old' };
    const { iid } = bodyOf(await ashlar.root(`POST /projects/${archived.id}/issues`, { body }), 201);
    bodyOf(await ashlar.root(`POST /projects/${archived.id}/archive`), 201);
    const path = `/projects/${archived.id}/issues/${iid}`;
    expect((await ashlar.root(`POST ${path}/notes`, { body: { body: 'x' } })).status).toBe(403);
    expect((await ashlar.root(`POST ${path}/award_emoji`, { body: { name: 'tada' } })).status).toBe(403);
    expect((await ashlar.root(`GET ${path}/notes`)).status).toBe(200);
  });

  test('who may not read what is talked about is refused before anything else is looked at', async () => {
    const closed = await makeProject(ashlar, { visibility: 'public' });
    const body = Object.fromEntries(
      ['issues', 'snippets', 'repository'].map((part) => [`${part}_access_level`, 'disabled']),
    );
    for (const [kind, status] of [
      ['issues/1', 400],
      ['snippets/1', 400],
      ['repository/commits/main', 400],
    ] as const) {
      const path = `/projects/${closed.id}/${kind}/discussions`;
      const ask = () => as(outsider)(`GET ${path}`, { query: 'per_page=many' });
      expect([kind, (await ask()).status]).toEqual([kind, status]);
    }
    bodyOf(await ashlar.root(`PUT /projects/${closed.id}`, { body }), 200);
    for (const kind of ['issues/1', 'snippets/1', 'repository/commits/main']) {
      const path = `/projects/${closed.id}/${kind}/discussions`;
      expect([kind, (await as(outsider)(`GET ${path}`, { query: 'per_page=many' })).status]).toEqual([
        kind,
        403,
      ]);
    }
  });

  test('nothing is said of issues where they are turned off', async () => {
    const closed = await makeProject(ashlar, { visibility: 'public' });
    const { iid } = bodyOf(
      await ashlar.root(`POST /projects/${closed.id}/issues`, { body: { title: 'x' } }),
      201,
    );
    bodyOf(
      await ashlar.root(`PUT /projects/${closed.id}`, { body: { issues_access_level: 'disabled' } }),
      200,
    );
    const path = `/projects/${closed.id}/issues/${iid}`;
    expect((await as(outsider)(`POST ${path}/notes`, { body: { body: 'x' } })).status).toBe(403);
    expect((await as(outsider)(`GET ${path}/notes`)).status).toBe(403);
  });
});

describe('commands in notes on epics', () => {
  test('of who wrote it, but plans in the group no more, do nothing', async () => {
    const group = await makeGroup(ashlar, { visibility: 'public' });
    const leaving = await makeUser(ashlar);
    await addMember(ashlar, `groups/${group.id}`, leaving, PLANNER);
    const epic = await makeEpic(ashlar, group, {}, leaving);
    expect((await ashlar.root(`DELETE /groups/${group.id}/members/${leaving.id}`)).status).toBe(204);
    const body = { body: '/title Mine\n/close' };
    const response = await as(leaving)(`POST /groups/${group.id}/epics/${epic.id}/notes`, { body });
    expect(response.status).toBe(400);
    expect(bodyOf(await ashlar.root(`GET /groups/${group.id}/epics/${epic.iid}`), 200)).toMatchObject({
      title: epic.title,
      state: 'opened',
    });
  });
});

test('who is called in the note that makes an issue confidential is not reminded of what is hidden then', async () => {
  const path = await makeIssue();
  const called = await makeUser(ashlar);
  await say(path, planner, `/confidential\n@${called.username} @${maintainer.username} look`);
  const rows = await ashlar.app.services.database.sql<{ user_id: number }[]>`
    select t.user_id from todos t join issues i on i.id = t.issue_id
    where i.project_id = ${project.id} and i.iid = ${Number(path.split('/').at(-1))}`;
  expect(rows.map(({ user_id }) => user_id)).toEqual([maintainer.id]);
});

test('who is called in several notes at once is reminded once', async () => {
  const path = await makeIssue();
  const called = await makeUser(ashlar);
  const notes = await Promise.all(Array.from({ length: 8 }, () => say(path, guest, 'Hello')));
  const body = { body: `Look, @${called.username}` };
  const responses = await Promise.all(notes.map(({ id }) => as(guest)(`PUT ${path}/notes/${id}`, { body })));
  expect(responses.map(({ status }) => status)).toEqual(notes.map(() => 200));
  expect(bodyOf(await as(called)('GET /todos'), 200)).toHaveLength(1);
});

test('so many notes a minute by one user: 429, whatever they are about', async () => {
  const [path, other] = [await makeIssue(), await makeIssue()];
  const hasty = await makeUser(ashlar);
  bodyOf(await ashlar.root('PUT /application/settings', { body: { notes_create_limit: 2 } }), 200);
  await say(path, hasty, 'one');
  await say(other, hasty, 'two');
  const refused = await as(hasty)(`POST ${path}/discussions`, { body: { body: 'three' } });
  bodyOf(await ashlar.root('PUT /application/settings', { body: { notes_create_limit: 0 } }), 200);
  expect(refused.status).toBe(429);
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200).user_notes_count).toBe(1);
});

test('what a removed user said is the ghost’s; their awards and subscriptions go, and are not counted', async () => {
  const path = await makeIssue();
  const leaving = await makeUser(ashlar);
  const note = await say(path, leaving, 'Farewell');
  bodyOf(await as(leaving)(`POST ${path}/award_emoji`, { body: { name: 'thumbsup' } }), 201);
  bodyOf(await as(leaving)(`POST ${path}/notes`, { body: { body: '/subscribe' } }), 202);
  expect((await ashlar.root(`DELETE /users/${leaving.id}`)).status).toBe(204);
  await expect
    .poll(async () => bodyOf(await ashlar.root(`GET ${path}/notes/${note.id}`), 200).author.username, {
      timeout: 10_000,
    })
    .not.toBe(leaving.username);
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toMatchObject({ upvotes: 0, user_notes_count: 1 });
  expect(bodyOf(await ashlar.root(`GET ${path}/award_emoji`), 200)).toEqual([]);
});

test('comments of one moment are each counted, announced and answered, short and long, with mentions and without', async () => {
  const [path, other] = [await makeIssue(), await makeIssue()];
  const thread = await say(path, author, 'Where is it?');
  const reply = (body: string) =>
    as(planner)(`POST ${path}/discussions/${thread.discussion_id ?? ''}/notes`, { body: { body } });
  const [discussion] = bodyOf(await ashlar.root(`GET ${path}/discussions`), 200);
  thread.discussion_id = discussion.id;
  const bodies = ['short', `long ${'x'.repeat(20_000)}`, `@${author.username} look`, 'internal'];
  const written = await Promise.all([
    ...Array.from({ length: 40 }, (_, index) =>
      say(index % 2 ? path : other, index % 3 ? planner : maintainer, bodies[index % 4] ?? '', {
        internal: index % 4 === 3,
      }),
    ),
    ...Array.from({ length: 4 }, async (_, index) => bodyOf(await reply(`There ${index}`), 201)),
  ]);
  expect(new Set(written.map(({ id }) => id)).size).toBe(44);
  expect(
    written.every(({ author: { username }, body }, index) =>
      index >= 40
        ? username === planner.username && body === `There ${index - 40}`
        : username === (index % 3 ? planner : maintainer).username && body === bodies[index % 4],
    ),
  ).toBe(true);
  // Of twenty comments on each, ten of one are internal.
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200).user_notes_count).toBe(1 + 10 + 4);
  expect(bodyOf(await ashlar.root(`GET ${other}`), 200).user_notes_count).toBe(20);
  const after = bodyOf(await ashlar.root(`GET ${path}/discussions/${discussion.id}`), 200);
  expect(after).toMatchObject({ individual_note: false });
  expect(after.notes).toHaveLength(5);
  const [counted] = await ashlar.app.services.database.sql<{ events: number }[]>`
    select count(*)::integer as events from activity_events where action = 'commented'
      and target_id = any(${written.map(({ id }) => id)}::bigint[])`;
  expect(counted?.events).toBe(44);
});
