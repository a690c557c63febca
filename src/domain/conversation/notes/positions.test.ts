/** Threads with a position in a commit's diff. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { diffPosition } from './positions.ts';
import type { PositionInput } from './schema.ts';

const ashlar = useApp();
const NOWHERE = '0'.repeat(40);
let repository: string;
let sha: string;

beforeAll(async () => {
  const project = await makeProject(ashlar, { initialize_with_readme: true });
  repository = `/projects/${project.id}/repository/commits`;
  [{ id: sha }] = bodyOf(await ashlar.root(`GET ${repository}`), 200);
});

const commits = () => ({ base_sha: NOWHERE, start_sha: NOWHERE, head_sha: sha });
const begin = (position: unknown, more: Record<string, unknown> = {}) =>
  ashlar.root(`POST ${repository}/${sha}/discussions`, { body: { body: 'Here', position, ...more } });

describe('a thread', () => {
  test('stands where it was begun, and so do its answers', async () => {
    const sent = {
      ...commits(),
      position_type: 'text',
      new_path: 'README.md',
      old_path: 'README.md',
      new_line: 1,
    };
    const thread = bodyOf(await begin(sent), 201);
    const position = { ...sent, old_line: null, line_range: null };
    expect(thread).toMatchObject({
      individual_note: false,
      notes: [{ type: 'DiffNote', body: 'Here', position }],
    });
    const path = `${repository}/${sha}/discussions/${thread.id}`;
    const response = bodyOf(await ashlar.root(`POST ${path}/notes`, { body: { body: 'Why?' } }), 201);
    expect(response).toMatchObject({ type: 'DiffNote', position });
    expect(bodyOf(await ashlar.root(`GET ${path}`), 200).notes).toMatchObject([{ position }, { position }]);
    const changed = await ashlar.root(`PUT ${path}/notes/${response.id}`, { body: { body: 'How?' } });
    expect(bodyOf(changed, 200)).toMatchObject({ body: 'How?', type: 'DiffNote', position });
    const comments = bodyOf(await ashlar.root(`GET ${repository}/${sha}/comments`), 200);
    expect(comments[0]).toMatchObject({ note: 'Here', path: 'README.md', line: 1, line_type: 'new' });
  });

  test('without a position has none', async () => {
    const [note] = bodyOf(await begin(undefined), 201).notes;
    expect([note.type, 'position' in note]).toEqual(['DiscussionNote', false]);
  });

  test.each([
    ['of another commit', { head_sha: NOWHERE }, { commit_id: ['does not match the diff refs'] }],
    ['without a line', { new_line: null }, { position: ['is incomplete'] }],
    ['without a file', { new_path: null }, { position: ['is incomplete'] }],
    ['without a commit', { base_sha: undefined }, '400 Bad request - "position[base_sha]" not given'],
    [
      'of no kind',
      { position_type: 'else' },
      { position: { position_type: ['does not have a valid value'] } },
    ],
    ['of what is no commit', { start_sha: 'main' }, { position: { start_sha: ['is invalid'] } }],
  ])('%s is refused', async (_what, wrong, message) => {
    const sent = { ...commits(), position_type: 'text', new_path: 'README.md', new_line: 1, ...wrong };
    const refused = await begin(sent);
    expect([refused.status, refused.body.message]).toEqual([400, message]);
  });

  test('is begun by a form as well', async () => {
    const form = new URLSearchParams({
      body: 'Here',
      'position[position_type]': 'file',
      'position[new_path]': 'README.md',
    });
    for (const [name, value] of Object.entries(commits())) form.append(`position[${name}]`, value);
    const thread = await ashlar.root(`POST ${repository}/${sha}/discussions`, { form: String(form) });
    expect(bodyOf(thread, 201).notes[0].position).toMatchObject({
      position_type: 'file',
      new_path: 'README.md',
    });
  });
});

const at = (position: Partial<PositionInput>): PositionInput => ({
  base_sha: NOWHERE,
  start_sha: NOWHERE,
  head_sha: NOWHERE,
  position_type: 'text',
  ...position,
});
const spot = { width: 10, height: 20, x: 0, y: 2 };

test.each<[Partial<PositionInput>, Record<string, unknown>, Record<string, unknown>]>([
  [
    { old_path: 'a', old_line: 3 },
    { old_path: 'a', new_path: null, old_line: 3, new_line: null, line_range: null },
    { path: 'a', line: 3, line_type: 'old' },
  ],
  [
    {
      new_path: 'b',
      old_path: 'a',
      new_line: 4,
      old_line: 3,
      line_range: { start: { new_line: 2 }, end: { new_line: 4 } },
    },
    {
      line_range: {
        start: { line_code: null, type: null, old_line: null, new_line: 2 },
        end: { new_line: 4 },
      },
    },
    { path: 'b', line: 4, line_type: 'new' },
  ],
  [
    { position_type: 'image', new_path: 'a.png', ...spot },
    spot,
    { path: 'a.png', line: null, line_type: null },
  ],
  [{ position_type: 'file', new_path: 'a' }, { new_path: 'a' }, { path: 'a', line: null, line_type: null }],
])('%j is kept', (sent, position, line) => {
  expect(diffPosition({ sha: NOWHERE }, at(sent))).toMatchObject({ position, line });
});

test.each<Partial<PositionInput>>([
  {},
  { new_path: 'a' },
  { new_line: 1 },
  { position_type: 'image', new_path: 'a' },
  { position_type: 'image', new_path: 'a', ...spot, y: null },
  { position_type: 'file' },
])('%j does not say where', (sent) => {
  expect(() => diffPosition({ sha: NOWHERE }, at(sent))).toThrow();
});
