/**
 * Two users and a robot work on a project through @gitbeaker/rest and git. The expected activity and mails of
 * each are written here by hand, from the tables of the levels and of the events: no more, and no less.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, commitFiles, mustGit } from '../support/git.ts';
import type { ReceivedMail } from '../support/mails.ts';
import { type Client, inDays, refusal, useGitbeaker } from './gitbeaker-client.ts';
import { type MailServer, startMailServer, waitForMail } from './mail-server.ts';
import { meetPerson, type Person } from './person.ts';
import { callAs, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

const PASSWORD = 'correct horse battery staple';

let mail: MailServer;
const gitbeaker = useGitbeaker(async () => {
  mail = await startMailServer();
  return startProgram({ env: { SMTP_URL: mail.url, ASHLAR_TIER: 'premium' } });
});
afterAll(() => mail.stop());

type Somebody = { id: number; username: string; token: string; api: Client };

/** Ada and Ben work, and so does the robot; the others are only notified, each in another way. */
const people = {} as Record<
  'ada' | 'ben' | 'robot' | 'wanda' | 'cleo' | 'mina' | 'dora' | 'gus' | 'zoe',
  Somebody
>;
let group = 0;
let project = 0;
/** Every mail that was received since the beginning. */
const all: ReceivedMail[] = [];

const reasonOf = ({ headers }: ReceivedMail): string => headers.get('x-ashlar-notificationreason') ?? '';
const nameOf = ({ to }: Pick<ReceivedMail, 'to'>): string => to.replace('@example.com', '');

/** The mails since the last call: none is on its way any more. */
async function newLetters(): Promise<ReceivedMail[]> {
  await waitForMail(gitbeaker.url);
  const mails = mail.letters.splice(0);
  all.push(...mails);
  return mails;
}

/** All new mails have this subject, and went to these users for these reasons. */
async function expectMails(subject: string, readers: Record<string, string>): Promise<ReceivedMail[]> {
  const mails = await newLetters();
  const found = mails.map((mail) => [nameOf(mail), reasonOf(mail), mail.subject]);
  const expected = Object.entries(readers).map(([name, reason]) => [name, reason, subject]);
  expect(found.sort()).toEqual(expected.sort());
  return mails;
}

const expectNoMail = async () =>
  expect((await newLetters()).map(({ to, subject }) => [to, subject])).toEqual([]);

const letterTo = (mails: readonly ReceivedMail[], name: string): ReceivedMail => {
  const mail = mails.find((each) => nameOf(each) === name);
  if (!mail) throw new Error(`no mail to ${name}`);
  return mail;
};

/** The one click of a mail program, which has no session (RFC 8058). */
async function clickOnce({ headers }: ReceivedMail): Promise<void> {
  expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  const [, link = ''] = /^<(.*)>$/.exec(headers.get('list-unsubscribe') ?? '') ?? [];
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  expect((await fetch(link, { method: 'POST', body, redirect: 'manual' })).status).toBe(200);
}

type Event = Record<string, unknown> & {
  id: number;
  action_name: string;
  author_username: string;
  target_type: string | null;
  target_title: string | null;
  push_data?: { ref_type: string; ref: string | null; commit_count: number; ref_count: number | null };
  note?: { body: string };
};

/** In one line: author, action and target. */
function line(event: Event): string {
  const { push_data: push, note } = event;
  const what = push
    ? [push.ref_type, push.ref ?? `${push.ref_count} refs`, push.commit_count]
    : [event.target_type, note ? `"${note.body}"` : event.target_title];
  const who = event.author_username === people.robot.username ? 'robot' : event.author_username;
  return [who, event.action_name, ...what.filter((word) => word !== null && word !== undefined)].join(' ');
}

type Filters = Parameters<Client['Events']['all']>[0];

/** A list of the public client. */
async function listEvents(reader: Client, filters: Filters): Promise<Event[]> {
  // A page by its number is an array; the client's types do not know which of their forms the filters have.
  return (await reader.Events.all(filters)) as unknown as Event[];
}

/** The events of the lists, oldest first. */
const feed = async (reader: Client, filters: Filters = {}): Promise<string[]> =>
  (await listEvents(reader, { sort: 'asc', perPage: 100, ...filters } as Filters)).map(line);

