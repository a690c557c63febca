import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { type ReceivedMail, takeMails } from '../../../../test/support/mails.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { inTransaction } from '../../../platform/db/database.ts';

const DEVELOPER = 30;
const GUEST = 10;

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());
const app = useApp({
  env: { SMTP_URL: smtp.url, ASHLAR_URL: 'https://site.example', ASHLAR_TIER: 'ultimate' },
});

let group: MadeGroup;
let project: MadeProject;
let author: MadeUser;
let peer: MadeUser;

const api = (user: MadeUser) => app.as(user.token);
const mailOf = (user: MadeUser): string => `${user.username}@example.com`;

/** All mails since the last call. */
async function letters(): Promise<ReceivedMail[]> {
  await waitForMail(app);
  return takeMails(smtp);
}

const summary = (all: readonly ReceivedMail[]): string[] =>
  all
    .map(
      ({ to, headers }) => `${to.replace('@example.com', '')} ${headers.get('x-ashlar-notificationreason')}`,
    )
    .sort();

async function makeIssue(
  user: MadeUser,
  attributes: Record<string, unknown> = {},
): Promise<{ id: number; iid: number }> {
  const body = { title: 'Leak', ...attributes };
  return bodyOf(await api(user)(`POST /projects/${project.id}/issues`, { body }), 201);
}

async function say(
  user: MadeUser,
  iid: number,
  body: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  const path = `POST /projects/${project.id}/issues/${iid}/notes`;
  bodyOf(await api(user)(path, { body: { body, ...more } }), 201);
}

