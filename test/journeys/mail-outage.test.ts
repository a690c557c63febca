/** Mail that cannot leave for a while: the mail server is away, and the program is killed while it sends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type MailServer, startMailServer, waitForMail, waitingAt } from './mail-server.ts';
import { cleanUp, killNow, makeFolder, type Program, startProgram } from './support.ts';

const WATCHERS = 60;
/** Milliseconds that the server needs for a mail: so long that a kill comes in the middle of many. */
const SLOW = 40;

let data = '';
let mail: MailServer;
let program: Program;
let project = 0;
const watchers: number[] = [];

const start = (): Promise<Program> => startProgram({ data, env: { SMTP_URL: mail.url } });

async function ask(request: string, status: number, body: unknown): Promise<{ id: number; iid: number }> {
  const response = await program.root(request, body);
  const text = await response.text();
  expect([request, response.status, text]).toEqual([request, status, expect.any(String)]);
  return JSON.parse(text);
}

async function makeWatcher(name: string): Promise<number> {
  const email = `${name}@example.com`;
  const person = { username: name, name, email, skip_confirmation: true, force_random_password: true };
  const { id } = await ask('POST /users', 201, person);
  await ask(`POST /projects/${project}/members`, 201, { user_id: id, access_level: 30 });
  await setLevel(id, 'watch');
  return id;
}

const setLevel = (id: number, level: string) =>
  ask(`PUT /projects/${project}/notification_settings?sudo=${id}`, 200, { level });

const addressOf = (id: number): string => `watcher-${watchers.indexOf(id)}@example.com`;

/** The Message-ID of each mail that the issue must send, and its recipient. */
const opening = (issue: { id: number }): Map<string, string> =>
  new Map(watchers.map((id) => [`<issue-${issue.id}-${id}@localhost>`, addressOf(id)]));

/** Received mails, each id once: one id must stand for one mail to one person. */
function taken(): Map<string, string> {
  const mails = new Map<string, { to: string; subject: string; text: string }>();
  for (const { id, to, subject, text } of mail.letters) {
    const first = mails.get(id) ?? { to, subject, text };
    // The address of the program changes with a restart: it listens on any free port.
    const told = (letter: typeof first) => [letter.to, letter.subject, letter.text.split('\n\n')[1]];
    expect(told({ to, subject, text })).toEqual(told(first));
    mails.set(id, first);
  }
  return new Map([...mails].map(([id, { to }]) => [id, to]));
}

beforeAll(async () => {
  data = makeFolder();
  mail = await startMailServer();
  program = await start();
  ({ id: project } = await ask('POST /projects', 201, { name: 'dam', path: 'dam' }));
  for (let number = 0; number < WATCHERS; number++) watchers.push(await makeWatcher(`watcher-${number}`));
  await waitForMail(program.url);
  expect(mail.letters).toEqual([]);
});
afterEach(() => mail.letters.splice(0));
afterAll(() => cleanUp(() => mail.stop()));

test('while the mail server is away work goes on, and when it is back all mail comes', async () => {
  const { port } = mail;
  const [leaver, blocked, quiet] = [
    await makeWatcher('leaver'),
    await makeWatcher('blocked'),
    await makeWatcher('quiet'),
  ];
  await mail.stop();
  const issue = await ask(`POST /projects/${project}/issues`, 201, { title: 'Rain' });
  const mistake = await ask(`POST /projects/${project}/issues`, 201, { title: 'Sunshine' });
  const path = `/projects/${project}/issues/${issue.iid}`;
  await ask(`PUT ${path}`, 200, { state_event: 'close' });
  await ask(`PUT ${path}`, 200, { state_event: 'reopen' });
  // Mails are tried, and wait to be tried again.
  const tries = () => program.output().match(/job failed/g)?.length ?? 0;
  await expect.poll(tries, { timeout: 60_000, interval: 100 }).toBeGreaterThan(20);
  expect(await waitingAt(program.url)).toMatchObject({ outbox: 0, dead_jobs: 0 });
  expect((await fetch(`${program.url}/-/readiness`)).status).toBe(200);

  // No user is notified of a deleted record, or of one that they may not see.
  expect((await program.root(`DELETE /projects/${project}/issues/${mistake.iid}`)).status).toBe(204);
  expect((await program.root(`DELETE /projects/${project}/members/${leaver}`)).status).toBe(204);
  expect((await program.root(`POST /users/${blocked}/block`)).status).toBe(201);
  await setLevel(quiet, 'disabled');

  mail = await startMailServer({ port });
  await waitForMail(program.url, 120);
  const all = taken();
  // Nothing was received twice: failed mails were not sent.
  expect(mail.letters.length).toBe(3 * WATCHERS);
  expect(all.size).toBe(3 * WATCHERS);
  for (const [id, to] of opening(issue)) expect([id, all.get(id)]).toEqual([id, to]);
  for (const event of ['close_issue', 'reopen_issue'])
    expect([...all.keys()].filter((id) => id.includes(event)).length).toBe(WATCHERS);
});

test('killed while it sends, the program sends the rest, and nothing under two names', async () => {
  const { port } = mail;
  await mail.stop();
  mail = await startMailServer({ port, pause: SLOW });
  // Right after the change's response, in the midst of the mails, and near their end.
  for (const when of [0, 15, 50]) {
    mail.letters.splice(0);
    const issue = await ask(`POST /projects/${project}/issues`, 201, { title: `Flood ${when}` });
    for (let waited = 0; mail.letters.length < when && waited < 3_000; waited++) await sleep(10);
    killNow(program.pid);
    await program.ended;
    const before = taken().size;
    expect([when, before >= when && before < WATCHERS]).toEqual([when, true]);
    program = await start();
    await waitForMail(program.url, 120);
    expect(taken()).toEqual(opening(issue));
    // Mails under way at the kill may have come twice: at most two are sent at a time.
    expect(mail.letters.length - WATCHERS).toBeLessThanOrEqual(2);
  }
});

test('killed while it is changed, the program tells of every change that was made, and of no other', async () => {
  const { port } = mail;
  await mail.stop();
  mail = await startMailServer({ port });
  const acknowledged = new Set<number>();
  let killed = false;
  const write = async (client: number): Promise<void> => {
    for (let number = 0; number < 100 && !killed; number++) {
      const title = `Leak ${client}.${number}`;
      const made = await ask(`POST /projects/${project}/issues`, 201, { title }).catch(() => undefined);
      if (made) acknowledged.add(made.id);
      if (acknowledged.size >= 4 && !killed) {
        killed = true;
        killNow(program.pid);
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map(write));
  expect(killed).toBe(true);
  await program.ended;
  program = await start();
  await waitForMail(program.url, 200);
  const response = await program.root(`GET /projects/${project}/issues?search=Leak&per_page=100`);
  const issues = (await response.json()) as { id: number }[];
  expect([...acknowledged].filter((id) => !issues.some((issue) => issue.id === id))).toEqual([]);
  expect(taken()).toEqual(new Map(issues.flatMap((issue) => [...opening(issue)])));
  await program.stop();
});
