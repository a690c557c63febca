/** Quick actions in changed notes are applied as in new ones. */
import { beforeAll, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
let project: { id: number; path_with_namespace: string };
let author: MadeUser;
let guest: MadeUser;

beforeAll(async () => {
  project = await makeProject(ashlar, { visibility: 'public' });
  [author, guest] = [await makeUser(ashlar), await makeUser(ashlar)];
  for (const user of [author, guest]) await addMember(ashlar, `projects/${project.id}`, user, 10);
});

async function makeIssue(): Promise<string> {
  const body = { title: 'Something' };
  const issue = bodyOf(await ashlar.as(author.token)(`POST /projects/${project.id}/issues`, { body }), 201);
  return `/projects/${project.id}/issues/${issue.iid}`;
}

const stateOf = async (path: string): Promise<Called['body']> =>
  bodyOf(await ashlar.root(`GET ${path}`), 200);

async function noteOn(path: string, user: MadeUser): Promise<{ id: number }> {
  return bodyOf(await ashlar.as(user.token)(`POST ${path}/notes`, { body: { body: 'First' } }), 201);
}

const change = (path: string, id: number, user: MadeUser, body: string) =>
  ashlar.as(user.token)(`PUT ${path}/notes/${id}`, { body: { body } });

test('they are left out of the text, and what they changed is told', async () => {
  const path = await makeIssue();
  const { id } = await noteOn(path, author);
  const changed = bodyOf(await change(path, id, author, 'Second\n/close'), 200);
  expect(changed).toMatchObject({ id, body: 'Second', commands_changes: { state_event: 'close' } });
  expect((await stateOf(path)).state).toBe('closed');
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { state_event: 'reopen' } }), 200);
  expect(bodyOf(await change(path, id, author, 'Second'), 200).commands_changes).toEqual({});
  expect((await stateOf(path)).state).toBe('opened');
});

test('of a note that is commands alone only what they did remains', async () => {
  const path = await makeIssue();
  const { id } = await noteOn(path, author);
  const done = await change(path, id, author, '/title Better');
  expect(bodyOf(done, 202)).toEqual({
    commands_changes: { title: 'Better' },
    summary: ['Changed the title to "Better".'],
  });
  expect(await stateOf(path)).toMatchObject({ title: 'Better', user_notes_count: 0 });
  expect((await ashlar.root(`GET ${path}/notes/${id}`)).status).toBe(404);
});

test('who may not give them, or may not change the note, changes nothing', async () => {
  const path = await makeIssue();
  const { id } = await noteOn(path, guest);
  const refused = await change(path, id, guest, '/close');
  expect([refused.status, refused.body.message]).toEqual([
    400,
    '400 Bad request - Could not apply close command.',
  ]);
  expect((await change(path, id, author, 'Mine\n/close')).status).toBe(403);
  expect(bodyOf(await ashlar.root(`GET ${path}/notes/${id}`), 200).body).toBe('First');
  expect((await stateOf(path)).state).toBe('opened');
});

test('in threads as well', async () => {
  const path = await makeIssue();
  const body = { body: 'First' };
  const thread = bodyOf(await ashlar.as(author.token)(`POST ${path}/discussions`, { body }), 201);
  const note = `${path}/discussions/${thread.id}/notes/${thread.notes[0].id}`;
  const changed = await ashlar.as(author.token)(`PUT ${note}`, { body: { body: 'Second\n/close' } });
  expect(bodyOf(changed, 200)).toMatchObject({ body: 'Second', commands_changes: { state_event: 'close' } });
  const done = await ashlar.as(author.token)(`PUT ${note}`, { body: { body: '/reopen' } });
  expect(bodyOf(done, 202).summary).toEqual(['Reopened this issue.']);
  expect((await stateOf(path)).state).toBe('opened');
});
