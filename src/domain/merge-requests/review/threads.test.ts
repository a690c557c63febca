/** Threads on lines of merge requests, and who settles them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeReviewWorld, positionIn } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
type World = Awaited<ReturnType<typeof makeReviewWorld>>;
let world: World;

beforeAll(async () => {
  world = await makeReviewWorld(ashlar, { visibility: 'public' });
});

const begin = (position: unknown, { path }: Pick<World, 'path'> = world) =>
  ashlar.root(`POST ${path}/discussions`, { body: { body: 'Here', position } });
const notesOf = async ({ path }: Pick<World, 'path'>): Promise<string[]> =>
  bodyOf(
    await ashlar.root(`GET ${path}/notes`, { query: 'sort=asc&activity_filter=only_activity' }),
    200,
  ).map((note: { body: string }) => note.body);
const isResolved = async ({ path }: Pick<World, 'path'>): Promise<boolean> =>
  bodyOf(await ashlar.root(`GET ${path}`), 200).blocking_discussions_resolved;

describe('a thread on a line', () => {
  test.each([
    ['an added one', { new_line: 5 }, { old_line: null, new_line: 5 }],
    ['a removed one', { old_line: 5 }, { old_line: 5, new_line: null }],
    ['an unchanged one of a hunk', { old_line: 4, new_line: 4 }, { old_line: 4, new_line: 4 }],
    ['one between the hunks', { old_line: 19, new_line: 19 }, { old_line: 19, new_line: 19 }],
  ])('is on %s', async (_what, lines, shown) => {
    const thread = bodyOf(await begin(positionIn(world, lines)), 201);
    expect(thread).toMatchObject({
      individual_note: false,
      notes: [
        {
          type: 'DiffNote',
          noteable_type: 'MergeRequest',
          position: { ...world.mergeRequest.diff_refs, new_path: 'a.txt', ...shown, line_range: null },
          resolvable: true,
          resolved: false,
          resolved_by: null,
          resolved_at: null,
        },
      ],
    });
    const reply = await ashlar.root(`POST ${world.path}/discussions/${thread.id}/notes`, {
      body: { body: 'Why?' },
    });
    expect(bodyOf(reply, 201)).toMatchObject({ type: 'DiffNote', position: thread.notes[0].position });
  });

  test('is on a range, an image’s place or a whole file', async () => {
    const range = { start: { new_line: 4, old_line: 4 }, end: { new_line: 5 } };
    const ranged = bodyOf(await begin(positionIn(world, { new_line: 5, line_range: range })), 201);
    expect(ranged.notes[0].position.line_range).toMatchObject({
      start: { type: null, old_line: 4, new_line: 4 },
      end: { type: 'new', old_line: null, new_line: 5 },
    });
    const file = bodyOf(await begin(positionIn(world, { position_type: 'file' })), 201);
    expect(file.notes[0].position).not.toHaveProperty('new_line');
    const place = { position_type: 'image', width: 10, height: 10, x: 1, y: 2 };
    expect(bodyOf(await begin(positionIn(world, place)), 201).notes[0].position).toMatchObject(place);
  });

  test.each([
    ['an unchanged line by one number', { new_line: 4, old_line: null }, 201],
    ['a line after the last', { new_line: 21, old_line: 21 }, 400],
    ['a wrong pair', { new_line: 10, old_line: 11 }, 400],
    ['an unchanged file', { new_path: 'other.txt', old_path: 'other.txt', new_line: 1 }, 400],
    ['a missing file', { new_path: 'none.txt', old_path: 'none.txt', new_line: 1 }, 400],
    ['a commit of no version', { new_line: 5, head_sha: '0'.repeat(40) }, 400],
    ['no line', {}, 400],
  ])('on %s is %s', async (_what, lines, status) => {
    const answered = await begin(positionIn(world, lines));
    expect(answered.status).toBe(status);
    if (status === 400)
      expect(answered.body.message).toMatch(/^400 Bad request - Note \{:(line_code|position)=>/);
  });

  test('of another project’s commits is refused', async () => {
    const other = await makeReviewWorld(ashlar, {}, 'Elsewhere');
    expect((await begin(positionIn(other, { new_line: 5 }))).status).toBe(400);
  });

  test('is nobody’s who does not see it', async () => {
    const hidden = await makeReviewWorld(ashlar);
    const { token } = await makeUser(ashlar);
    const body = { body: 'Here', position: positionIn(hidden, { new_line: 5 }) };
    expect((await ashlar.as(token)(`POST ${hidden.path}/discussions`, { body })).status).toBe(404);
    expect((await ashlar.call(`POST ${world.path}/discussions`, { body })).status).toBe(401);
  });
});

describe('settling', () => {
  let settled: World;
  let people: Record<'guest' | 'reporter' | 'developer', MadeUser>;
  let thread: { id: string; notes: { id: number }[] };

  beforeAll(async () => {
    settled = await makeReviewWorld(ashlar, {
      visibility: 'public',
      only_allow_merge_if_all_discussions_are_resolved: true,
    });
    people = await makeMembers(ashlar, `projects/${settled.project.id}`, 'guest', 'reporter', 'developer');
    const body = { body: 'Mine', position: positionIn(settled, { new_line: 5 }) };
    const asGuest = ashlar.as(people.guest.token);
    thread = bodyOf(await asGuest(`POST ${settled.path}/discussions`, { body }), 201);
  });

  const resolve = (token: string | undefined, resolved = true) => {
    const call = token === undefined ? ashlar.root : ashlar.as(token);
    return call(`PUT ${settled.path}/discussions/${thread.id}`, { body: { resolved } });
  };

  test('is for developers and the author of the merge request', async () => {
    expect(await isResolved(settled)).toBe(false);
    for (const name of ['guest', 'reporter'] as const)
      expect((await resolve(people[name].token)).status).toBe(403);
    expect((await resolve((await makeUser(ashlar)).token)).status).toBe(403);
    const done = bodyOf(await resolve(people.developer.token), 200);
    expect(done.notes).toMatchObject([{ resolved: true, resolved_by: { id: people.developer.id } }]);
    expect(await isResolved(settled)).toBe(true);
    expect(await notesOf(settled)).toEqual(['resolved all threads']);
    bodyOf(await resolve(undefined), 200);
    expect(await notesOf(settled)).toHaveLength(1);
    const reply = await ashlar.as(people.guest.token)(`POST ${settled.path}/discussions/${thread.id}/notes`, {
      body: { body: 'Thanks' },
    });
    expect(bodyOf(reply, 201)).toMatchObject({ resolved: true, resolved_by: { id: people.guest.id } });
    expect(await isResolved(settled)).toBe(true);
    expect(bodyOf(await resolve(undefined, false), 200).notes).toMatchObject([
      { resolved: false, resolved_by: null, resolved_at: null },
      { resolved: false },
    ]);
    expect(await isResolved(settled)).toBe(false);
  });

  test('of one note, or of its text, is one thing of two', async () => {
    const note = `${settled.path}/discussions/${thread.id}/notes/${thread.notes[0]?.id}`;
    const put = (body: Record<string, unknown>) => ashlar.root(`PUT ${note}`, { body });
    const both = await put({ body: 'Else', resolved: true });
    expect([both.status, both.body.error]).toEqual([400, 'body, resolved are mutually exclusive']);
    expect((await put({})).status).toBe(400);
    expect(bodyOf(await put({ resolved: true }), 200)).toMatchObject({ resolved: true, body: 'Mine' });
    expect(bodyOf(await put({ body: 'Else' }), 200)).toMatchObject({ resolved: true, body: 'Else' });
    bodyOf(await put({ resolved: false }), 200);
  });

  test('is told once, however many settle the last threads at once', async () => {
    const { path } = await makeReviewWorld(ashlar);
    const threads = await Promise.all(
      Array.from({ length: 6 }, async () =>
        bodyOf(await ashlar.root(`POST ${path}/discussions`, { body: { body: 'Open' } }), 201),
      ),
    );
    const done = await Promise.all(
      threads.map(({ id }) => ashlar.root(`PUT ${path}/discussions/${id}`, { body: { resolved: true } })),
    );
    expect(done.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await notesOf({ path })).toEqual(['resolved all threads']);
  });

  test('a plain note cannot be settled until it is answered', async () => {
    const { path } = await makeReviewWorld(ashlar);
    const note = bodyOf(await ashlar.root(`POST ${path}/notes`, { body: { body: 'Plain' } }), 201);
    expect(note).toMatchObject({ type: null, resolvable: false });
    const [{ id }] = bodyOf(await ashlar.root(`GET ${path}/discussions`), 200);
    const settle = () =>
      ashlar.root(`PUT ${path}/discussions/${id}/notes/${note.id}`, { body: { resolved: true } });
    expect((await settle()).body.message).toBe('400 Bad request - Note is not resolvable');
    bodyOf(await ashlar.root(`POST ${path}/discussions/${id}/notes`, { body: { body: 'So?' } }), 201);
    expect(bodyOf(await settle(), 200)).toMatchObject({ type: 'DiscussionNote', resolved: true });
  });

  test('nobody settles what an archived project has', async () => {
    const { project, path } = await makeReviewWorld(ashlar);
    const { id } = bodyOf(await ashlar.root(`POST ${path}/discussions`, { body: { body: 'Open' } }), 201);
    bodyOf(await ashlar.root(`POST /projects/${project.id}/archive`), 201);
    expect((await ashlar.root(`PUT ${path}/discussions/${id}`, { body: { resolved: true } })).status).toBe(
      403,
    );
  });
});

test('a thread is not found by the path of another merge request', async () => {
  const [one, two] = [await makeReviewWorld(ashlar), await makeProject(ashlar)];
  const { id } = bodyOf(await ashlar.root(`POST ${one.path}/discussions`, { body: { body: 'Open' } }), 201);
  const elsewhere = `/projects/${two.id}/merge_requests/1/discussions/${id}`;
  expect((await ashlar.root(`PUT ${elsewhere}`, { body: { resolved: true } })).status).toBe(404);
  expect((await ashlar.root(`GET ${world.path}/discussions/${id}`)).status).toBe(404);
});