/** A mail program's one-click unsubscription (RFC 8058). */
async function clickOnce(mail: ReceivedMail | undefined): Promise<void> {
  expect(mail?.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  const [, path] = /^<https:\/\/site\.example(.*)>$/.exec(mail?.headers.get('list-unsubscribe') ?? '') ?? [];
  const clicked = await app.call(`POST ${path}`, { raw: true, form: 'List-Unsubscribe=One-Click' });
  expect(clicked.status).toBe(200);
}

async function setLevel(user: MadeUser, place: string, body: Record<string, unknown>): Promise<void> {
  bodyOf(await api(user)(`PUT ${place}/notification_settings`, { body }), 200);
}

beforeAll(async () => {
  group = await makeGroup(app);
  project = await makeProject(app, { namespace_id: group.id });
  author = await makeUser(app, { name: 'Ada Author' });
  peer = await makeUser(app, { name: 'Pit Peer' });
  await addMember(app, `groups/${group.id}`, author, DEVELOPER);
  await addMember(app, `projects/${project.id}`, peer, DEVELOPER);
  await letters();
});

describe('what happens to an issue', () => {
  test('reaches those who have to do with it, in one thread, and not whoever did it', async () => {
    const issue = await makeIssue(author, { assignee_ids: [peer.id], description: '**Water** everywhere' });
    const [first, ...none] = await letters();
    expect(none).toEqual([]);
    expect(first).toMatchObject({ to: mailOf(peer), id: `<issue-${issue.id}-${peer.id}@site.example>` });
    expect(first?.subject).toContain(`Leak (#${issue.iid})`);
    expect(first?.text).toContain('Water');
    expect(first?.html).toContain('<strong>Water</strong>');
    expect(first?.headers.get('x-ashlar-project-id')).toBe(String(project.id));

    await say(peer, issue.iid, 'On it');
    const [reply, ...others] = await letters();
    expect(others).toEqual([]);
    expect(reply?.to).toBe(mailOf(author));
    expect(reply?.subject).toMatch(/^Re: /);
    expect(reply?.headers.get('in-reply-to')).toBe(`<issue-${issue.id}-${author.id}@site.example>`);
    expect(reply?.text).toContain('On it');
    expect(reply?.text).toContain(`/-/issues/${issue.iid}#note_`);

    const path = `PUT /projects/${project.id}/issues/${issue.iid}`;
    await api(peer)(path, { body: { state_event: 'close', assignee_ids: [author.id] } });
    const closed = await letters();
    expect(summary(closed)).toEqual([`${author.username} assigned`, `${author.username} author`]);
    const reassigned = closed.find(({ id }) => id.includes('-reassign_issue-'))?.text;
    expect(reassigned).toContain('Pit Peer');
    expect(reassigned).toContain('Ada Author');
    await api(author)(path, { body: { state_event: 'reopen', assignee_ids: [] } });
    const reopened = await letters();
    expect(summary(reopened)).toEqual([`${peer.username} participating`, `${peer.username} participating`]);
    expect(reopened.map(({ id }) => /-(\w+)-\d+@/.exec(id)?.[1]).sort()).toEqual([
      'reassign_issue',
      'reopen_issue',
    ]);
    await api(author)(path, { body: { title: 'Dry' } });
    expect(await letters()).toEqual([]);
  });

  test('reaches watchers of the group and the project, those who chose it, and the mentioned', async () => {
    const watching = await makeUser(app);
    const choosing = await makeUser(app);
    const everywhere = await makeUser(app);
    const quiet = await makeUser(app);
    for (const user of [watching, choosing, everywhere, quiet])
      await addMember(app, `groups/${group.id}`, user, GUEST);
    await letters();
    await setLevel(watching, `/groups/${group.id}`, { level: 'watch' });
    await setLevel(choosing, `/projects/${project.id}`, { level: 'custom', new_issue: true });
    await setLevel(everywhere, '', { level: 'watch' });
    await setLevel(quiet, `/projects/${project.id}`, { level: 'disabled' });
    const issue = await makeIssue(author, {
      title: 'Wide',
      description: `@${quiet.username} @${peer.username}`,
    });
    const told = await letters();
    expect(summary(told)).toEqual(
      [
        `${watching.username} watching`,
        `${choosing.username} custom`,
        `${everywhere.username} watching`,
        `${peer.username} mentioned`,
      ].sort(),
    );
    await clickOnce(told.find(({ to }) => to === mailOf(watching)));
    await say(author, issue.iid, 'more');
    expect(summary(await letters())).toEqual(
      [`${everywhere.username} watching`, `${peer.username} participating`].sort(),
    );
    await setLevel(everywhere, '', { level: 'participating' });
    await setLevel(watching, `/groups/${group.id}`, { level: 'global' });
    await setLevel(choosing, `/projects/${project.id}`, { level: 'global' });
  });

  test('is not told to who cannot see it: strangers, the confidential, and what is for the team', async () => {
    const guest = await makeUser(app);
    const stranger = await makeUser(app);
    await addMember(app, `projects/${project.id}`, guest, GUEST);
    await letters();
    await setLevel(guest, `/projects/${project.id}`, { level: 'watch' });
    await makeIssue(author, { confidential: true, description: `@${guest.username} @${peer.username}` });
    expect(summary(await letters())).toEqual([`${peer.username} mentioned`]);
    const open = await makeIssue(author, { description: `@${stranger.username}` });
    expect(summary(await letters())).toEqual([`${guest.username} watching`]);
    await say(author, open.iid, `@${peer.username} @${guest.username}`, { internal: true });
    expect(summary(await letters())).toEqual([`${peer.username} mentioned`]);
    await setLevel(guest, `/projects/${project.id}`, { level: 'global' });
  });

  test('is told to whoever did it where they ask for that, at the address that they chose', async () => {
    const { sql } = app.app.services.database;
    await sql`update users set notified_of_own_activity = true, notification_email = 'own@example.net' where id = ${author.id}`;
    await makeIssue(author);
    const told = await letters();
    expect(told.map(({ to }) => to)).toEqual(['own@example.net']);
    expect(told[0]?.headers.get('x-ashlar-notificationreason')).toBe('own_activity');
    await sql`update users set notified_of_own_activity = false, notification_email = null where id = ${author.id}`;
  });
});

test('nothing is told of a place that sends no mail, nor of what was rolled back or is gone', async () => {
  const body = { emails_enabled: false };
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body }), 200);
  await makeIssue(author, { assignee_ids: [peer.id] });
  expect(await letters()).toEqual([]);
  bodyOf(await app.root(`PUT /groups/${group.id}`, { body: { emails_enabled: true } }), 200);

  const { database } = app.app.services;
  const issue = await makeIssue(author);
  await letters();
  const fact = {
    name: 'issue_closed',
    payload: { project_id: project.id, user_id: peer.id, issue_id: issue.id, changes: {} },
  };
  const rolledBack = inTransaction(database.db, async (tx) => {
    await announce(tx, { fact });
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  expect(await letters()).toEqual([]);
  await inTransaction(database.db, async (tx) => {
    await announce(tx, { fact });
    await tx.deleteFrom('issues').where('id', '=', issue.id).execute();
  });
  expect(await letters()).toEqual([]);
});

