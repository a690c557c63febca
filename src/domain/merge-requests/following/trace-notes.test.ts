/** Notes on lines after a push: moved along, or outdated. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeReviewWorld,
  numberedLines,
  positionIn,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
type World = Awaited<ReturnType<typeof makeReviewWorld>>;

const begin = async (world: World, lines: Record<string, unknown>): Promise<string> =>
  bodyOf(
    await ashlar.root(`POST ${world.path}/discussions`, {
      body: { body: 'Here', position: positionIn(world, lines) },
    }),
    201,
  ).id;
const threadOf = async ({ path }: World, id: string) =>
  bodyOf(await ashlar.root(`GET ${path}/discussions/${id}`), 200);
const followed = (look: () => Promise<unknown>) => expect.poll(look, { timeout: 20_000 });

test('a line that moved takes its notes along, and what changed says so in the thread', async () => {
  const world = await makeReviewWorld(ashlar);
  const { project, mergeRequest, path } = world;
  const [moved, outdated] = [
    await begin(world, { new_line: 6, old_line: 6 }),
    await begin(world, { new_line: 5 }),
  ];
  const reply = await ashlar.root(`POST ${path}/discussions/${moved}/notes`, { body: { body: 'Yes' } });
  bodyOf(reply, 201);
  const head = await commitTo(ashlar, project.id, 'topic', {
    'a.txt': `new\n${numberedLines({ 5: 'FIVE' })}`,
  });
  await followed(async () => (await threadOf(world, outdated)).notes.length).toBe(2);
  const position = { head_sha: head, base_sha: mergeRequest.diff_refs.base_sha, old_line: 6, new_line: 7 };
  const { notes } = await threadOf(world, moved);
  expect(notes).toMatchObject([{ position }, { position }]);
  expect(notes[0].updated_at).toBe(notes[0].created_at);
  const [first, said] = (await threadOf(world, outdated)).notes;
  expect(first).toMatchObject({
    position: { head_sha: mergeRequest.sha, new_line: 5, old_line: null },
    resolved: false,
  });
  expect(said).toMatchObject({ system: true, resolvable: false });
  expect(said.body).toMatch(
    new RegExp(
      `^changed this line in \\[version 2 of the diff\\]\\(/${project.path_with_namespace}/-/merge_requests/1/diffs` +
        `\\?diff_id=\\d+&start_sha=${mergeRequest.sha}#[0-9a-f]{40}_5_6\\)$`,
    ),
  );
  await commitTo(ashlar, project.id, 'topic', { 'a.txt': `new\nnew\n${numberedLines({ 5: 'Five' })}` });
  await followed(async () => (await threadOf(world, moved)).notes[0].position.new_line).toBe(8);
  expect((await threadOf(world, outdated)).notes).toHaveLength(2);
});

test('outdated threads are settled by the push where the project wants that', async () => {
  const world = await makeReviewWorld(ashlar, { resolve_outdated_diff_discussions: true });
  const { project, path } = world;
  const [outdated, kept] = [
    await begin(world, { new_line: 5 }),
    await begin(world, { new_line: 6, old_line: 6 }),
  ];
  await commitTo(ashlar, project.id, 'topic', { 'a.txt': numberedLines({ 5: 'FIVE' }) });
  await followed(async () => (await threadOf(world, outdated)).notes[0].resolved).toBe(true);
  expect((await threadOf(world, outdated)).notes[0].resolved_by.username).toBe('root');
  expect((await threadOf(world, kept)).notes).toMatchObject([{ resolved: false }]);
  await commitTo(ashlar, project.id, 'topic', { 'a.txt': numberedLines({ 6: 'six' }) });
  await followed(async () => (await threadOf(world, kept)).notes[0].resolved).toBe(true);
  const notes = bodyOf(await ashlar.root(`GET ${path}/notes`), 200);
  expect(notes.map(({ body }: { body: string }) => body)).toContain('resolved all threads');
});

test('a file’s thread is outdated when the file changes again', async () => {
  const world = await makeReviewWorld(ashlar);
  const thread = await begin(world, { position_type: 'file' });
  await commitTo(ashlar, world.project.id, 'topic', { 'a.txt': numberedLines({ 5: 'FIVE' }) });
  await followed(async () => (await threadOf(world, thread)).notes[1]?.body).toMatch(
    /^changed this file in \[version 2 of the diff\]/,
  );
});

test('with another target the notes are where its diff has them', async () => {
  const world = await makeReviewWorld(ashlar);
  const { project, path } = world;
  const thread = await begin(world, { new_line: 5 });
  await commitTo(ashlar, project.id, 'next', { 'a.txt': `first\n${numberedLines()}` });
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { target_branch: 'next' } }), 200);
  await commitTo(ashlar, project.id, 'topic', { 'a.txt': `new\n${numberedLines({ 5: 'five' })}` });
  await followed(async () => (await threadOf(world, thread)).notes[0].position.new_line).toBe(6);
});