const sessions = new Map<string, Person>();
async function sessionOf(name: string): Promise<Person> {
  const person = sessions.get(name) ?? meetPerson(() => gitbeaker.url);
  if (!sessions.has(name)) await person.signIn(name, PASSWORD);
  sessions.set(name, person);
  return person;
}

beforeAll(async () => {
  for (const name of ['ada', 'ben', 'wanda', 'cleo', 'mina', 'dora', 'gus', 'zoe'] as const)
    people[name] = await gitbeaker.makeUser(name);
  const { ada, ben, wanda, cleo, mina, dora, gus } = people;
  group = (await ada.api.Groups.create<false>('Yard', 'yard', { visibility: 'private' })).id;
  const roles: [Somebody, 10 | 20][] = [
    [wanda, 20],
    [cleo, 20],
    [mina, 20],
    [dora, 20],
    [gus, 10],
  ];
  for (const [{ id }, role] of roles) await ada.api.GroupMembers.add(group, role, { userId: id });
  project = (await ada.api.Projects.create({ name: 'Wall', path: 'wall', namespaceId: group })).id;
  await ada.api.ProjectMembers.add(project, 30, { userId: ben.id });
  const { token, user_id } = await ada.api.ProjectAccessTokens.create(project, 'robot', ['api'], inDays(30), {
    accessLevel: 40,
  });
  const api = gitbeaker.connect(String(token));
  const { username } = await api.Users.showCurrentUser();
  people.robot = { id: Number(user_id), username, token: String(token), api };
});