test('a job that runs twice sends the same mail again, and finds that nobody wants it any more', async () => {
  const { database } = app.app.services;
  const issue = await makeIssue(author);
  await letters();
  const tell = () =>
    inTransaction(database.db, (tx) =>
      announce(tx, {
        fact: {
          name: 'issue_closed',
          payload: { project_id: project.id, user_id: peer.id, issue_id: issue.id },
        },
      }),
    );
  await tell();
  const [once] = await letters();
  const factId = Number(/^<(\d+)-close_issue-\d+@/.exec(once?.id ?? '')?.[1]);
  expect(factId).toBeGreaterThan(0);
  const payload = JSON.stringify({
    project_id: project.id,
    user_id: peer.id,
    issue_id: issue.id,
    fact_id: factId,
    fact_at: new Date().toISOString(),
  });
  const again = () =>
    database.sql`select graphile_worker.add_job('notifications.issue_closed', ${payload}::text::json)`;
  await again();
  expect((await letters()).map(({ id }) => id)).toEqual([once?.id]);
  await api(author)(`POST /projects/${project.id}/issues/${issue.iid}/unsubscribe`);
  await again();
  expect(await letters()).toEqual([]);
});

test('what is heard late is not told to those who came to it meanwhile', async () => {
  const { database } = app.app.services;
  const open = await makeProject(app, { visibility: 'public' });
  const later = await makeUser(app);
  const issue = bodyOf(await app.root(`POST /projects/${open.id}/issues`, { body: { title: 'T' } }), 201);
  const body = { body: `@${later.username} look` };
  bodyOf(await app.root(`POST /projects/${open.id}/issues/${issue.iid}/notes`, { body }), 201);
  await letters();
  const payload = { project_id: open.id, user_id: 1, issue_id: issue.id };
  await inTransaction(database.db, (tx) => announce(tx, { fact: { name: 'issue_created', payload } }));
  expect(summary(await letters())).toEqual([]);
});

test('the comments on an epic, a snippet and a commit are told, and a new epic', async () => {
  const epic = bodyOf(
    await api(author)(`POST /groups/${group.id}/epics`, {
      body: { title: 'Harbour', description: `@${peer.username}` },
    }),
    201,
  );
  // Members of the project alone do not see epics of the private group.
  expect(await letters()).toEqual([]);
  const planner = await makeUser(app);
  await addMember(app, `groups/${group.id}`, planner, DEVELOPER);
  await letters();
  await setLevel(planner, `/groups/${group.id}`, { level: 'custom', new_epic: true });
  const second = bodyOf(
    await api(author)(`POST /groups/${group.id}/epics`, { body: { title: 'Port', labels: 'deep' } }),
    201,
  );
  const [told] = await letters();
  expect(told).toMatchObject({ to: mailOf(planner), id: `<epic-${second.id}-${planner.id}@site.example>` });
  bodyOf(
    await api(planner)(`POST /groups/${group.id}/epics/${epic.id}/notes`, { body: { body: 'Deep?' } }),
    201,
  );
  expect(summary(await letters())).toEqual([`${author.username} author`]);
  // Who is no member any more is told nothing, though they took part.
  const leaving = await makeUser(app);
  await addMember(app, `groups/${group.id}`, leaving, DEVELOPER);
  const notes = `POST /groups/${group.id}/epics/${epic.id}/notes`;
  bodyOf(await api(leaving)(notes, { body: { body: 'Mine' } }), 201);
  await letters();
  const again = async () => {
    bodyOf(await app.root(notes, { body: { body: 'Shallow' } }), 201);
    return summary(await letters());
  };
  expect(await again()).toContain(`${leaving.username} participating`);
  await app.app.services.database.sql`delete from members where user_id = ${leaving.id}`;
  expect(await again()).not.toContain(`${leaving.username} participating`);

  const snippet = bodyOf(
    await api(author)(`POST /projects/${project.id}/snippets`, {
      body: { title: 'Notch', visibility: 'private', files: [{ file_path: 'a', content: 'a' }] },
    }),
    201,
  );
  bodyOf(
    await api(peer)(`POST /projects/${project.id}/snippets/${snippet.id}/notes`, { body: { body: 'Nice' } }),
    201,
  );
  const [onSnippet, ...rest] = await letters();
  expect(rest).toEqual([]);
  expect(onSnippet?.to).toBe(mailOf(author));

  const file = { branch: 'main', content: 'a', commit_message: 'Begin' };
  bodyOf(await app.root(`POST /projects/${project.id}/repository/files/a`, { body: file }), 201);
  const [{ id: sha }] = bodyOf(await app.root(`GET /projects/${project.id}/repository/commits`), 200);
  const comments = `POST /projects/${project.id}/repository/commits/${sha}/comments`;
  bodyOf(await api(peer)(comments, { body: { note: `@${author.username} why?` } }), 201);
  const onCommit = (await letters()).find(({ to }) => to === mailOf(author));
  expect(onCommit?.text).toContain(`/-/commit/${sha}`);
  bodyOf(await api(author)(comments, { body: { note: 'Because' } }), 201);
  expect(summary(await letters())).toContain(`${peer.username} participating`);

  const own = {
    ...file,
    branch: 'main',
    commit_message: 'Go on',
    author_email: mailOf(author).toUpperCase(),
  };
  bodyOf(await app.root(`POST /projects/${project.id}/repository/files/b`, { body: own }), 201);
  const [{ id: head }] = bodyOf(await app.root(`GET /projects/${project.id}/repository/commits`), 200);
  const path = `POST /projects/${project.id}/repository/commits/${head}/comments`;
  bodyOf(await api(peer)(path, { body: { note: 'Why?' } }), 201);
  expect(summary(await letters())).toEqual([`${author.username} author`]);
});

