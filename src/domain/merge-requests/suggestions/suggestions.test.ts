/** Suggestions in notes on lines: made, read, applied, and refused. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeReviewWorld,
  numberedLines,
  positionIn,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();
type World = Awaited<ReturnType<typeof makeReviewWorld>>;
type Thread = { id: string; notes: { id: number; suggestions: Suggestion[] }[] };
type Suggestion = { id: number; [field: string]: unknown };

const block = (lines: string, range = ''): string => `Rather:\n\`\`\`suggestion${range}\n${lines}\n\`\`\`\n`;

async function suggest(
  world: Pick<World, 'path' | 'mergeRequest'>,
  body: string,
  { lines = { new_line: 5 }, token, more = {} }: { lines?: object; token?: string; more?: object } = {},
): Promise<Thread> {
  const call = token === undefined ? ashlar.root : ashlar.as(token);
  const position = positionIn(world, { ...lines });
  return bodyOf(await call(`POST ${world.path}/discussions`, { body: { body, position, ...more } }), 201);
}
const idOf = ({ notes }: Thread): number => notes[0]?.suggestions[0]?.id ?? 0;
const apply = (id: number, body: object = {}, token?: string): Promise<Called> =>
  (token === undefined ? ashlar.root : ashlar.as(token))(`PUT /suggestions/${id}/apply`, {
    body: { ...body },
  });
const applyAll = (ids: readonly number[], body: object = {}): Promise<Called> =>
  ashlar.root('PUT /suggestions/batch_apply', { body: { ids, ...body } });
const fileOf = async ({ project }: Pick<World, 'project'>, path = 'a.txt', ref = 'topic'): Promise<string> =>
  (await ashlar.root(`GET /projects/${project.id}/repository/files/${path}/raw`, { query: `ref=${ref}` }))
    .text;
const headOf = async ({ project }: Pick<World, 'project'>, branch = 'topic') =>
  bodyOf(await ashlar.root(`GET /projects/${project.id}/repository/commits/${branch}`), 200);
const threadOf = async ({ path }: Pick<World, 'path'>, { id }: Pick<Thread, 'id'>): Promise<Thread> =>
  bodyOf(await ashlar.root(`GET ${path}/discussions/${id}`), 200);
const refusalOf = async (called: Promise<Called>): Promise<[number, string]> => {
  const { status, body } = await called;
  return [status, body.message];
};

describe('a note on a line', () => {
  let world: World;

  beforeAll(async () => {
    world = await makeReviewWorld(ashlar);
  });

  test('has what it suggests, for every reader of notes', async () => {
    const thread = await suggest(world, `${block('FIVE')}${block('4\n5\n6', ':-1+1')}`);
    const suggestions = [
      {
        id: expect.any(Number),
        from_line: 5,
        to_line: 5,
        appliable: true,
        applied: false,
        from_content: 'five\n',
        to_content: 'FIVE\n',
      },
      {
        id: expect.any(Number),
        from_line: 4,
        to_line: 6,
        appliable: true,
        applied: false,
        from_content: 'line 4\nfive\nline 6\n',
        to_content: '4\n5\n6\n',
      },
    ];
    const [note] = thread.notes;
    expect(note?.suggestions).toEqual(suggestions);
    const paths = [
      `${world.path}/notes/${note?.id}`,
      `${world.path}/discussions/${thread.id}/notes/${note?.id}`,
    ];
    for (const path of paths)
      expect(bodyOf(await ashlar.root(`GET ${path}`), 200).suggestions).toEqual(suggestions);
    for (const path of [`${world.path}/notes`, `${world.path}/discussions/${thread.id}/notes`])
      expect(bodyOf(await ashlar.root(`GET ${path}`), 200)).toContainEqual(
        expect.objectContaining({ id: note?.id, suggestions }),
      );
    const threads: Thread[] = bodyOf(await ashlar.root(`GET ${world.path}/discussions`), 200);
    expect(threads.find(({ id }) => id === thread.id)?.notes[0]?.suggestions).toEqual(suggestions);
  });

  test('suggests in an answer too, and what its text suggests when it was changed', async () => {
    const thread = await suggest(world, 'No idea');
    expect(thread.notes[0]?.suggestions).toEqual([]);
    const path = `${world.path}/discussions/${thread.id}/notes`;
    const reply = bodyOf(await ashlar.root(`POST ${path}`, { body: { body: block('V') } }), 201);
    expect(reply.suggestions).toMatchObject([{ from_content: 'five\n', to_content: 'V\n' }]);
    const change = (body: string) => ashlar.root(`PUT ${world.path}/notes/${reply.id}`, { body: { body } });
    const changed = bodyOf(await change(block('')), 200);
    expect(changed.suggestions).toMatchObject([{ from_content: 'five\n', to_content: '' }]);
    expect(bodyOf(await change('Nothing'), 200).suggestions).toEqual([]);
    expect((await threadOf(world, thread)).notes[1]?.suggestions).toEqual([]);
  });

  test('that a draft becomes suggests what the draft did', async () => {
    const position = positionIn(world, { new_line: 5 });
    const drafts = `${world.path}/draft_notes`;
    const make = async (body: object) =>
      bodyOf(await ashlar.root(`POST ${drafts}`, { body: { ...body } }), 201).id;
    const answered = await suggest(world, 'Well');
    await make({ note: block('one'), position });
    const changed = await make({ note: 'two', position });
    bodyOf(await ashlar.root(`PUT ${drafts}/${changed}`, { body: { note: block('two') } }), 200);
    await make({ note: block('three'), in_reply_to_discussion_id: answered.id });
    bodyOf(await ashlar.root(`POST ${drafts}/bulk_publish`), 204);
    const notes = bodyOf(await ashlar.root(`GET ${world.path}/notes`, { query: 'sort=asc' }), 200);
    const suggested = notes.flatMap(({ suggestions = [] }: { suggestions?: { to_content: string }[] }) =>
      suggestions.map(({ to_content }) => to_content),
    );
    expect(suggested.slice(-3)).toEqual(['one\n', 'two\n', 'three\n']);
  });

  test.each([
    ['without a line', { position_type: 'file' }],
    ['that was removed', { old_line: 5 }],
  ])('%s suggests nothing', async (_what, lines) => {
    expect((await suggest(world, block('x'), { lines })).notes[0]?.suggestions).toEqual([]);
  });

  test('by itself has none', async () => {
    const note = bodyOf(await ashlar.root(`POST ${world.path}/notes`, { body: { body: block('x') } }), 201);
    expect(note).not.toHaveProperty('suggestions');
  });
});

describe('applying', () => {
  test('commits it, marks it and resolves its thread, exactly once however many ask', async () => {
    const world = await makeReviewWorld(ashlar);
    const { developer, reporter } = await makeMembers(
      ashlar,
      `projects/${world.project.id}`,
      'developer',
      'reporter',
    );
    const thread = await suggest(world, block('FIVE'), { token: reporter.token });
    const ask = () => apply(idOf(thread), {}, developer.token);
    const asked = await Promise.all(Array.from({ length: 5 }, ask));
    expect(asked.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(asked.find(({ status }) => status === 200)?.body).toEqual({
      id: idOf(thread),
      from_line: 5,
      to_line: 5,
      appliable: false,
      applied: true,
      from_content: 'five\n',
      to_content: 'FIVE\n',
    });
    expect(await fileOf(world)).toBe(numberedLines({ 5: 'FIVE' }));
    const head = await headOf(world);
    expect(head).toMatchObject({
      parent_ids: [world.mergeRequest.sha],
      message: `Apply 1 suggestion(s) to 1 file(s)\n\nCo-authored-by: ${reporter.username} <${reporter.email}>`,
      author_name: reporter.username,
      committer_name: developer.username,
    });
    const after = await threadOf(world, thread);
    expect(after.notes[0]).toMatchObject({
      resolved: true,
      resolved_by: { id: developer.id },
      suggestions: [{ applied: true, appliable: false }],
    });
    expect(await refusalOf(ask())).toEqual([400, "Can't apply this suggestion."]);
    await waitForFollowing(ashlar);
    expect(bodyOf(await ashlar.root(`GET ${world.path}`), 200).sha).toBe(head.id);
  });

  test('several makes one commit, or none', async () => {
    const world = await makeReviewWorld(ashlar);
    await commitTo(ashlar, world.project.id, 'topic', { 'b.txt': 'b\n' });
    await waitForFollowing(ashlar);
    const mergeRequest = bodyOf(await ashlar.root(`GET ${world.path}`), 200);
    const now = { ...world, mergeRequest };
    const [one, other, overlapping] = [
      await suggest(now, block('FIVE')),
      await suggest(now, block('B\nB'), { lines: { new_line: 1, new_path: 'b.txt', old_path: 'b.txt' } }),
      await suggest(now, block('x', ':-1'), { lines: { old_line: 6, new_line: 6 } }),
    ].map(idOf);
    const ids = [one ?? 0, other ?? 0];
    expect(await refusalOf(applyAll([...ids, overlapping ?? 0]))).toEqual([
      400,
      'Suggestions are not applicable as their lines cannot overlap.',
    ]);
    const missing = 'Suggestions are not applicable as one or more suggestions were not found.';
    expect(await refusalOf(applyAll([...ids, 999_999]))).toEqual([404, missing]);
    expect(await refusalOf(applyAll([...ids, one ?? 0]))).toEqual([404, missing]);
    expect((await applyAll([])).status).toBe(400);
    expect((await headOf(now)).id).toBe(mergeRequest.sha);
    const commit_message = '%{suggestions_count} in %{file_paths} of %{branch_name} by %{username}';
    expect(bodyOf(await applyAll(ids, { commit_message }), 200)).toMatchObject([
      { id: one, applied: true },
      { id: other, applied: true },
    ]);
    expect(await headOf(now)).toMatchObject({
      message: '2 in a.txt, b.txt of topic by root',
      parent_ids: [mergeRequest.sha],
    });
    expect(await fileOf(now)).toBe(numberedLines({ 5: 'FIVE' }));
    expect(await fileOf(now, 'b.txt')).toBe('B\nB\n');
  });

  test('takes the message of the project', async () => {
    const world = await makeReviewWorld(ashlar, {
      suggestion_commit_message: 'Suggested in %{project_path}',
    });
    bodyOf(await apply(idOf(await suggest(world, block('FIVE'))), { commit_message: ' ' }), 200);
    const path = world.project.path_with_namespace.split('/').at(-1);
    expect((await headOf(world)).message).toBe(`Suggested in ${path}`);
  });

  test('is for those who may push to the source branch', async () => {
    const world = await makeReviewWorld(ashlar, { visibility: 'public' });
    const people = await makeMembers(
      ashlar,
      `projects/${world.project.id}`,
      'guest',
      'reporter',
      'developer',
    );
    const id = idOf(await suggest(world, block('FIVE')));
    const stranger = await makeUser(ashlar);
    for (const { token } of [stranger, people.guest, people.reporter])
      expect((await apply(id, {}, token)).status).toBe(403);
    expect((await ashlar.call(`PUT /suggestions/${id}/apply`, { body: {} })).status).toBe(401);
    const body = { name: 'topic', push_access_level: 40 };
    bodyOf(await ashlar.root(`POST /projects/${world.project.id}/protected_branches`, { body }), 201);
    expect((await apply(id, {}, people.developer.token)).status).toBe(403);
    expect(await fileOf(world)).toBe(numberedLines({ 5: 'five' }));
  });

  test('is 404 where the caller does not see the merge request, or its note', async () => {
    const world = await makeReviewWorld(ashlar);
    const missing: [number, string] = [404, 'Suggestion is not applicable as the suggestion was not found.'];
    const id = idOf(await suggest(world, block('FIVE')));
    expect(await refusalOf(apply(id, {}, (await makeUser(ashlar)).token))).toEqual(missing);
    expect(await refusalOf(apply(999_999))).toEqual(missing);
    const { guest } = await makeMembers(ashlar, `projects/${world.project.id}`, 'guest');
    expect(await refusalOf(apply(id, {}, guest.token))).toEqual(missing);
    const open = await makeReviewWorld(ashlar, { visibility: 'public' });
    const hidden = idOf(await suggest(open, block('FIVE'), { more: { internal: true } }));
    const other = (await makeUser(ashlar)).token;
    expect(await refusalOf(apply(hidden, {}, other))).toEqual(missing);
    expect(await refusalOf(apply(idOf(await suggest(open, block('FIVE'))), {}, other))).toEqual([
      403,
      '403 Forbidden',
    ]);
  });

  test('is refused on several branches', async () => {
    const [one, other] = [await makeReviewWorld(ashlar), await makeReviewWorld(ashlar)];
    const ids = [idOf(await suggest(one, block('FIVE'))), idOf(await suggest(other, block('FIVE')))];
    expect(await refusalOf(applyAll(ids))).toEqual([400, 'Suggestions must all be on the same branch.']);
  });

  test('is refused where it changes nothing', async () => {
    const world = await makeReviewWorld(ashlar);
    const same = await suggest(world, block('five'));
    expect(same.notes[0]?.suggestions).toMatchObject([{ appliable: false }]);
    expect(await refusalOf(apply(idOf(same)))).toEqual([400, 'This suggestion already matches its content.']);
  });
});

describe('after a push', () => {
  const stale = (lines: string): [number, string] => [
    400,
    `Can't apply as ${lines} changed in a more recent version.`,
  ];

  test('it moves along with its line, as long as all of its lines are as they were', async () => {
    const world = await makeReviewWorld(ashlar);
    const one = await suggest(world, block('FIVE'));
    const three = await suggest(world, block('FIVE', ':-1+1'));
    const changed = { 'a.txt': `new\n${numberedLines({ 5: 'five', 6: 'six' })}` };
    await commitTo(ashlar, world.project.id, 'topic', changed);
    await waitForFollowing(ashlar);
    expect((await threadOf(world, one)).notes[0]?.suggestions).toMatchObject([
      { from_line: 6, to_line: 6, appliable: true },
    ]);
    expect((await threadOf(world, three)).notes[0]?.suggestions).toMatchObject([
      { from_line: 5, to_line: 7, appliable: false },
    ]);
    expect(await refusalOf(apply(idOf(three)))).toEqual(stale('these lines were'));
    bodyOf(await apply(idOf(one)), 200);
    expect(await fileOf(world)).toBe(`new\n${numberedLines({ 5: 'FIVE', 6: 'six' })}`);
  });

  test('it is outdated where its line changed', async () => {
    const world = await makeReviewWorld(ashlar);
    const thread = await suggest(world, block('FIVE'));
    await commitTo(ashlar, world.project.id, 'topic', { 'a.txt': numberedLines({ 5: 'Five' }) });
    expect(await refusalOf(apply(idOf(thread)))).toEqual(stale('this line was'));
    await waitForFollowing(ashlar);
    expect((await threadOf(world, thread)).notes[0]?.suggestions).toMatchObject([
      { from_line: 5, appliable: false, applied: false },
    ]);
  });

  test.each([
    ['closed', 'This merge request is closed. To apply this suggestion, edit this file directly.'],
    ['merged', 'This merge request was merged. To apply this suggestion, edit this file directly.'],
    ['without its branch', "Can't apply as the source branch was deleted."],
  ])('of a merge request that is %s it is refused', async (what, message) => {
    const world = await makeReviewWorld(ashlar);
    const id = idOf(await suggest(world, block('FIVE')));
    if (what === 'closed')
      bodyOf(await ashlar.root(`PUT ${world.path}`, { body: { state_event: 'close' } }), 200);
    else if (what === 'merged') bodyOf(await ashlar.root(`PUT ${world.path}/merge`), 200);
    else {
      const path = `/projects/${world.project.id}/repository/branches/topic`;
      expect((await ashlar.root(`DELETE ${path}`)).status).toBe(204);
      const { sql } = ashlar.app.services.database;
      await waitForFollowing(ashlar);
      // As it is until the push is followed.
      await sql`update merge_requests set state = 'opened' where id = ${world.mergeRequest.id}`;
    }
    expect(await refusalOf(apply(id))).toEqual([400, message]);
  });
});

test('from a fork it is applied there, by those who may push there', async () => {
  const project = await makeProject(ashlar, { visibility: 'public' });
  await commitTo(ashlar, project.id, 'main', { 'a.txt': numberedLines() });
  const owner = await makeUser(ashlar);
  const { developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer');
  const as = ashlar.as(owner.token);
  const fork = bodyOf(await as(`POST /projects/${project.id}/fork`, { body: {} }), 201);
  await expect
    .poll(async () => bodyOf(await as(`GET /projects/${fork.id}`), 200).import_status, { timeout: 20_000 })
    .toBe('finished');
  await commitTo(ashlar, fork.id, 'topic', { 'a.txt': numberedLines({ 5: 'five' }) });
  const body = {
    title: 'From afar',
    source_branch: 'topic',
    target_branch: 'main',
    target_project_id: project.id,
  };
  const made = bodyOf(await as(`POST /projects/${fork.id}/merge_requests`, { body }), 201);
  const path = `/projects/${project.id}/merge_requests/${made.iid}`;
  const thread = await suggest({ path, mergeRequest: made }, block('FIVE'), { token: developer.token });
  expect((await apply(idOf(thread), {}, developer.token)).status).toBe(403);
  bodyOf(await apply(idOf(thread), {}, owner.token), 200);
  expect(await fileOf({ project: fork })).toBe(numberedLines({ 5: 'FIVE' }));
  expect((await threadOf({ path }, thread)).notes[0]).toMatchObject({ resolved: true });
  await waitForFollowing(ashlar);
  const mergeRequest = bodyOf(await ashlar.root(`GET ${path}`), 200);
  const later = await suggest({ path, mergeRequest }, block('V'));
  const { sql } = ashlar.app.services.database;
  await sql`update merge_requests set source_project_id = null where id = ${mergeRequest.id}`;
  expect(await refusalOf(apply(idOf(later)))).toEqual([400, "Can't apply as the source branch was deleted."]);
  expect((await threadOf({ path }, later)).notes[0]?.suggestions).toMatchObject([{ appliable: false }]);
});
