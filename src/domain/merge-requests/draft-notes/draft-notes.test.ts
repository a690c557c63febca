/** Draft notes: seen by their author alone, and published once. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import { makeReviewWorld, positionIn } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
type World = Awaited<ReturnType<typeof makeReviewWorld>>;
let world: World;
let people: Record<'guest' | 'developer', MadeUser>;

beforeAll(async () => {
  world = await makeReviewWorld(ashlar, { visibility: 'public' });
  people = await makeMembers(ashlar, `projects/${world.project.id}`, 'guest', 'developer');
});

const draftsAt = ({ path }: World) => `${path}/draft_notes`;
const make = async (body: Record<string, unknown>, of: World = world, token = people.developer.token) =>
  bodyOf(await ashlar.as(token)(`POST ${draftsAt(of)}`, { body }), 201);
const discussionsOf = async ({ path }: World) => bodyOf(await ashlar.root(`GET ${path}/discussions`), 200);

async function makeOther(): Promise<World> {
  const other = await makeReviewWorld(ashlar);
  const body = { user_id: people.developer.id, access_level: 30 };
  bodyOf(await ashlar.root(`POST /projects/${other.project.id}/members`, { body }), 201);
  return other;
}

describe('drafts', () => {
  test('are written, listed, changed and deleted by their author', async () => {
    const as = ashlar.as(people.developer.token);
    const draft = await make({ note: 'Later', position: positionIn(world, { new_line: 5 }) });
    expect(draft).toEqual({
      id: expect.any(Number),
      author_id: people.developer.id,
      merge_request_id: world.mergeRequest.id,
      resolve_discussion: false,
      discussion_id: null,
      note: 'Later',
      commit_id: null,
      line_code: expect.stringMatching(/^[0-9a-f]{40}_6_5$/),
      position: { ...positionIn(world, { new_line: 5 }), old_line: null, line_range: null },
    });
    const path = `${draftsAt(world)}/${draft.id}`;
    expect(bodyOf(await as(`GET ${draftsAt(world)}`), 200)).toEqual([draft]);
    expect(bodyOf(await as(`PUT ${path}`, { body: { note: 'Now' } }), 200)).toEqual({
      ...draft,
      note: 'Now',
    });
    const none = await as(`PUT ${path}`, { body: {} });
    expect([none.status, none.body.message]).toEqual([400, '400 Bad request - Missing params to modify']);
    expect((await as(`PUT ${path}`, { body: { note: ' ' } })).status).toBe(400);
    expect((await as(`DELETE ${path}`)).status).toBe(204);
    expect((await as(`GET ${path}`)).status).toBe(404);
  });

  test('are listed whole: clients ask for no further page', async () => {
    const other = await makeOther();
    const as = ashlar.as(people.developer.token);
    const count = 21;
    for (let at = 0; at < count; at++)
      bodyOf(await as(`POST ${draftsAt(other)}`, { body: { note: `Draft ${at}` } }), 201);
    const listed: { note: string }[] = bodyOf(await as(`GET ${draftsAt(other)}`), 200);
    expect(listed.map(({ note }) => note)).toEqual(Array.from({ length: count }, (_, at) => `Draft ${at}`));
  });

  test.each(['GET', 'PUT', 'DELETE', 'publish'])('of others are 404: %s', async (what) => {
    const draft = await make({ note: 'Mine' });
    const path = `${draftsAt(world)}/${draft.id}`;
    const call = what === 'publish' ? `PUT ${path}/publish` : `${what} ${path}`;
    for (const who of [ashlar.root, ashlar.as(people.guest.token)])
      expect((await who(call, what === 'PUT' ? { body: { note: 'x' } } : {})).status).toBe(404);
    expect(bodyOf(await ashlar.root(`GET ${draftsAt(world)}`), 200)).toEqual([]);
    bodyOf(await ashlar.root(`POST ${draftsAt(world)}/bulk_publish`), 204);
    expect(bodyOf(await ashlar.as(people.developer.token)(`GET ${path}`), 200).note).toBe('Mine');
  });

  test('are not changed through another merge request', async () => {
    const other = await makeOther();
    const draft = await make({ note: 'Here' });
    const as = ashlar.as(people.developer.token);
    const changed = await as(`PUT ${draftsAt(other)}/${draft.id}`, { body: { note: 'There' } });
    expect(changed.status).toBe(404);
    expect(bodyOf(await as(`GET ${draftsAt(world)}/${draft.id}`), 200).note).toBe('Here');
    bodyOf(await as(`DELETE ${draftsAt(world)}/${draft.id}`), 204);
  });

  test('are nobody’s who does not see the merge request', async () => {
    const hidden = await makeReviewWorld(ashlar);
    const { token } = await makeUser(ashlar);
    expect((await ashlar.as(token)(`GET ${draftsAt(hidden)}`)).status).toBe(404);
    expect((await ashlar.as(token)(`POST ${draftsAt(hidden)}`, { body: { note: 'x' } })).status).toBe(404);
    expect((await ashlar.call(`GET ${draftsAt(world)}`)).status).toBe(401);
  });

  test.each([
    ['on what is not in the diff', () => ({ position: positionIn(world, { new_line: 99 }) }), 400],
    ['answering no thread', () => ({ in_reply_to_discussion_id: 'a'.repeat(40) }), 404],
    ['settling no thread', () => ({ resolve_discussion: true }), 400],
  ])('%s are refused', async (_what, more, status) => {
    const body = { note: 'x', ...more() };
    expect((await ashlar.as(people.developer.token)(`POST ${draftsAt(world)}`, { body })).status).toBe(
      status,
    );
  });

  test('of who may not settle threads do not settle any', async () => {
    const { id } = bodyOf(
      await ashlar.root(`POST ${world.path}/discussions`, { body: { body: 'Open' } }),
      201,
    );
    const body = { note: 'Done', in_reply_to_discussion_id: id, resolve_discussion: true };
    const refused = await ashlar.as(people.guest.token)(`POST ${draftsAt(world)}`, { body });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      { base: ['User is not allowed to resolve thread'] },
    ]);
  });

  test('are at most so many, and so long, in all', async () => {
    const other = await makeOther();
    const { sql } = ashlar.app.services.database;
    await sql`insert into draft_notes (merge_request_id, author_id, note, created_at, updated_at)
      select ${other.mergeRequest.id}, ${people.developer.id}, 'x', now(), now() from generate_series(1, 199)`;
    const asked = await Promise.all(
      Array.from({ length: 4 }, () =>
        ashlar.as(people.developer.token)(`POST ${draftsAt(other)}`, { body: { note: 'x' } }),
      ),
    );
    expect(asked.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
  });
});

describe('publishing', () => {
  test('one makes a note of it', async () => {
    const other = await makeOther();
    const draft = await make({ note: 'One', position: positionIn(other, { new_line: 5 }) }, other);
    const publish = () => ashlar.as(people.developer.token)(`PUT ${draftsAt(other)}/${draft.id}/publish`);
    const asked = await Promise.all(Array.from({ length: 4 }, publish));
    expect(asked.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404]);
    expect(await discussionsOf(other)).toMatchObject([
      {
        notes: [
          { type: 'DiffNote', body: 'One', author: { id: people.developer.id }, position: { new_line: 5 } },
        ],
      },
    ]);
  });

  test('all makes a review: notes, threads, answers, and its author a reviewer', async () => {
    const other = await makeOther();
    const { path } = other;
    const begin = async (body: string) =>
      bodyOf(await ashlar.root(`POST ${path}/discussions`, { body: { body } }), 201).id;
    const [settled, answered] = [await begin('Settle'), await begin('Answer')];
    await make({ note: 'Plain' }, other);
    await make({ note: 'Here', position: positionIn(other, { new_line: 5 }) }, other);
    await make({ note: 'Done', in_reply_to_discussion_id: settled, resolve_discussion: true }, other);
    await make({ note: 'Why?', in_reply_to_discussion_id: answered }, other);
    const publish = () => ashlar.as(people.developer.token)(`POST ${draftsAt(other)}/bulk_publish`);
    const asked = await Promise.all([publish(), publish(), publish()]);
    expect(asked.map(({ status }) => status)).toEqual([204, 204, 204]);
    const [one, two, ...rest] = await discussionsOf(other);
    expect([one, two]).toMatchObject([
      { id: settled, notes: [{ resolved: true }, { body: 'Done', resolved: true }] },
      { id: answered, notes: [{ resolved: false }, { body: 'Why?' }] },
    ]);
    expect(rest).toMatchObject([
      { individual_note: true, notes: [{ type: null, body: 'Plain' }] },
      { individual_note: false, notes: [{ type: 'DiffNote', body: 'Here' }] },
      { notes: [{ system: true, body: 'left review comments', author: { id: people.developer.id } }] },
    ]);
    expect(bodyOf(await ashlar.root(`GET ${path}/reviewers`), 200)).toMatchObject([
      { user: { id: people.developer.id }, state: 'reviewed' },
    ]);
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).user_notes_count).toBe(6);
    expect(bodyOf(await ashlar.as(people.developer.token)(`GET ${draftsAt(other)}`), 200)).toEqual([]);
  });

  test('begins a review of a reviewer, and gives to-dos to those whose work it is', async () => {
    const other = await makeOther();
    const { path } = other;
    const { guest, developer } = people;
    const body = { user_id: guest.id, access_level: 20 };
    bodyOf(await ashlar.root(`POST /projects/${other.project.id}/members`, { body }), 201);
    const asked = { assignee_ids: [guest.id, developer.id], reviewer_ids: [developer.id] };
    bodyOf(await ashlar.root(`PUT ${path}`, { body: asked }), 200);
    const stateOf = async () => bodyOf(await ashlar.root(`GET ${path}/reviewers`), 200)[0].state;
    const todosOf = async (call: typeof ashlar.root) =>
      bodyOf(
        await call('GET /todos', { query: `project_id=${other.project.id}&action=review_submitted` }),
        200,
      ).map(({ action_name }: { action_name: string }) => action_name);
    expect(await stateOf()).toBe('unreviewed');
    const publish = () => ashlar.as(developer.token)(`POST ${draftsAt(other)}/bulk_publish`);
    for (const note of ['One', 'Two']) {
      await make({ note }, other);
      expect(await stateOf()).toBe('review_started');
      bodyOf(await publish(), 204);
      expect(await stateOf()).toBe('reviewed');
    }
    expect(await todosOf(ashlar.root)).toEqual(['review_submitted']);
    expect(await todosOf(ashlar.as(guest.token))).toEqual(['review_submitted']);
    expect(await todosOf(ashlar.as(developer.token))).toEqual([]);
    const { sql } = ashlar.app.services.database;
    await sql`update merge_request_reviewers set state = 'approved' where merge_request_id = ${other.mergeRequest.id}`;
    await make({ note: 'Three' }, other);
    expect(await stateOf()).toBe('approved');
  });

  test('of the author of the merge request is no review', async () => {
    const other = await makeOther();
    bodyOf(await ashlar.root(`POST ${draftsAt(other)}`, { body: { note: 'Mine' } }), 201);
    bodyOf(await ashlar.root(`POST ${draftsAt(other)}/bulk_publish`), 204);
    expect(await discussionsOf(other)).toMatchObject([{ notes: [{ body: 'Mine' }] }]);
    expect(bodyOf(await ashlar.root(`GET ${other.path}/reviewers`), 200)).toEqual([]);
  });

  test('a draft that settles nothing opens a settled thread again', async () => {
    const other = await makeOther();
    const { id } = bodyOf(await ashlar.root(`POST ${other.path}/discussions`, { body: { body: 'So' } }), 201);
    bodyOf(await ashlar.root(`PUT ${other.path}/discussions/${id}`, { body: { resolved: true } }), 200);
    await make({ note: 'Not yet', in_reply_to_discussion_id: id }, other);
    bodyOf(await ashlar.as(people.developer.token)(`POST ${draftsAt(other)}/bulk_publish`), 204);
    expect(await discussionsOf(other)).toMatchObject([
      { notes: [{ resolved: false }, { resolved: false }] },
      { notes: [{ system: true }] },
      { notes: [{ body: 'left review comments' }] },
    ]);
  });

  test('a draft whose thread is gone stays, and the others are published', async () => {
    const other = await makeOther();
    const { id } = bodyOf(await ashlar.root(`POST ${other.path}/notes`, { body: { body: 'Gone' } }), 201);
    const [{ id: thread }] = await discussionsOf(other);
    await make({ note: 'First' }, other);
    await make({ note: 'Second', in_reply_to_discussion_id: thread }, other);
    bodyOf(await ashlar.root(`DELETE ${other.path}/notes/${id}`), 204);
    const as = ashlar.as(people.developer.token);
    for (let published = 0; published < 2; published++) {
      bodyOf(await as(`POST ${draftsAt(other)}/bulk_publish`), 204);
      expect(await discussionsOf(other)).toMatchObject([
        { notes: [{ body: 'First' }] },
        { notes: [{ body: 'left review comments' }] },
      ]);
      const [left, ...rest] = bodyOf(await as(`GET ${draftsAt(other)}`), 200);
      expect([left.note, rest]).toEqual(['Second', []]);
      expect((await as(`PUT ${draftsAt(other)}/${left.id}/publish`)).status).toBe(404);
    }
  });

  test('a locked discussion takes no draft of strangers', async () => {
    const { token } = await makeUser(ashlar);
    const open = await makeReviewWorld(ashlar, { visibility: 'public' });
    await make({ note: 'Before' }, open, token);
    bodyOf(await ashlar.root(`PUT ${open.path}`, { body: { discussion_locked: true } }), 200);
    expect((await ashlar.as(token)(`POST ${draftsAt(open)}/bulk_publish`)).status).toBe(403);
    expect((await ashlar.as(token)(`POST ${draftsAt(open)}`, { body: { note: 'After' } })).status).toBe(403);
    expect(await discussionsOf(open)).toMatchObject([{ notes: [{ system: true }] }]);
  });
});