test('members hear of a project that moves, alone or with its group', async () => {
  const [from, to] = [await makeGroup(app), await makeGroup(app)];
  const moving = await makeProject(app, { namespace_id: from.id });
  await addMember(app, `projects/${moving.id}`, peer, DEVELOPER);
  await letters();
  bodyOf(await app.root(`PUT /projects/${moving.id}/transfer`, { body: { namespace: to.id } }), 200);
  const toPeer = (all: readonly ReceivedMail[]) => all.filter((each) => each.to === mailOf(peer));
  const [alone, ...others] = toPeer(await letters());
  expect(others).toEqual([]);
  const name = moving.path_with_namespace.split('/').at(-1);
  expect(alone?.text).toContain(`${from.full_path}/${name}`);
  expect(alone?.text).toContain(`${to.full_path}/${name}`);
  const path = uniqueName('renamed');
  bodyOf(await app.root(`PUT /groups/${to.id}`, { body: { path } }), 200);
  const [along] = toPeer(await letters());
  expect(along?.text).toContain(`${to.full_path}/${name}`);
  expect(along?.text).toContain(`${path}/${name}`);
  expect(along?.headers.get('list-unsubscribe')).toContain(`/-/unsubscribe/${peer.id}-project-${moving.id}-`);
  bodyOf(await app.root(`PUT /projects/${moving.id}`, { body: { path: 'elsewhere' } }), 200);
  const [renamed] = toPeer(await letters());
  expect(renamed?.text).toContain(`${path}/${name}`);
  expect(renamed?.text).toContain(`${path}/elsewhere`);
});