describe('a day at the wall', () => {
  test('settings: six levels, as the public client reads and writes them', async () => {
    const { ada, wanda, cleo, mina, dora, gus } = people;
    expect(await ada.api.NotificationSettings.show()).toEqual({
      level: 'participating',
      notification_email: 'ada@example.com',
    });
    expect(await ada.api.NotificationSettings.show({ projectId: project })).toEqual({ level: 'global' });
    expect(await wanda.api.NotificationSettings.edit({ groupId: group, level: 'watch' })).toEqual({
      level: 'watch',
    });
    const chosen = await cleo.api.NotificationSettings.edit({
      groupId: group,
      level: 'custom',
      closeIssue: true,
      newEpic: true,
    });
    expect(chosen).toMatchObject({
      level: 'custom',
      events: { close_issue: true, new_epic: true, new_issue: null, new_note: null },
    });
    expect(chosen.events).not.toHaveProperty('approver');
    expect(await mina.api.NotificationSettings.edit({ level: 'mention' })).toMatchObject({
      level: 'mention',
    });
    await dora.api.NotificationSettings.edit({ projectId: project, level: 'disabled' });
    await gus.api.NotificationSettings.edit({ level: 'watch' });
    // An administrator who sees everything and watches their own projects does not get others' mails.
    await gitbeaker.root.NotificationSettings.edit({ level: 'watch' });
    expect((await refusal(ada.api.NotificationSettings.edit({ level: 'loud' })))[0]).toBe(400);
    expect(
      (await refusal(people.zoe.api.NotificationSettings.edit({ projectId: project, level: 'watch' })))[0],
    ).toBe(404);
    // Creating and joining notify no user.
    await expectNoMail();
  });

  let crack = 0;
  let toBen: ReceivedMail;
  test('an issue, from its beginning to its end, is one thread for each of those who hear of it', async () => {
    const { ada, ben, mina, robot } = people;
    const issue = await ada.api.Issues.create(project, 'Crack', {
      description: 'Look, @mina and @dora: it **gapes**',
      assigneeIds: [ben.id],
    });
    crack = issue.id;
    const opened = await expectMails('Wall | Crack (#1)', {
      ben: 'assigned',
      mina: 'mentioned',
      wanda: 'watching',
      gus: 'watching',
    });
    toBen = letterTo(opened, 'ben');
    expect(toBen.id).toBe(`<issue-${crack}-${ben.id}@localhost>`);
    expect(toBen.headers.has('in-reply-to')).toBe(false);
    expect(toBen.text).toContain('Look, @mina and @dora: it **gapes**');
    expect(toBen.html).toContain('<strong>gapes</strong>');
    expect(toBen.headers.get('x-gitlab-issue-iid')).toBe('1');
    expect(toBen.headers.get('x-gitlab-notificationreason')).toBe('assigned');

    await ben.api.IssueNotes.create(project, 1, 'On it, @dora');
    const noted = await expectMails('Re: Wall | Crack (#1)', {
      ada: 'author',
      wanda: 'watching',
      gus: 'watching',
    });
    const first = letterTo(opened, 'wanda').id;
    const reply = letterTo(noted, 'wanda');
    expect([reply.headers.get('in-reply-to'), reply.headers.get('references')]).toEqual([first, first]);
    expect(reply.id).not.toBe(first);
    expect(reply.text).toContain('The ben commented on an issue');

    await ada.api.IssueNotes.create(project, 1, 'Between us, @gus', { internal: true });
    await expectMails('Re: Wall | Crack (#1)', { ben: 'participating', wanda: 'watching' });

    await ben.api.Issues.edit(project, 1, { stateEvent: 'close' });
    await expectMails('Re: Wall | Crack (#1)', {
      ada: 'author',
      wanda: 'watching',
      gus: 'watching',
      cleo: 'custom',
    });
    await robot.api.Issues.edit(project, 1, { stateEvent: 'reopen' });
    const reopened = await expectMails('Re: Wall | Crack (#1)', {
      ada: 'author',
      ben: 'participating',
      wanda: 'watching',
      gus: 'watching',
    });
    // Each mail of the thread refers to its first, whoever wrote it.
    for (const { to, headers } of reopened.filter((mail) => nameOf(mail) !== 'ada'))
      expect(headers.get('in-reply-to')).toBe(letterTo(opened, nameOf({ to })).id);

    await ada.api.Issues.edit(project, 1, { assigneeIds: [mina.id] });
    const reassigned = await expectMails('Re: Wall | Crack (#1)', {
      mina: 'assigned',
      ben: 'unassigned',
      wanda: 'watching',
      gus: 'watching',
    });
    expect(letterTo(reassigned, 'mina').text).toContain('The ben → The mina');

    // Changes of description, labels or plans send no mail.
    await ada.api.Issues.edit(project, 1, { title: 'Crack', labels: 'deep', dueDate: inDays(20) });
    await expectNoMail();
  });

  test('one click ends the mails about a thing, but for those that turn to the reader', async () => {
    const { ada, ben, robot } = people;
    await clickOnce(toBen);
    expect(await ben.api.Issues.show(1, { projectId: project })).toMatchObject({ subscribed: false });
    await robot.api.IssueNotes.create(project, 1, 'Measured: 3 mm');
    await expectMails('Re: Wall | Crack (#1)', { ada: 'author', wanda: 'watching', gus: 'watching' });
    await ada.api.IssueNotes.create(project, 1, 'Is that much, @ben?');
    await expectMails('Re: Wall | Crack (#1)', { ben: 'mentioned', wanda: 'watching', gus: 'watching' });
  });

  test('what somebody does not see is not told to them', async () => {
    const { ada, ben, wanda } = people;
    await ben.api.Issues.create(project, 'Hollow', { confidential: true, description: 'Only @gus knows' });
    const hidden = await expectMails('Wall | Hollow (#2)', { wanda: 'watching' });
    expect(letterTo(hidden, 'wanda').text).toContain('This is confidential');
    await ada.api.IssueNotes.create(project, 2, 'Does @all know?');
    await expectMails('Re: Wall | Hollow (#2)', {
      ben: 'mentioned',
      mina: 'mentioned',
      cleo: 'mentioned',
      wanda: 'mentioned',
    });
    await wanda.api.Issues.unsubscribe(project, 2);
    await ben.api.IssueNotes.create(project, 2, 'They do');
    await expectMails('Re: Wall | Hollow (#2)', { ada: 'participating', cleo: 'participating' });
  });

  test('a label that somebody subscribed to', async () => {
    const { ada, robot } = people;
    await ada.api.ProjectLabels.create(project, 'urgent', 'red');
    // The client requests this below issues, where it is not.
    const subscribed = await callAs(
      gitbeaker.url,
      ada.token,
      `POST /projects/${project}/labels/urgent/subscribe`,
    );
    expect(subscribed.status).toBe(201);
    await robot.api.Issues.create(project, 'Flood', { labels: 'urgent' });
    await expectMails('Wall | Flood (#3)', { ada: 'subscribed', wanda: 'watching', gus: 'watching' });
  });

  test('a thread, and what is done by a line of a note', async () => {
    const { ada, ben, robot } = people;
    const thread = await robot.api.IssueDiscussions.create(project, 3, 'How deep?');
    await expectMails('Re: Wall | Flood (#3)', { wanda: 'watching', gus: 'watching' });
    await ben.api.IssueDiscussions.addNote(project, 3, thread.id, 'To the knee');
    const answered = await expectMails('Re: Wall | Flood (#3)', { wanda: 'watching', gus: 'watching' });
    expect(letterTo(answered, 'gus').text).toContain('The ben replied on an issue');
    await ada.api.IssueNotes.create(project, 3, 'Take it, then\n\n/assign @ben\n/label ~deep');
    const mails = await newLetters();
    expect(mails.map((mail) => [nameOf(mail), reasonOf(mail)]).sort()).toEqual([
      ['ben', 'assigned'],
      ['ben', 'participating'],
      ...[1, 2].map(() => ['gus', 'watching']),
      ...[1, 2].map(() => ['wanda', 'watching']),
    ]);
  });

  test('an epic, of which those hear who are in its group', async () => {
    const { ada, wanda } = people;
    const epic = await ada.api.Epics.create(group, 'Rebuild', { description: 'All, @zoe' });
    const opened = await expectMails('Yard | Rebuild (&1)', {
      cleo: 'custom',
      wanda: 'watching',
      gus: 'watching',
    });
    await wanda.api.EpicNotes.create(group, epic.id, 'At last');
    const noted = await expectMails('Re: Yard | Rebuild (&1)', { ada: 'author', gus: 'watching' });
    expect(letterTo(noted, 'gus').headers.get('references')).toBe(letterTo(opened, 'gus').id);
    expect(letterTo(noted, 'gus').id).not.toBe(letterTo(opened, 'gus').id);
    // The same link in a browser is a page with a form.
    const gus = await sessionOf('gus');
    const [, link = ''] = /^<(.*)>$/.exec(letterTo(noted, 'gus').headers.get('list-unsubscribe') ?? '') ?? [];
    expect((await gus.submit(new URL(link).pathname, {})).text).toContain(
      'You get no more mails about this epic',
    );
    await wanda.api.EpicNotes.create(group, epic.id, 'Soon');
    await expectMails('Re: Yard | Rebuild (&1)', { ada: 'author' });
  });

  test('milestones, wiki pages, and who comes and goes, are no mail', async () => {
    const { ada, ben, zoe } = people;
    const { id } = await ada.api.ProjectMilestones.create(project, 'Spring');
    await ada.api.ProjectMilestones.edit(project, id, { stateEvent: 'close' });
    await ada.api.ProjectMilestones.edit(project, id, { stateEvent: 'activate' });
    const { id: gone } = await ada.api.ProjectMilestones.create(project, 'Summer');
    await ada.api.ProjectMilestones.remove(project, gone);
    await ben.api.ProjectWikis.create(project, 'How we lay stones', 'Home');
    await ben.api.ProjectWikis.edit(project, 'Home', { content: 'Slowly' });
    await ben.api.ProjectWikis.create(project, 'x', 'Draft');
    await ada.api.ProjectWikis.remove(project, 'Draft');
    await ada.api.ProjectMembers.add(project, 20, { userId: zoe.id });
    await ada.api.ProjectMembers.remove(project, zoe.id);
    await expectNoMail();
  });

  let head = '';
  test('pushes by git, by people and the robot, are no mail; what is said of a commit is one', async () => {
    const { ada, ben, robot } = people;
    const home = makeFolder();
    const work = join(home, 'work');
    const address = ({ token }: Somebody) => addressOf(gitbeaker.url, 'yard/wall', token);
    const push = (who: Somebody, ...refs: string[]) => mustGit(work, ['push', '-q', address(who), ...refs]);
    await mustGit(home, ['init', '-q', work]);
    await commitFiles(work, { 'README.md': '# Wall\n' }, 'First course');
    await push(ada, 'main');
    await commitFiles(work, { 'wall.txt': 'stones\n' }, 'Second course');
    await commitFiles(work, { 'wall.txt': 'stones and mortar\n' }, 'Mortar');
    await push(ben, 'main:refs/heads/upper');
    await push(robot, 'main:refs/tags/v1.0');
    await push(ben, ...Array.from({ length: 5 }, (_, number) => `main:refs/heads/course-${number}`));
    await commitFiles(work, { 'wall.txt': 'a wall\n' }, 'Third course');
    await push(ben, 'main:refs/heads/upper');
    await push(ben, ':refs/heads/upper');
    head = (await mustGit(work, ['rev-parse', 'HEAD~1'])).trim();
    await expectNoMail();
    await ben.api.Commits.createComment(project, head, 'Straight, @ada?');
    // A guest of a private project reads no code.
    await expectMails(`Re: Wall | Mortar (${head.slice(0, 8)})`, { ada: 'mentioned', wanda: 'watching' });
  });

  test('a snippet: whoever wrote it hears what is said of it', async () => {
    const { ada, ben } = people;
    const files = [{ content: 'plumb', filePath: 'plumb.txt' }];
    const { id } = await ben.api.ProjectSnippets.create(project, 'Plumb line', {
      visibility: 'private',
      files,
    });
    await expectNoMail();
    await ada.api.ProjectSnippetNotes.create(project, id, 'Handy');
    const mails = await newLetters();
    expect(mails.map((mail) => [nameOf(mail), reasonOf(mail)]).sort()).toEqual([
      ['ben', 'author'],
      ['gus', 'watching'],
      ['wanda', 'watching'],
    ]);
  });

  test('whoever wants to hear of what they do themselves does', async () => {
    const { ada } = people;
    const person = await sessionOf('ada');
    const saved = await person.submit('/-/profile/notifications', {
      level: 'participating',
      notification_email: '',
      notified_of_own_activity: '1',
    });
    expect(saved.location).toContain('saved=1');
    await ada.api.IssueNotes.create(project, 3, 'Pumped out');
    const flood = { wanda: 'watching', gus: 'watching' };
    await expectMails('Re: Wall | Flood (#3)', { ada: 'own_activity', ben: 'participating', ...flood });
    await person.submit('/-/profile/notifications', { level: 'participating', notification_email: '' });
    await ada.api.IssueNotes.create(project, 3, 'All of it');
    await expectMails('Re: Wall | Flood (#3)', { ben: 'participating', ...flood });
  });

  test('mail goes where its reader wants it, for as long as that address is theirs', async () => {
    const { ada, ben } = people;
    const email = 'ben-at-work@example.com';
    const added = await callAs(gitbeaker.url, ROOT_TOKEN, `POST /users/${ben.id}/emails`, {
      email,
      skip_confirmation: true,
    });
    expect(added.status).toBe(201);
    expect(await ben.api.NotificationSettings.edit({ notificationEmail: email })).toEqual({
      level: 'participating',
      notification_email: email,
    });
    await ada.api.IssueNotes.create(project, 3, 'Is it dry?');
    await expectMails('Re: Wall | Flood (#3)', {
      'ben-at-work': 'participating',
      wanda: 'watching',
      gus: 'watching',
    });
    const own = await ben.api.UserEmails.all();
    await ben.api.UserEmails.remove(own.find((each) => each.email === email)?.id ?? 0);
    expect(await ben.api.NotificationSettings.show()).toMatchObject({
      notification_email: 'ben@example.com',
    });
  });

  test('nobody who is blocked hears, and nobody at all where mail is turned off', async () => {
    const { ada, ben, gus } = people;
    await gitbeaker.root.Users.block(gus.id);
    await ada.api.IssueNotes.create(project, 3, 'Dry');
    await expectMails('Re: Wall | Flood (#3)', { ben: 'participating', wanda: 'watching' });
    await gitbeaker.root.Users.unblock(gus.id);
    // Their sessions have ended.
    sessions.delete('gus');
    await ada.api.Projects.edit(project, { emailsDisabled: true });
    await ben.api.IssueNotes.create(project, 3, 'Really, @ada?');
    await expectNoMail();
    await ada.api.Projects.edit(project, { emailsDisabled: false });
  });

  /** Addresses of this site in the mail, in both of its parts. */
  function addressesOf({ text, html, headers }: ReceivedMail): string[] {
    const marked = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    );
    const plain = text.match(/https?:\/\/[^\s<>)]+/g) ?? [];
    const header = /<(.*)>/.exec(headers.get('list-unsubscribe') ?? '')?.[1] ?? '';
    return [...marked, ...plain, header];
  }

  /** Opens every address in the mails as their readers; returns those that do not lead to a page. */
  async function follow(mails: readonly ReceivedMail[]): Promise<{ followed: number; broken: string[] }> {
    const wanted = new Set(mails.flatMap((each) => addressesOf(each).map((url) => `${nameOf(each)} ${url}`)));
    const broken: string[] = [];
    for (const each of wanted) {
      const [name = '', url = ''] = each.replace('-at-work', '').split(' ');
      if (!url.startsWith(`${gitbeaker.url}/`)) broken.push(`not absolute ${each}`);
      const person = await sessionOf(name);
      let response = await person.get(url.replace(/#.*/, ''));
      for (let hops = 0; hops < 3 && response.location !== null; hops++)
        response = await person.get(response.location);
      if (response.status !== 200 || /<title>Sign in/.test(response.text))
        broken.push(`${response.status} ${each}`);
      const anchor = /#(note_\d+)$/.exec(url)?.[1];
      if (anchor !== undefined && !response.text.includes(`id="${anchor}"`)) broken.push(`no anchor ${each}`);
    }
    return { followed: wanted.size, broken };
  }

  test('every address in every mail leads its reader to a page', async () => {
    const { followed, broken } = await follow(all);
    expect(broken).toEqual([]);
    expect(followed).toBeGreaterThan(60);
    // Opening the page behind a link unsubscribes no user.
    expect(await people.ada.api.Issues.show(1, { projectId: project })).toMatchObject({ subscribed: true });
  });

  test('the feed of the project, for each who sees another part of it', async () => {
    const { ada, ben, gus, zoe, wanda } = people;
    const whole = [
      'ada created',
      'ben joined',
      'robot joined',
      'ada opened Issue Crack',
      'ben commented on Note "On it, @dora"',
      'ada commented on Note "Between us, @gus"',
      'ben closed Issue Crack',
      'robot opened Issue Crack',
      'robot commented on Note "Measured: 3 mm"',
      'ada commented on Note "Is that much, @ben?"',
      'ben opened Issue Hollow',
      'ada commented on Note "Does @all know?"',
      'ben commented on Note "They do"',
      'robot opened Issue Flood',
      'robot commented on DiscussionNote "How deep?"',
      'ben commented on DiscussionNote "To the knee"',
      'ada commented on Note "Take it, then"',
      'ada opened Milestone Spring',
      'ada closed Milestone Spring',
      'ada opened Milestone Spring',
      'ada destroyed Milestone Summer',
      'ben created WikiPage::Meta Home',
      'ben updated WikiPage::Meta Home',
      'ada destroyed WikiPage::Meta Draft',
      'zoe joined',
      'zoe left',
      'ada pushed new branch main 1',
      'ben pushed new branch upper 2',
      'robot pushed new tag v1.0 1',
      'ben pushed new branch 5 refs 0',
      'ben pushed to branch upper 1',
      'ben deleted branch upper 0',
      'ben commented on Note "Straight, @ada?"',
      'ada commented on Note "Handy"',
      'ada commented on Note "Pumped out"',
      'ada commented on Note "All of it"',
      'ada commented on Note "Is it dry?"',
      'ada commented on Note "Dry"',
      'ben commented on Note "Really, @ada?"',
    ];
    const inProject = { projectId: project };
    expect(await feed(ada.api, inProject)).toEqual(whole);
    expect(await feed(wanda.api, inProject)).toEqual(whole);
    expect(await feed(gitbeaker.root, inProject)).toEqual(whole);
    const hidden = /pushed|deleted|Hollow|Between us|Does @all|They do|Straight/;
    expect(await feed(gus.api, inProject)).toEqual(whole.filter((event) => !hidden.test(event)));
    expect((await refusal(feed(zoe.api, inProject)))[0]).toBe(404);

    const of = (name: string, events = whole) => events.filter((event) => event.startsWith(`${name} `));
    // A user's own events leave epics out; and events that the reader may not see are left out.
    for (const [name, own] of [
      ['ada', ada],
      ['ben', ben],
      ['robot', people.robot],
    ] as const) {
      expect([name, await feed(own.api)]).toEqual([name, of(name)]);
      expect(await feed(wanda.api, { userId: own.username })).toEqual(of(name));
      expect(await feed(gus.api, { userId: own.id })).toEqual(
        of(name).filter((event) => !hidden.test(event)),
      );
      expect(await feed(zoe.api, { userId: own.id })).toEqual([]);
    }
    expect(await feed(wanda.api, { scope: 'all' })).toEqual(whole);
    expect(await feed(wanda.api)).toEqual([]);
    expect(await feed(zoe.api, { scope: 'all' })).toEqual([]);
    expect((await refusal(feed(ada.api, { userId: 'nobody-at-all' })))[0]).toBe(404);
    const setPrivate = (private_profile: boolean) =>
      callAs(gitbeaker.url, ROOT_TOKEN, `PUT /users/${ben.id}`, { private_profile });
    await setPrivate(true);
    expect(await feed(wanda.api, { userId: 'ben' })).toEqual([]);
    expect(await feed(ben.api, { userId: 'ben' })).toEqual(of('ben'));
    expect(await feed(wanda.api, inProject)).toEqual(whole);
    await setPrivate(false);
    const { token } = await gitbeaker.root.Users.createPersonalAccessToken(ben.id, 'reads', ['read_user']);
    const reads = gitbeaker.connect(String(token));
    expect(await feed(reads)).toEqual(of('ben'));
    expect(await feed(reads, { userId: 'ben' })).toEqual(of('ben'));
    expect((await refusal(feed(reads, inProject)))[0]).toBe(403);

    const pick = (pattern: RegExp) => whole.filter((event) => pattern.test(event));
    const filtered: [Filters, RegExp | string[]][] = [
      [{ action: 'pushed' }, /pushed|deleted/],
      [{ action: 'commented' }, /commented on/],
      [{ action: 'closed' }, / closed /],
      [{ action: 'reopened' }, ['robot opened Issue Crack', 'ada opened Milestone Spring']],
      [{ action: 'joined' }, / joined/],
      [{ action: 'left' }, / left/],
      [{ action: 'destroyed' }, / destroyed /],
      [{ targetType: 'issue' }, / Issue /],
      [{ targetType: 'milestone' }, / Milestone /],
      [{ targetType: 'note' }, /commented on/],
      [{ targetType: 'note', action: 'closed' }, /^$/],
      [{ targetType: 'issue', action: 'created' }, /(?:ada|ben) opened Issue|Flood/],
      [{ before: inDays(2), after: inDays(-2) }, /./],
      [{ before: inDays(-1) }, /^$/],
      [{ after: inDays(1) }, /^$/],
    ];
    for (const [filters, left] of filtered) {
      const found = await feed(ada.api, { ...inProject, ...filters } as Filters);
      expect([filters, found]).toEqual([filters, Array.isArray(left) ? left : pick(left)]);
    }
  });

  test('an event as the public client gets it, in the three lists', async () => {
    const { ada, ben } = people;
    const get = async (filters: Filters) => (await listEvents(ben.api, filters))[0];
    const common = {
      id: expect.any(Number),
      title: null,
      project_id: project,
      author_id: ben.id,
      author: expect.objectContaining({
        id: ben.id,
        username: 'ben',
        name: 'The ben',
        state: 'active',
        avatar_url: expect.anything(),
        web_url: `${gitbeaker.url}/ben`,
      }),
      author_username: 'ben',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      imported: false,
      imported_from: 'none',
    };
    const note = {
      ...common,
      action_name: 'commented on',
      target_id: expect.any(Number),
      target_iid: expect.any(Number),
      target_type: 'Note',
      target_title: expect.any(String),
      note: expect.objectContaining({
        id: expect.any(Number),
        body: 'Really, @ada?',
        attachment: null,
        author: expect.objectContaining({ id: ben.id }),
        system: false,
        noteable_id: expect.any(Number),
        noteable_type: 'Issue',
        noteable_iid: 3,
        internal: false,
      }),
    };
    expect(await get({})).toEqual(note);
    expect(await get({ userId: 'ben' })).toEqual(note);
    expect(await get({ projectId: project })).toEqual({ ...note, data: null });
    expect(await get({ action: 'pushed' })).toEqual({
      ...common,
      action_name: 'deleted',
      target_id: null,
      target_iid: null,
      target_type: null,
      target_title: null,
      push_data: {
        commit_count: 0,
        action: 'removed',
        ref_type: 'branch',
        commit_from: expect.stringMatching(/^[0-9a-f]{40}$/),
        commit_to: null,
        ref: 'upper',
        commit_title: null,
        ref_count: null,
      },
    });
    const [opened] = await ada.api.Events.all({ projectId: project, targetType: 'issue', sort: 'asc' });
    expect(opened).toMatchObject({ target_id: crack, target_iid: 1, target_title: 'Crack', title: null });
    expect(opened).not.toHaveProperty('data');
    const statusOf = async (query: string, token = ada.token) =>
      (await callAs(gitbeaker.url, token, `GET /events?${query}`)).status;
    for (const wrong of ['action=sung', 'target_type=wall', 'sort=up', 'before=soon'])
      expect([wrong, await statusOf(wrong)]).toEqual([wrong, 400]);
    expect(await statusOf('target_type=epic')).toBe(200);
    expect(await statusOf('', 'nobody')).toBe(401);
  });

  test('a project that moves: its members hear, whoever moved it among them', async () => {
    const { ada, ben, mina, dora, gus } = people;
    const other = (await ada.api.Groups.create<false>('Quarry', 'quarry', { visibility: 'private' })).id;
    await ada.api.GroupMembers.add(other, 20, { userId: mina.id });
    await ada.api.GroupMembers.add(other, 20, { userId: dora.id });
    await ada.api.GroupMembers.add(other, 20, { userId: gus.id });
    await ben.api.NotificationSettings.edit({ projectId: project, level: 'custom', newNote: false });
    await gus.api.NotificationSettings.edit({ projectId: project, level: 'custom', movedProject: false });
    await expectNoMail();
    const before = await feed(ada.api, { projectId: project });
    // Deleted records are in no activity any more, and neither are their notes.
    await ada.api.Issues.create(project, 'Mistake');
    await ada.api.IssueNotes.create(project, 4, 'Sorry');
    expect((await feed(ada.api, { projectId: project })).slice(before.length)).toEqual([
      'ada opened Issue Mistake',
      'ada commented on Note "Sorry"',
    ]);
    const mistaken = await newLetters();
    expect(mistaken.map(nameOf).sort()).toEqual(['wanda', 'wanda']);
    await ada.api.Issues.remove(project, 4);
    expect(await feed(ada.api, { projectId: project })).toEqual(before);
    await ada.api.Projects.transfer(project, other);
    const mails = await expectMails('Wall | Project was moved', {
      ada: 'member',
      ben: 'member',
      mina: 'member',
    });
    expect(letterTo(mails, 'ben').text).toContain('yard/wall');
    expect(letterTo(mails, 'ben').text).toContain('quarry/wall');
    expect((await follow(mails)).broken).toEqual([]);
    expect(await feed(ada.api, { projectId: project })).toEqual(before);
    // Users without access are not notified any more, and cannot read.
    await ada.api.IssueNotes.create(project, 1, 'A new place');
    await expectMails('Re: Wall | Crack (#1)', {});
    expect((await refusal(feed(people.wanda.api, { projectId: project })))[0]).toBe(404);
    expect(await feed(people.wanda.api, { userId: 'ben' })).toEqual([]);
    // One click unsubscribes from the whole project.
    await clickOnce(letterTo(mails, 'ben'));
    expect(await ben.api.NotificationSettings.show({ projectId: project })).toEqual({ level: 'disabled' });
    await ada.api.IssueNotes.create(project, 1, 'Not even @ben');
    await expectNoMail();
  });

  test('no mail came twice, and each says how to have no more of them', () => {
    expect(all.length).toBeGreaterThan(50);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { id, headers, text, html } of all) {
      expect([id, headers.get('list-unsubscribe-post')]).toEqual([id, 'List-Unsubscribe=One-Click']);
      expect([id, headers.get('auto-submitted')]).toEqual([id, 'auto-generated']);
      expect([id, text.length > 100 && html.includes('<html')]).toEqual([id, true]);
    }
    expect(all.filter((mail) => nameOf(mail) === 'dora' || nameOf(mail) === 'zoe')).toEqual([]);
    expect(all.filter(({ to }) => !to.endsWith('@example.com'))).toEqual([]);
  });
});
