/** Pushes that git took and the database did not record: their events are made soon after, once. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, uniqueName } from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../../test/support/git.ts';
import { makeReviewedProject, waitForFollowing } from '../../../../test/support/merge-requests.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';

const ashlar = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));
const sql = () => ashlar.app.services.database.sql;

async function makeWork() {
  const project = await makeReviewedProject(ashlar);
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  const work = join(home, uniqueName('work'));
  const address = addressOf(ashlar.url, project.path_with_namespace, developer.token);
  await mustGit(home, ['clone', '--quiet', address, work]);
  await mustGit(work, ['checkout', '--quiet', '-b', 'topic']);
  await commitFiles(work, { 'a.txt': 'a\n' }, 'First');
  const pushes = async () =>
    bodyOf(await ashlar.as(developer.token)('GET /events', { query: 'action=pushed' }), 200).map(
      (event: { author_id: number; push_data: Record<string, unknown> }) => [
        event.author_id,
        event.push_data.action,
        event.push_data.ref,
        event.push_data.commit_count,
      ],
    );
  return { project, developer, work, pushes };
}

/** What a process leaves that dies while it takes a push. */
async function leave(projectId: number, intent: { userId: number; updates: unknown[] }): Promise<void> {
  const dead = randomUUID();
  await sql()`insert into processes (id, beat_at) values (${dead}, now() - interval '1 hour')`;
  await sql()`
    insert into repository_uses (process_id, container, container_id, storage, purpose, pushed, began_at)
    select ${dead}::uuid, 'project', id, repository_storage, 'write', ${JSON.stringify(intent)}::text::jsonb, now() - interval '1 minute'
    from projects where id = ${projectId}`;
}

async function settle(): Promise<void> {
  const housekeeping = ashlar.app.capabilities.find(({ name }) => name === 'housekeeping');
  await housekeeping?.tasks?.['housekeeping.find_forgotten']?.({});
  await expect
    .poll(() => sql()`select from graphile_worker.jobs where task_identifier = 'housekeeping.record_push'`, {
      timeout: 30_000,
    })
    .toHaveLength(0);
  await waitForFollowing(ashlar);
}

test('an event is made of a push whose record failed, in the name of who pushed', async () => {
  const { developer, work, pushes } = await makeWork();
  await sql()`alter table activity_events add constraint no_more check (action <> 'pushed') not valid`;
  expect((await runGit(work, ['push', '--quiet', 'origin', 'topic'])).code).not.toBe(0);
  await sql()`alter table activity_events drop constraint no_more`;
  await expect.poll(pushes, { timeout: 30_000 }).toEqual([[developer.id, 'created', 'topic', 1]]);
});

test('an event is made of what requests wrote and could not record', async () => {
  const { project, developer, pushes } = await makeWork();
  const { id } = project;
  const as = ashlar.as(developer.token);
  await sql()`alter table activity_events add constraint no_more check (action <> 'pushed') not valid`;
  const actions = [{ action: 'create', file_path: 'new.txt', content: 'x' }];
  const body = { branch: 'topic', start_branch: 'main', commit_message: 'x', actions };
  expect((await as(`POST /projects/${id}/repository/commits`, { body })).status).toBe(500);
  const query = 'branch=other&ref=main';
  expect((await as(`POST /projects/${id}/repository/branches`, { query })).status).toBe(500);
  await sql()`alter table activity_events drop constraint no_more`;
  await expect
    .poll(async () => (await pushes()).sort(), { timeout: 30_000 })
    .toEqual([
      [developer.id, 'created', 'other', 0],
      [developer.id, 'created', 'topic', 1],
    ]);
  bodyOf(await as(`DELETE /projects/${id}/repository/branches/other`), 204);
  await settle();
  expect(await pushes()).toHaveLength(3);
});

test('a push that was recorded, and one that git did not take, get no event', async () => {
  const { project, developer, work, pushes } = await makeWork();
  await mustGit(work, ['push', '--quiet', 'origin', 'topic', 'topic:second']);
  const after = (await mustGit(work, ['rev-parse', 'topic'])).trim();
  const update = (branch: string, oid = after) => ({
    ref: `refs/heads/${branch}`,
    before: NO_OBJECT,
    after: oid,
  });
  const missing = '1'.repeat(40);
  await leave(project.id, {
    userId: developer.id,
    updates: [update('topic'), update('second', missing), update('third')],
  });
  await settle();
  expect(await pushes()).toHaveLength(2);
  await mustGit(work, ['push', '--quiet', 'origin', 'topic:third', ':second']);
  const before = await pushes();
  await leave(project.id, {
    userId: developer.id,
    updates: [update('third'), { ...update('second', NO_OBJECT), before: after }],
  });
  await settle();
  expect(await pushes()).toEqual(before);
});