describe('what changes between hearing and sending', () => {
  type Told = { user: MadeUser; issue: { id: number; iid: number }; note: { id: number } };
  let open: MadeProject;

  beforeAll(async () => {
    open = await makeProject(app, { visibility: 'public' });
  });

  /** Has `slow` keep so many mails from being sent at once, so that they become jobs; waits for that, and delays them. */
  async function holdLetters(
    happen: () => Promise<void>,
    slow = () => smtp.refuse(1),
    mails = 1,
  ): Promise<void> {
    const { sql } = app.app.services.database;
    await sql`create or replace function hold() returns trigger language plpgsql as $$ begin
      if new.priority = 10 then new.run_at = now() + interval '1 hour'; end if; return new; end $$`;
    await sql`create trigger hold before insert on graphile_worker._private_jobs for each row execute function hold()`;
    slow();
    await happen();
    const isHeld = async (): Promise<boolean> => {
      const [row] = await sql<{ held: number; others: number }[]>`
        select count(*) filter (where run_at > now() + interval '1 minute')::integer as held,
          (count(*) filter (where run_at <= now() + interval '1 minute') + (select count(*) from outbox))::integer as others
        from graphile_worker.jobs`;
      return row?.held === mails && row.others === 0;
    };
    for (let waited = 0; waited < 1_500 && !(await isHeld()); waited++) {
      app.app.services.wake();
      await sleep(20);
    }
    expect(await isHeld()).toBe(true);
    await sql`drop trigger hold on graphile_worker._private_jobs`;
  }

  const change = (body: Record<string, unknown>) => () => app.root(`PUT /projects/${open.id}`, { body });
  const ofUser = (columns: string) => (told: Told) =>
    app.app.services.database.sql.unsafe(`update users set ${columns} where id = ${told.user.id}`);
  const issuePath = ({ issue }: Told) => `/projects/${open.id}/issues/${issue.iid}`;

  test.each<[string, (told: Told) => Promise<unknown>]>([
    [
      'the issue is confidential',
      (told) => app.root(`PUT ${issuePath(told)}`, { body: { confidential: true } }),
    ],
    ['the issue is gone', (told) => app.root(`DELETE ${issuePath(told)}`)],
    ['the note is gone', (told) => app.root(`DELETE ${issuePath(told)}/notes/${told.note.id}`)],
    [
      'the note is for the team',
      ({ note }) => app.app.services.database.sql`update notes set internal = true where id = ${note.id}`,
    ],
    ['the project is private', change({ visibility: 'private' })],
    ['its issues are for members', change({ issues_access_level: 'private' })],
    ['it sends no mail', change({ emails_enabled: false })],
    ['they are blocked', ({ user }) => app.root(`POST /users/${user.id}/block`)],
    ['they are gone', ({ user }) => app.root(`DELETE /users/${user.id}`)],
    ['they are deactivated', ofUser("state = 'deactivated'")],
    ['their address is not confirmed', ofUser('confirmed_at = null')],
    ['they want nothing', ({ user }) => setLevel(user, `/projects/${open.id}`, { level: 'disabled' })],
  ])('%s: no letter', async (_name, happen) => {
    const user = await makeUser(app);
    const issue = bodyOf(await app.root(`POST /projects/${open.id}/issues`, { body: { title: 'T' } }), 201);
    await letters();
    const told: Partial<Told> = { user, issue };
    await holdLetters(async () => {
      const body = { body: `@${user.username} a secret` };
      told.note = bodyOf(
        await app.root(`POST /projects/${open.id}/issues/${issue.iid}/notes`, { body }),
        201,
      );
    });
    await happen(told as Told);
    await app.app.services.database.sql`update graphile_worker._private_jobs set run_at = now()`;
    expect((await letters()).map(({ to }) => to)).toEqual([]);
    await change({ visibility: 'public', issues_access_level: 'enabled', emails_enabled: true })();
  });

  test('an address that is no more theirs gets none: the primary one does', async () => {
    const user = await makeUser(app);
    const email = `other-${mailOf(user)}`;
    const other = bodyOf(
      await app.root(`POST /users/${user.id}/emails`, { body: { email, skip_confirmation: true } }),
      201,
    );
    bodyOf(await api(user)('PUT /notification_settings', { body: { notification_email: email } }), 200);
    await holdLetters(async () => {
      const body = { title: 'T', description: `@${user.username}` };
      bodyOf(await app.root(`POST /projects/${open.id}/issues`, { body }), 201);
    });
    bodyOf(await app.root(`DELETE /users/${user.id}/emails/${other.id}`), 204);
    await app.app.services.database.sql`update graphile_worker._private_jobs set run_at = now()`;
    expect((await letters()).map(({ to }) => to)).toEqual([mailOf(user)]);
  });

  test('where the server is slow, the mails that are left are jobs, and other work goes before them', async () => {
    const users = [await makeUser(app), await makeUser(app), await makeUser(app)];
    const sendIssue = async () => {
      const body = { title: 'T', description: users.map(({ username }) => `@${username}`).join(' ') };
      bodyOf(await app.root(`POST /projects/${open.id}/issues`, { body }), 201);
    };
    await holdLetters(sendIssue, () => smtp.dawdle(1_500), 2);
    expect(smtp.received).toHaveLength(1);
    await app.app.services.database.sql`update graphile_worker._private_jobs set run_at = now()`;
    expect((await letters()).map(({ to }) => to).sort()).toEqual(users.map(mailOf).sort());
  });

  test('a fact that cannot be heard holds up none of those behind it', async () => {
    const user = await makeUser(app);
    const { sql } = app.app.services.database;
    const broken = JSON.stringify({
      project_id: open.id,
      issue_id: 1,
      changes: { assignees: 5 },
      fact_id: 1,
    });
    await sql`select graphile_worker.add_job('notifications.issue_closed', ${broken}::text::json, ${`project ${open.id}`})`;
    const failed = () =>
      sql`select id from graphile_worker.jobs where attempts > 0 and last_error is not null and locked_at is null`;
    for (let waited = 0; waited < 1_500 && (await failed()).length === 0; waited++) await sleep(20);
    const body = { title: 'T', description: `@${user.username}` };
    bodyOf(await app.root(`POST /projects/${open.id}/issues`, { body }), 201);
    for (let waited = 0; waited < 1_500 && smtp.received.length === 0; waited++) {
      app.app.services.wake();
      await sleep(20);
    }
    expect(takeMails(smtp).map(({ to }) => to)).toEqual([mailOf(user)]);
    const [waiting] = await failed();
    await sql`select graphile_worker.complete_jobs(array[${waiting?.id}::bigint])`;
    await letters();
  });
});

