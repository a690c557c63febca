/** An instance with records of every kind, full pages of what is written most, and the requests that walk it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { liftLimits } from '../test/journeys/schemathesis-world.ts';
import { callAs } from '../test/journeys/support.ts';
import { makeAccessWorld } from '../test/support/access-world.ts';
import { ROOT_TOKEN } from '../test/support/app.ts';
import { makeRequests, type NamedRequest } from '../test/support/good-requests.ts';
import { sendRaw } from '../test/support/raw-http.ts';
import { countUnderWay } from '../test/support/snapshot.ts';
import type { Watched } from './loop-stalls.ts';
import { EACH_ANOTHER } from './measure.ts';

/** What is written most has so many rows more than the world of the tests: a page is full. */
const ROWS = 25;

export const headers = { 'private-token': ROOT_TOKEN };

/** What clients write most, with another text each time. */
export const commonWrites: readonly [title: string, body: unknown][] = [
  ['POST /projects/:id/issues', { title: EACH_ANOTHER }],
  ['PUT /projects/:id/issues/:issue_iid', { title: EACH_ANOTHER }],
  ['POST /projects/:id/issues/:noteable_id/notes', { body: EACH_ANOTHER }],
  ['POST /projects/:id/issues/:issue_iid/add_spent_time', { duration: '1m' }],
  ['POST /groups/:id/epics', { title: EACH_ANOTHER }],
  ['PUT /groups/:id/epics/:epic_iid', { title: EACH_ANOTHER }],
  ['POST /groups/:id/epics/:noteable_id/notes', { body: EACH_ANOTHER }],
  ['POST /projects/:id/labels', { name: EACH_ANOTHER, color: '#00ff00' }],
  ['PUT /projects/:id/labels/:name', { description: EACH_ANOTHER }],
  ['POST /projects/:id/milestones', { title: EACH_ANOTHER }],
  ['PUT /projects/:id/milestones/:milestone_id', { description: EACH_ANOTHER }],
  [
    'POST /projects/:id/badges',
    { link_url: 'https://client.example/', image_url: 'https://client.example/stone.svg' },
  ],
  ['PUT /projects/:id/badges/:badge_id', { name: EACH_ANOTHER }],
  ['POST /projects/:id/deploy_tokens', { name: EACH_ANOTHER, scopes: ['read_repository'] }],
  ['PUT /projects/:id', { description: EACH_ANOTHER }],
  ['POST /projects', { name: EACH_ANOTHER }],
  ['PUT /groups/:id', { description: EACH_ANOTHER }],
  ['POST /groups', { name: EACH_ANOTHER, path: EACH_ANOTHER }],
  ['PUT /users/:id', { bio: EACH_ANOTHER }],
  ['POST /snippets', { title: 'a', files: [{ file_path: 'a', content: EACH_ANOTHER }] }],
  [
    'POST /projects/:id/repository/commits',
    {
      branch: 'main',
      commit_message: 'Change',
      actions: [{ action: 'create', file_path: EACH_ANOTHER, content: 'a' }],
    },
  ],
  ['POST /projects/:id/repository/branches', { branch: EACH_ANOTHER, ref: 'main' }],
];

/** Milliseconds. */
const SETTLE_MS = 10_000;

/** Waits for the work that requests left behind. What is tried again later, such as a call of a server that is not there, is not waited for. */
export async function settled(site: Pick<Watched, 'app'>): Promise<void> {
  for (let waited = 0; waited < SETTLE_MS; waited += 20) {
    if ((await countUnderWay(site)) === 0) return;
    await sleep(20);
  }
}

let sent = 0;

export async function write(url: string, line: string, body: unknown): Promise<number> {
  const response = await sendRaw(url, line, {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body).replaceAll(EACH_ANOTHER, `text-${++sent}`),
  });
  if (response.status >= 300) throw new Error(`${line}: ${response.status} ${response.text}`);
  return response.status;
}

/** Fills the instance, and returns a request to each endpoint. */
export async function fillInstance(opened: Watched): Promise<NamedRequest[]> {
  const { app, site, program } = opened;
  await liftLimits({ root: (request, body) => callAs(program.url, ROOT_TOKEN, request, body) });
  const { places } = await makeAccessWorld(site);
  const { sql } = app.services.database;
  // Root owns all records, and must be an administrator again.
  await sql`update users set admin = true where username = 'root'`;
  const all = await makeRequests(site, places, app.endpoints);
  for (const [title, body] of commonWrites) {
    const line = all.find((each) => each.title === title)?.request.line;
    if (line === undefined) throw new Error(`no endpoint: ${title}`);
    if (title.startsWith('POST')) for (let row = 0; row < ROWS; row++) await write(program.url, line, body);
  }
  await sql`vacuum analyze`;
  // A second process would have every change of settings wait for it.
  await app.services.presence.stop();
  await settled(opened);
  return all;
}
