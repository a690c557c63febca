/** What pushes change of merge requests, and merges that a dead process left. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { gitIn, importCommit, openBetween } from '../../../../test/support/git-histories.ts';
import { gitRunsDuring } from '../../../../test/support/git-runs.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { updateRefs } from '../../../platform/git/write.ts';
import { projectRepository } from '../../repositories/index.ts';
import { followInterrupted } from './follow-pushes.ts';
import { judgeBranch } from './judge-branch.ts';
import { reconcileMerges } from './reconcile-merges.ts';

const ashlar = useApp();

const show = async (id: number, iid = 1) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}`), 200);
const notesOf = async (id: number): Promise<string[]> =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/notes`, { query: 'sort=asc' }), 200).map(
    (note: { body: string }) => note.body,
  );
const followed = (look: () => Promise<unknown>) => expect.poll(look, { timeout: 20_000 });

test('a push to the source makes a version, is told in a note, and ends an automatic merge', async () => {
  const project = await makeReviewedProject(ashlar);
  const { id } = project;
  const made = await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic' });
  bodyOf(
    await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`, { body: { auto_merge: true } }),
    200,
  );
  const head = await commitTo(ashlar, id, 'topic', { 'more.txt': 'more\n' }, { message: 'More <b>' });
  await followed(async () => (await notesOf(id)).length).toBe(3);
  expect(await show(id)).toMatchObject({
    sha: head,
    changes_count: '2',
    merge_when_pipeline_succeeds: false,
    merge_status: 'can_be_merged',
  });
  const [, added, aborted] = await notesOf(id);
  expect(added).toMatch(
    new RegExp(
      `^added 1 commit\n\n<ul><li>${head.slice(0, 8)} - More &lt;b&gt;</li></ul>\n\n` +
        `\\[Compare with previous version\\]\\(/${project.path_with_namespace}/-/merge_requests/1/diffs` +
        `\\?diff_id=\\d+&start_sha=${made.sha}\\)$`,
    ),
  );
  expect(aborted).toContain('aborted the automatic merge because the source branch was updated');
});

test('each push is told once, however many came before the first was followed, and who asked to merge meanwhile', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic');
  const heads: string[] = [];
  for (const message of ['First', 'Second', 'Third'])
    heads.push(await commitTo(ashlar, id, 'topic', { 'more.txt': message }, { message }));
  const merge = `PUT /projects/${id}/merge_requests/1/merge`;
  bodyOf(await ashlar.root(merge, { body: { sha: '0'.repeat(40) } }), 409);
  expect((await show(id)).sha).toBe(heads.at(-1));
  await waitForFollowing(ashlar);
  const told = (await notesOf(id)).map((text) => /^added 1 commit\n\n<ul><li>(.*)<\/li>/.exec(text)?.[1]);
  expect(told).toEqual(
    ['First', 'Second', 'Third'].map((title, at) => `${heads[at]?.slice(0, 8)} - ${title}`),
  );
});

test('a push to the target is judged for all into it', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await commitTo(ashlar, id, 'one', { 'a.txt': 'of one\n' });
  await commitTo(ashlar, id, 'two', { 'b.txt': 'of two\n' });
  for (const source_branch of ['one', 'two']) {
    const body = { title: source_branch, source_branch, target_branch: 'main' };
    bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  }
  await commitTo(ashlar, id, 'main', { 'a.txt': 'of main\n' });
  await followed(async () => [(await show(id, 1)).merge_status, (await show(id, 2)).merge_status]).toEqual([
    'cannot_be_merged',
    'can_be_merged',
  ]);
  await commitTo(ashlar, id, 'main', { 'a.txt': 'one\n' });
  await followed(async () => (await show(id, 1)).merge_status).toBe('can_be_merged');
});

const versionsOf = async (id: number, iid: number) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}/versions`), 200);

test('commits that the target gets by another one leave it, and what was said of it stays', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const first = await makeMergeRequest(ashlar, id, 'one');
  const second = await commitTo(ashlar, id, 'two', { 'two.txt': 'two\n' }, { start: 'one' });
  expect(await openBetween(ashlar, id, 'two')).toMatchObject({ changes_count: '2' });
  await ashlar.app.services.database.sql`
    update merge_requests set merge_error = 'Rebase failed' where project_id = ${id} and iid = 2`;
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`), 200);
  await waitForFollowing(ashlar);
  const { commit: main } = bodyOf(await ashlar.root(`GET /projects/${id}/repository/branches/main`), 200);
  expect(await show(id, 2)).toMatchObject({
    state: 'opened',
    sha: second,
    changes_count: '1',
    diff_refs: { base_sha: first.sha, start_sha: main.id, head_sha: second },
    merge_status: 'can_be_merged',
    merge_error: 'Rebase failed',
  });
  const commits = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/2/commits`), 200);
  expect(commits.map((commit: { id: string }) => commit.id)).toEqual([second]);
  const versions = await versionsOf(id, 2);
  expect(versions.map((version: { real_size: string }) => version.real_size)).toEqual(['1', '2']);
});

test('a target that is rewritten, and no other one, gives it a version of what it has then', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const before = await commitTo(ashlar, id, 'next', { 'next.txt': 'next\n' });
  await commitTo(ashlar, id, 'topic', { 'topic.txt': 'topic\n' }, { start: 'next' });
  await openBetween(ashlar, id, 'topic', 'next');
  await commitTo(ashlar, id, 'next', { 'more.txt': 'more\n' });
  await waitForFollowing(ashlar);
  expect(await versionsOf(id, 1)).toHaveLength(1);
  const { commit: main } = bodyOf(await ashlar.root(`GET /projects/${id}/repository/branches/main`), 200);
  const rewrite = {
    branch: 'next',
    start_sha: main.id,
    force: true,
    commit_message: 'Rewritten',
    actions: [{ action: 'create', file_path: 'other.txt', content: 'other\n' }],
  };
  const made = bodyOf(await ashlar.root(`POST /projects/${id}/repository/commits`, { body: rewrite }), 201);
  await waitForFollowing(ashlar);
  expect(await show(id)).toMatchObject({
    changes_count: '2',
    diff_refs: { base_sha: main.id, start_sha: made.id },
  });
  const commits = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/commits`), 200);
  expect(commits.map((commit: { id: string }) => commit.id)[1]).toBe(before);
  expect(await versionsOf(id, 1)).toHaveLength(2);
});

test('many into one branch are judged by few runs of git', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const branches = Array.from({ length: 12 }, (_, at) => `topic-${at}`);
  const start = (await gitIn(ashlar, id, ['rev-parse', 'main'])).trim();
  await commitTo(ashlar, id, 'main', { 'c.txt': 'c\n' });
  const main = (await gitIn(ashlar, id, ['rev-parse', 'main'])).trim();
  for (const [at, branch] of branches.entries()) {
    const file = { path: `${branch}.txt`, text: branch };
    await importCommit(ashlar, id, branch, [file], { from: at % 3 === 0 ? main : start });
    await openBetween(ashlar, id, branch);
  }
  await waitForFollowing(ashlar);
  const { services } = ashlar.app;
  const { sql } = services.database;
  await sql`update merge_requests set merge_status = 'unchecked', is_behind = not is_behind
    where project_id = ${id}`;
  const { 'cat-file': _, ...runs } = await gitRunsDuring(() =>
    judgeBranch(services)({ project_id: id, branch: 'main' }),
  );
  expect(runs).toEqual({ 'merge-tree': 1, 'rev-list': 1 });
  const rows = await sql<{ is_behind: boolean; merge_status: string }[]>`
    select is_behind, merge_status from merge_requests where project_id = ${id} order by id`;
  expect(rows).toEqual(branches.map((_, at) => ({ is_behind: at % 3 !== 0, merge_status: 'can_be_merged' })));
});

describe('a conflict', () => {
  const conflicting = async () => {
    const { id } = await makeReviewedProject(ashlar);
    const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
    await commitTo(ashlar, id, 'topic', { 'a.txt': 'of topic\n' });
    const body = { title: 'Draft: Topic', source_branch: 'topic', target_branch: 'main' };
    const asDeveloper = ashlar.as(developer.token);
    bodyOf(await asDeveloper(`POST /projects/${id}/merge_requests`, { body }), 201);
    const todos = async () =>
      bodyOf(await asDeveloper('GET /todos'), 200).map((todo: Record<string, unknown>) => todo.action_name);
    return { id, todos };
  };
  /** A commit upon main that the topic does not merge with. */
  const conflictWith = async (id: number): Promise<string> => {
    const sha = await commitTo(ashlar, id, 'aside', { 'a.txt': 'of main\n' });
    await waitForFollowing(ashlar);
    return sha;
  };

  test('is told to the author, and to who wants it merged by itself, once', async () => {
    const { id, todos } = await conflicting();
    const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
    const auto = { body: { auto_merge: true } };
    bodyOf(await ashlar.as(maintainer.token)(`PUT /projects/${id}/merge_requests/1/merge`, auto), 200);
    expect(await todos()).toEqual([]);
    await commitTo(ashlar, id, 'main', { 'a.txt': 'of main\n' });
    await waitForFollowing(ashlar);
    expect(await todos()).toEqual(['unmergeable']);
    expect(bodyOf(await ashlar.as(maintainer.token)('GET /todos'), 200)).toMatchObject([
      { action_name: 'unmergeable', target: { iid: 1 }, author: { id: maintainer.id } },
    ]);
    bodyOf(await ashlar.as(maintainer.token)('POST /todos/mark_as_done'), 201);
    await commitTo(ashlar, id, 'main', { 'a.txt': 'of main again\n' });
    await waitForFollowing(ashlar);
    expect(bodyOf(await ashlar.as(maintainer.token)('GET /todos'), 200)).toEqual([]);
  });

  test.each<[string, (id: number) => Promise<unknown>]>([
    [
      'in the background',
      (id) => {
        const { services } = ashlar.app;
        return judgeBranch(services)({ project_id: id, branch: 'main', user_id: 1 });
      },
    ],
    ['by who merges', (id) => ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`)],
  ])('judged %s is not known before it is sure to be told', async (_, judgeIt) => {
    const { id, todos } = await conflicting();
    const { sql } = ashlar.app.services.database;
    await commitTo(ashlar, id, 'main', { 'b.txt': 'of main\n' });
    await waitForFollowing(ashlar);
    const status = async () =>
      (
        await sql<
          { merge_status: string }[]
        >`select merge_status from merge_requests where project_id = ${id}`
      )[0]?.merge_status;
    // What a push leaves to be judged; that is not told, so that nothing judges it before this does.
    await gitIn(ashlar, id, ['update-ref', 'refs/heads/main', await conflictWith(id)]);
    await sql`update merge_requests set merge_status = 'unchecked' where project_id = ${id}`;
    await sql.unsafe(`
      create function no_job() returns trigger language plpgsql as $$ begin
        if (select identifier from graphile_worker._private_tasks where id = new.task_id)
          = 'merge_requests.add_unmergeable_todos' then raise exception 'the process has died'; end if;
        return new; end $$;
      create trigger no_job before insert on graphile_worker._private_jobs for each row execute function no_job()`);
    try {
      await judgeIt(id).catch(() => undefined);
    } finally {
      await sql.unsafe('drop trigger no_job on graphile_worker._private_jobs; drop function no_job()');
    }
    expect(await status()).toBe('unchecked');
    await judgeIt(id);
    expect(await status()).toBe('cannot_be_merged');
    await waitForFollowing(ashlar);
    expect(await todos()).toEqual(['unmergeable']);
  });

  test('is told when it is there from the beginning, or by a push to the source', async () => {
    const { id, todos } = await conflicting();
    await commitTo(ashlar, id, 'other', { 'a.txt': 'of other\n' });
    await commitTo(ashlar, id, 'main', { 'b.txt': 'of main\n' });
    await waitForFollowing(ashlar);
    expect(await todos()).toEqual([]);
    await commitTo(ashlar, id, 'topic', { 'b.txt': 'of topic\n' });
    await waitForFollowing(ashlar);
    expect(await todos()).toEqual(['unmergeable']);
    await commitTo(ashlar, id, 'main', { 'a.txt': 'of main\n' });
    await openBetween(ashlar, id, 'other');
    await waitForFollowing(ashlar);
    const own = bodyOf(await ashlar.root('GET /todos', { query: `project_id=${id}` }), 200);
    expect(own).toMatchObject([{ action_name: 'unmergeable', target: { iid: 2 } }]);
  });
});

test('one without commits, or without its target, cannot be merged, until it has them', async () => {
  const { id } = await makeReviewedProject(ashlar);
  for (const branch of ['same', 'next']) {
    const query = { query: `branch=${branch}&ref=main` };
    bodyOf(await ashlar.root(`POST /projects/${id}/repository/branches`, query), 201);
  }
  await openBetween(ashlar, id, 'same');
  await makeMergeRequest(ashlar, id, 'topic', { target_branch: 'next' });
  await commitTo(ashlar, id, 'main', { 'b.txt': 'b\n' });
  bodyOf(await ashlar.root(`DELETE /projects/${id}/repository/branches/next`), 204);
  await waitForFollowing(ashlar);
  const conflict = { merge_status: 'cannot_be_merged', has_conflicts: true };
  expect(await show(id)).toMatchObject({ ...conflict, detailed_merge_status: 'commits_status' });
  expect(await show(id, 2)).toMatchObject({ ...conflict, detailed_merge_status: 'conflict' });
  const [{ start_commit_sha: start }] = await versionsOf(id, 2);
  const again = { query: `branch=next&ref=${start}` };
  bodyOf(await ashlar.root(`POST /projects/${id}/repository/branches`, again), 201);
  await waitForFollowing(ashlar);
  expect(await show(id, 2)).toMatchObject({ merge_status: 'can_be_merged' });
});

test('a branch that is only moved forward ends the automatic merges that it is ahead of', async () => {
  const { id } = await makeReviewedProject(ashlar, { merge_method: 'ff' });
  await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic' });
  const auto = { body: { auto_merge: true } };
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`, auto), 200);
  await commitTo(ashlar, id, 'main', { 'b.txt': 'b\n' });
  await waitForFollowing(ashlar);
  expect(await show(id)).toMatchObject({ merge_when_pipeline_succeeds: false, merge_user: null });
  expect((await notesOf(id)).at(-1)).toBe('aborted the automatic merge because target branch was updated');
  const todos = bodyOf(await ashlar.root('GET /todos', { query: `project_id=${id}` }), 200);
  expect(todos).toMatchObject([{ action_name: 'unmergeable', target: { iid: 1 } }]);
  // Where the target is merged into, nothing needs a rebase.
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { merge_method: 'merge' } }), 200);
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`, auto), 200);
  await commitTo(ashlar, id, 'main', { 'b.txt': 'b again\n' });
  await waitForFollowing(ashlar);
  expect(await show(id)).toMatchObject({ merge_when_pipeline_succeeds: true });
});

test('a deleted source branch closes it', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic');
  bodyOf(await ashlar.root(`DELETE /projects/${id}/repository/branches/topic`), 204);
  await followed(async () => (await show(id)).state).toBe('closed');
  expect(await notesOf(id)).toEqual(['deleted source branch `topic`']);
});

test('a source branch that is there again is noted, and what was closed stays closed', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { sha } = await makeMergeRequest(ashlar, id, 'topic');
  const branches = `/projects/${id}/repository/branches`;
  for (const ref of ['main', sha]) {
    bodyOf(await ashlar.root(`DELETE ${branches}/topic`), 204);
    await waitForFollowing(ashlar);
    bodyOf(await ashlar.root(`POST ${branches}`, { query: `branch=topic&ref=${ref}` }), 201);
    await waitForFollowing(ashlar);
  }
  expect((await show(id)).state).toBe('closed');
  expect(await notesOf(id)).toEqual(['deleted source branch `topic`', 'restored source branch `topic`']);
});

test('a pushed commit may make it a draft, and no commit makes it one of a draft', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const title = `${'t'.repeat(250)} end`;
  await makeMergeRequest(ashlar, id, 'topic', { title });
  await commitTo(ashlar, id, 'topic', { 'b.txt': 'b\n' }, { message: 'Not a draft: b' });
  await waitForFollowing(ashlar);
  expect(await show(id)).toMatchObject({ title, draft: false });
  const sha = await commitTo(ashlar, id, 'topic', { 'c.txt': 'c\n' }, { message: 'draft: c' });
  await commitTo(ashlar, id, 'topic', { 'd.txt': 'd\n' }, { message: '[Draft] d' });
  await waitForFollowing(ashlar);
  expect(await show(id)).toMatchObject({
    title: `Draft: ${'t'.repeat(245)}...`,
    draft: true,
    detailed_merge_status: 'draft_status',
  });
  const drafted = (await notesOf(id)).filter((note) => note.includes('marked'));
  expect(drafted).toEqual([`marked this merge request as **draft** from ${sha}`]);
});

test('merged on the command line, it is merged by the commit that brought it', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic');
  const branch = { query: 'branch=next&ref=main' };
  bodyOf(await ashlar.root(`POST /projects/${id}/repository/branches`, branch), 201);
  const open = (source_branch: string, target_branch: string) =>
    ashlar.root(`POST /projects/${id}/merge_requests`, {
      body: { title: `From ${source_branch}`, source_branch, target_branch },
    });
  bodyOf(await open('topic', 'next'), 201);
  const made = bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/2/merge`), 200);
  bodyOf(await open('next', 'main'), 201);
  // The branch is moved as `git push` would move it.
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { merge_method: 'ff' } }), 200);
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/3/merge`), 200);
  await followed(async () => (await show(id)).state).toBe('merged');
  expect(await show(id)).toMatchObject({ merged_by: { id: 1 }, merge_commit_sha: made.merge_commit_sha });
});

test('what a dead process pushed and did not record is followed, and once', async () => {
  const { id } = await makeReviewedProject(ashlar);
  for (const branch of ['one', 'two', 'three']) await makeMergeRequest(ashlar, id, branch);
  const pushed = await commitTo(ashlar, id, 'spare', { 'more.txt': 'more\n' }, { start: 'one' });
  await waitForFollowing(ashlar);
  const { services } = ashlar.app;
  const merged = (await show(id, 3)).sha;
  await services.repositories.write(projectRepository(id), 'main', async (git) => {
    const moves = { one: pushed, two: NO_OBJECT, main: merged };
    const updates = Object.entries(moves).map(async ([branch, after]) => {
      const before = (await findBranch(git, branch))?.oid ?? NO_OBJECT;
      return { ref: fullRef('branch', branch), before, after };
    });
    await updateRefs(git.folder, await Promise.all(updates));
  });
  for (let times = 0; times < 2; times++) {
    await followInterrupted(services)({ kind: 'project', id, began_at: new Date().toISOString() });
    await waitForFollowing(ashlar);
    expect(await show(id, 1)).toMatchObject({ state: 'opened', sha: pushed, merge_status: 'can_be_merged' });
    expect(await show(id, 2)).toMatchObject({ state: 'closed' });
    expect(await show(id, 3)).toMatchObject({ state: 'merged', merged_by: { id: 1 } });
    expect(await notesOf(id)).toEqual([expect.stringContaining('added 1 commit')]);
  }
  const events = bodyOf(await ashlar.root(`GET /projects/${id}/events`, { query: 'action=merged' }), 200);
  expect(events).toHaveLength(1);
});

describe('a merge whose process died', () => {
  /** Locks the merge request as a process does that has died since. */
  async function leave(id: number, head: string, iid = 1): Promise<void> {
    const merging = {
      process: '00000000-0000-0000-0000-000000000000',
      head,
      mergeCommit: head,
      squashCommit: null,
      shouldRemove: null,
      userId: 1,
    };
    await ashlar.app.services.database.sql`
      update merge_requests set state = 'locked', merging = ${JSON.stringify(merging)}::text::jsonb
      where project_id = ${id} and iid = ${iid}`;
  }
  const reconcile = async () => {
    const { services } = ashlar.app;
    await reconcileMerges(services);
  };

  test('before the branch moved is open again', async () => {
    const { id } = await makeReviewedProject(ashlar);
    const { sha } = await makeMergeRequest(ashlar, id, 'topic');
    await leave(id, sha);
    expect((await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`)).status).toBe(405);
    await reconcile();
    expect(await show(id)).toMatchObject({ state: 'opened', merge_commit_sha: null });
    expect(bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`), 200).state).toBe('merged');
  });

  test('follows what was pushed to its branches while it was locked', async () => {
    const { id } = await makeReviewedProject(ashlar);
    const { sha } = await makeMergeRequest(ashlar, id, 'topic');
    await leave(id, sha);
    // Nobody judges one that is locked, though it is known not to be judged for the newest commit of its target.
    await ashlar.app.services.database
      .sql`update merge_requests set merge_status = 'unchecked' where project_id = ${id}`;
    await commitTo(ashlar, id, 'main', { 'elsewhere.txt': 'x' });
    const pushed = await commitTo(ashlar, id, 'topic', { 'more.txt': 'x' });
    await waitForFollowing(ashlar);
    expect(await show(id)).toMatchObject({ state: 'locked', sha, merge_status: 'unchecked' });
    await reconcile();
    await waitForFollowing(ashlar);
    expect(await show(id)).toMatchObject({ state: 'opened', sha: pushed, merge_status: 'can_be_merged' });
  });

  test('goes on to where its target was merged, which was deleted while it was locked', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'base', { remove_source_branch: true });
    await commitTo(ashlar, id, 'topic', { 'topic.txt': 'x' }, { start: 'base' });
    const { iid, sha } = await openBetween(ashlar, id, 'topic', 'base');
    await leave(id, sha, iid);
    bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`), 200);
    await waitForFollowing(ashlar);
    expect((await ashlar.root(`GET /projects/${id}/repository/branches/base`)).status).toBe(404);
    expect(await show(id, iid)).toMatchObject({ state: 'locked', target_branch: 'base' });
    await reconcile();
    await waitForFollowing(ashlar);
    expect(await show(id, iid)).toMatchObject({
      state: 'opened',
      target_branch: 'main',
      changes_count: '1',
      merge_status: 'can_be_merged',
    });
  });

  test('is judged anew, though nothing was pushed since it was forgotten', async () => {
    const { id } = await makeReviewedProject(ashlar);
    const { sha } = await makeMergeRequest(ashlar, id, 'topic');
    await ashlar.app.services.database
      .sql`update merge_requests set merge_status = 'unchecked' where project_id = ${id}`;
    await leave(id, sha);
    await reconcile();
    await waitForFollowing(ashlar);
    expect(await show(id)).toMatchObject({ state: 'opened', sha, merge_status: 'can_be_merged' });
  });

  test('after the branch moved is merged', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'topic');
    const main = bodyOf(await ashlar.root(`GET /projects/${id}/repository/branches/main`), 200);
    await leave(id, main.commit.id);
    // Facts of several interrupted writes reconcile at once.
    await Promise.all(Array.from({ length: 4 }, reconcile));
    await reconcile();
    expect(await show(id)).toMatchObject({
      state: 'merged',
      merge_commit_sha: main.commit.id,
      merge_user: { id: 1 },
    });
    const events = bodyOf(await ashlar.root(`GET /projects/${id}/events`, { query: 'action=merged' }), 200);
    expect(events).toHaveLength(1);
  });
});
