/** Evidence of releases: when it is collected, what it says, and who reads it. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { digest } from '../../../platform/secret.ts';
import { collectDue } from './actions.ts';

const ashlar = useApp();
let project: MadeProject;
let guest: MadeUser;
let list: string;

beforeAll(async () => {
  project = await makeProject(ashlar, { description: 'Of stone' });
  await fillProject(ashlar, project.id, [{ a: '1' }]);
  ({ guest } = await makeMembers(ashlar, `projects/${project.id}`, 'guest'));
  list = `/projects/${project.id}/releases`;
});

const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
const make = async (body: object) =>
  bodyOf(await ashlar.root(`POST ${list}`, { body: { ref: 'main', ...body } }), 201);
const evidences = async (tag: string) => (await ashlar.root(`GET ${list}/${tag}`)).body.evidences;

test('it says what was released, and its digest is the record’s', async () => {
  const { id } = bodyOf(
    await ashlar.root(`POST /projects/${project.id}/milestones`, { body: { title: 'One' } }),
    201,
  );
  const release = await make({ tag_name: 'v1', description: 'First', milestone_ids: [id] });
  const [{ sha, filepath }] = release.evidences;
  const path = filepath.slice(ashlar.url.length);
  const read = await ashlar.root(`GET ${path}`, { raw: true });
  expect(digest(read.text).toString('hex')).toBe(sha);
  expect(read.headers.get('content-type')).toMatch(/^application\/json/);
  expect(read.body.release).toEqual({
    id: expect.any(Number),
    tag_name: 'v1',
    name: 'v1',
    project: expect.objectContaining({ id: project.id, description: 'Of stone' }),
    created_at: release.created_at,
    description: 'First',
    milestones: [expect.objectContaining({ id, title: 'One', state: 'active' })],
    report_artifacts: [],
  });
  bodyOf(await ashlar.root(`PUT ${list}/v1`, { body: { description: 'Changed' } }), 200);
  expect((await ashlar.root(`GET ${path}`, { raw: true })).text).toBe(read.text);
  for (const call of [ashlar.call, ashlar.as(guest.token)])
    expect((await call(`GET ${path}`, { raw: true })).status).toBe(404);
  await make({ tag_name: 'other' });
  for (const other of [
    path.replace('/v1/', '/other/'),
    path.replace('.json', ''),
    path.replace(/\d+\.json/, '0.json'),
  ])
    expect((await ashlar.root(`GET ${other}`, { raw: true })).status).toBe(404);
});

test('an upcoming release has evidence when it is released, a historical one has none', async () => {
  expect((await make({ tag_name: 'history', released_at: hours(-1) })).evidences).toEqual([]);
  const upcoming = await make({ tag_name: 'upcoming', released_at: hours(1) });
  expect([upcoming.upcoming_release, upcoming.evidences]).toEqual([true, []]);
  const { background } = ashlar.app.services.database;
  await collectDue(background);
  expect(await evidences('upcoming')).toEqual([]);
  bodyOf(await ashlar.root(`PUT ${list}/upcoming`, { body: { released_at: hours(-1) } }), 200);
  await Promise.all([collectDue(background), collectDue(background)]);
  expect(await evidences('upcoming')).toHaveLength(1);
  expect(await evidences('history')).toEqual([]);
});

test('more is collected when somebody asks, so much and no more', async () => {
  await make({ tag_name: 'more' });
  const collect = () => ashlar.root(`POST ${list}/more/evidence`);
  expect(bodyOf(await collect(), 202).evidences).toHaveLength(2);
  const { sql } = ashlar.app.services.database;
  await sql`insert into release_evidences (release_id, sha, document, collected_at)
    select id, '', '', now() from releases, generate_series(1, 98) where tag = 'more'`;
  expect((await collect()).body.message).toEqual({ base: ['Maximum number of evidences (100) exceeded'] });
  expect((await ashlar.root(`POST ${list}/nowhere/evidence`)).status).toBe(404);
  expect((await ashlar.as(guest.token)(`POST ${list}/more/evidence`)).status).toBe(403);
});