test('what fails with one event of a fact sends the mails of no other one again', async () => {
  const issue = await makeIssue(author, { description: `@${peer.username}` });
  await letters();
  const { sql } = app.app.services.database;
  const unreadable = { added: [{ id: 'x', name: 'X' }], removed: [] };
  const fact = {
    project_id: project.id,
    issue_id: issue.id,
    user_id: author.id,
    changes: { assignees: unreadable },
  };
  const payload = JSON.stringify({ ...fact, fact_id: 7, fact_at: new Date().toISOString() });
  await sql`select graphile_worker.add_job('notifications.issue_closed', ${payload}::text::json)`;
  const failed = (attempts: number) =>
    sql`select id from graphile_worker.jobs where attempts >= ${attempts} and last_error is not null and locked_at is null`;
  for (const attempts of [1, 2]) {
    for (let waited = 0; waited < 1_500 && (await failed(attempts)).length === 0; waited++) await sleep(20);
    await sql`update graphile_worker._private_jobs set run_at = now()`;
  }
  const told = takeMails(smtp).map(({ to }) => to);
  expect(told).toContain(mailOf(peer));
  expect(told).toEqual([...new Set(told)]);
  for (const { id } of await failed(1)) await sql`select graphile_worker.complete_jobs(array[${id}::bigint])`;
  await letters();
});

test('a long first line of a commit is no long subject', async () => {
  const open = await makeProject(app, { visibility: 'public' });
  const file = { branch: 'main', content: 'a', commit_message: 'x'.repeat(500_000) };
  bodyOf(await app.root(`POST /projects/${open.id}/repository/files/a`, { body: file }), 201);
  const [{ id: sha }] = bodyOf(await app.root(`GET /projects/${open.id}/repository/commits`), 200);
  const body = { note: `@${peer.username} why?` };
  bodyOf(await app.root(`POST /projects/${open.id}/repository/commits/${sha}/comments`, { body }), 201);
  const [told] = await letters();
  expect(told?.subject).toContain('xxx');
  expect(told?.subject.length).toBeLessThan(400);
  expect(`${told?.text}${told?.html}`).not.toContain('x'.repeat(256));
});

test('each reads of what a text names only what they see, though it is rendered once', async () => {
  const [open, hidden] = [await makeProject(app, { visibility: 'public' }), await makeProject(app)];
  const [insider, outsider] = [await makeUser(app), await makeUser(app)];
  await addMember(app, `projects/${hidden.id}`, insider, DEVELOPER);
  bodyOf(await app.root(`POST /projects/${hidden.id}/issues`, { body: { title: 'Nobody knows' } }), 201);
  await letters();
  const body = {
    title: 'T',
    description: `@${insider.username} @${outsider.username} ${hidden.path_with_namespace}#1`,
  };
  bodyOf(await app.root(`POST /projects/${open.id}/issues`, { body }), 201);
  const told = new Map((await letters()).map(({ to, html }) => [to, html]));
  expect(told.get(mailOf(insider))).toContain('Nobody knows');
  expect(told.get(mailOf(outsider))).toContain('#1');
  expect(told.get(mailOf(outsider))).not.toContain('Nobody knows');
});
