/** Merges beside other changes of the same merge request, and what is left of those that could not be recorded. */
import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { overtake } from '../../../../test/support/races.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import { updateRefs } from '../../../platform/git/write.ts';
import { projectRepository } from '../../repositories/index.ts';
import { reconcileMerges } from '../following/reconcile-merges.ts';

const ashlar = useApp();

const show = async (id: number, iid = 1) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}`), 200);
const branchOf = async (id: number, branch: string): Promise<string> =>
  bodyOf(await ashlar.root(`GET /projects/${id}/repository/branches/${branch}`), 200).commit.id;

describe('another target', () => {
  test.each([['merged'], ['locked']])('is not written to what is %s meanwhile', async (state) => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    await commitTo(ashlar, id, 'next', { 'next.txt': 'next\n' });
    const before = await show(id);
    const body = { target_branch: 'next' };
    const changed = await overtake(
      ashlar,
      (tx) => tx`update merge_requests set state = ${state}, merge_user_id = 1 where project_id = ${id}`,
      () => ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body }),
    );
    expect(changed).toMatchObject({ status: 200, body: { state, target_branch: 'main' } });
    expect((await show(id)).diff_refs).toEqual(before.diff_refs);
  });
});

test('a source branch that is gone is not merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { sha } = await makeMergeRequest(ashlar, id, 'topic');
  const { repositories } = ashlar.app.services;
  // As it is before the push that removed it is followed.
  await repositories.write(projectRepository(id), 'main', ({ folder }) =>
    updateRefs(folder, [{ ref: fullRef('branch', 'topic'), before: sha, after: NO_OBJECT }]),
  );
  const merged = await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`);
  expect(merged).toMatchObject({ status: 422, body: { message: 'Branch cannot be merged' } });
  expect(await show(id)).toMatchObject({ state: 'opened', merge_status: 'cannot_be_merged' });
  await repositories.write(projectRepository(id), 'main', ({ folder }) =>
    updateRefs(folder, [{ ref: fullRef('branch', 'topic'), before: NO_OBJECT, after: sha }]),
  );
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`), 200);
});

describe('a merge that was not recorded', () => {
  const DEAD = '00000000-0000-0000-0000-000000000000';
  const reconcile = () => reconcileMerges(ashlar.app.services);

  /** Locks it as a process does that was about to move the branch to this head. */
  async function leave(id: number, head: string, given: Record<string, unknown> = {}): Promise<void> {
    const merging = {
      process: DEAD,
      since: Date.now(),
      head,
      mergeCommit: head,
      squashCommit: null,
      shouldRemove: null,
      userId: 1,
      ...given,
    };
    await ashlar.app.services.database.sql`
      update merge_requests set state = 'locked', merging = ${JSON.stringify(merging)}::text::jsonb
      where project_id = ${id}`;
  }

  async function leaveMade(given: Record<string, unknown> = {}): Promise<number> {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    await leave(id, await branchOf(id, 'main'), given);
    return id;
  }

  const mergedEvents = async (id: number) =>
    bodyOf(await ashlar.root(`GET /projects/${id}/events`, { query: 'action=merged' }), 200);

  test('is recorded once, by however many look at the same moment', async () => {
    const id = await leaveMade();
    await Promise.all(Array.from({ length: 5 }, reconcile));
    expect((await show(id)).state).toBe('merged');
    expect(await mergedEvents(id)).toHaveLength(1);
  });

  test('of a user who is gone is recorded all the same', async () => {
    const id = await leaveMade({ userId: 999_999 });
    await reconcile();
    expect(await show(id)).toMatchObject({ state: 'merged', merge_user: { username: 'root' } });
  });

  test('is passed over where it is deleted meanwhile', async () => {
    const id = await leaveMade();
    await overtake(ashlar, (tx) => tx`delete from merge_requests where project_id = ${id}`, reconcile);
    expect((await ashlar.root(`GET /projects/${id}/merge_requests/1`)).status).toBe(404);
    expect(await mergedEvents(id)).toEqual([]);
  });

  test('does not wait for others whose repository is damaged', async () => {
    const damaged = await leaveMade();
    const { repositories } = ashlar.app.services;
    const storage = [...repositories.storages.keys()][0] ?? '';
    rmSync(repositories.folder(projectRepository(damaged), storage), { recursive: true });
    const id = await leaveMade();
    await reconcile();
    expect((await show(id)).state).toBe('merged');
    bodyOf(await ashlar.root(`DELETE /projects/${damaged}`), 202);
  });

  test('of this process is left to it, though its heart does not beat', async () => {
    const process = ashlar.app.services.presence.id;
    const { sql } = ashlar.app.services.database;
    const id = await leaveMade({ process });
    // Until the next beat.
    await sql`update processes set beat_at = '-infinity' where id = ${process}`;
    await reconcile();
    expect((await show(id)).state).toBe('locked');
  });

  test('is recorded by who made it, though another process opened it again meanwhile', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    // It waits to claim, and then once more: neither while it holds a lock itself, which would be a deadlock.
    let other: Sql | undefined;
    const merged = await overtake(
      ashlar,
      async (tx) => {
        other = tx;
      },
      () =>
        overtake(
          ashlar,
          (tx) => tx`select from merge_requests where project_id = ${id} for update`,
          () => ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`),
          async () => other && (await other`lock table lfs_locks in access exclusive mode`),
        ),
      (tx) =>
        tx`update merge_requests set state = 'opened', merging = null where project_id = ${id} and state = 'locked'`,
    );
    expect(merged).toMatchObject({ status: 200, body: { state: 'merged' } });
    expect((await show(id)).merge_commit_sha).toBe(await branchOf(id, 'main'));
    expect(await mergedEvents(id)).toHaveLength(1);
  });

  test('is found although its process lives, after a time in which none takes so long', async () => {
    const process = ashlar.app.services.presence.id;
    const fresh = await leaveMade({ process });
    const old = await leaveMade({ process, since: Date.now() - 600_000 });
    await reconcile();
    expect([(await show(fresh)).state, (await show(old)).state]).toEqual(['locked', 'merged']);
  });
});
