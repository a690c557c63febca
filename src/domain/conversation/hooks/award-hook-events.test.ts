/** Awards, as hooks are told of them. */
import { beforeEach, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject, makeSnippet } from '../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../test/support/hooks.ts';

const ashlar = useApp();
const receiver = useHookReceiver(ashlar);
let id = 0;
let project = '';

beforeEach(async () => {
  ({ id } = await makeProject(ashlar));
  project = `/projects/${id}`;
  receiver.clear();
});
const reach = async (count: number) => {
  await expect.poll(() => receiver.payloads('Emoji Hook').length).toBe(count);
  return receiver.payloads('Emoji Hook');
};
const post = async (path: string, body: object) =>
  bodyOf(await ashlar.root(`POST ${project}${path}`, { body }), 201);
const award = (on: string, name = 'tada') => post(`${on}/award_emoji`, { name });

test('an award is told when it is given and taken back, with what it is on', async () => {
  await receiver.listen(ashlar, project, { emoji_events: true });
  const issue = await post('/issues', { title: 'It leans' });
  const on = `/issues/${issue.iid}`;
  const given = await award(on);
  await reach(1);
  bodyOf(await ashlar.root(`DELETE ${project}${on}/award_emoji/${given.id}`), 204);
  const [awarded, revoked] = await reach(2);
  expect(awarded).toEqual({
    object_kind: 'emoji',
    event_type: 'award',
    user: expect.objectContaining({ id: 1, email: '[REDACTED]' }),
    project_id: id,
    project: expect.objectContaining({ id }),
    object_attributes: {
      user_id: 1,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
      id: given.id,
      name: 'tada',
      awardable_type: 'Issue',
      awardable_id: issue.id,
      updated_at: expect.stringMatching(/ UTC$/),
      action: 'award',
      awarded_on_url: issue.web_url,
    },
    issue: expect.objectContaining({ id: issue.id, title: 'It leans' }),
  });
  expect(revoked).toMatchObject({
    event_type: 'revoke',
    object_attributes: { id: given.id, name: 'tada', action: 'revoke' },
    issue: { id: issue.id },
  });
});

test('an award on a comment is told with the comment, one on a snippet with the snippet', async () => {
  await receiver.listen(ashlar, project, { emoji_events: true });
  const issue = await post('/issues', { title: 'It leans' });
  const note = await post(`/issues/${issue.iid}/notes`, { body: 'To the left' });
  const snippet = await makeSnippet(ashlar, `${project}/snippets`, { token: ROOT_TOKEN });
  await award(`/issues/${issue.iid}/notes/${note.id}`);
  await award(`/snippets/${snippet.id}`);
  const [onNote, onSnippet] = await reach(2);
  expect(onNote).toMatchObject({
    object_attributes: {
      awardable_type: 'Note',
      awardable_id: note.id,
      awarded_on_url: `${issue.web_url}#note_${note.id}`,
    },
    note: { id: note.id, note: 'To the left', noteable_type: 'Issue', noteable_id: issue.id },
    issue: { id: issue.id },
  });
  expect(onSnippet).toMatchObject({
    object_attributes: { awardable_type: 'Snippet', awardable_id: snippet.id },
    project_snippet: { id: snippet.id },
  });
});

test('a quick action gives an award, and takes it back', async () => {
  await receiver.listen(ashlar, project, { emoji_events: true });
  const issue = await post('/issues', { title: 'It leans' });
  for (const count of [1, 2]) {
    const note = { body: { body: '/award :tada:' } };
    expect((await ashlar.root(`POST ${project}/issues/${issue.iid}/notes`, note)).status).toBeLessThan(300);
    await reach(count);
  }
  expect(receiver.payloads().map(({ event_type }) => event_type)).toEqual(['award', 'revoke']);
});

test('an award on what is confidential is told to hooks that hear of confidential things alone', async () => {
  await receiver.listen(ashlar, project, { emoji_events: true });
  const issue = await post('/issues', { title: 'It leans', confidential: true });
  const open = await post('/issues', { title: 'It stands' });
  const internal = await post(`/issues/${open.iid}/notes`, { body: 'Between us', internal: true });
  const awardAll = async (name: string) => {
    await award(`/issues/${issue.iid}`, name);
    await award(`/issues/${open.iid}/notes/${internal.id}`, name);
    await award(`/issues/${open.iid}`, name);
  };
  await awardAll('tada');
  expect((await reach(1))[0].issue.id).toBe(open.id);
  receiver.clear();
  await receiver.listen(ashlar, project, {
    emoji_events: true,
    confidential_issues_events: true,
    confidential_note_events: true,
  });
  await awardAll('rocket');
  await reach(4);
});

test('a test sends the newest award that is not confidential', async () => {
  const hook = await receiver.listen(ashlar, project, {});
  const sample = () => ashlar.root(`POST ${project}/hooks/${hook.id}/test/emoji_events`);
  expect(bodyOf(await sample(), 422).message).toBe('Ensure the project has emoji reactions.');
  const issue = await post('/issues', { title: 'It leans' });
  const note = await post(`/issues/${issue.iid}/notes`, { body: 'Hm' });
  const secret = await post('/issues', { title: 'It falls', confidential: true });
  await award(`/issues/${issue.iid}/notes/${note.id}`, 'rocket');
  await award(`/issues/${secret.iid}`);
  bodyOf(await sample(), 201);
  const [told] = await reach(1);
  expect(told).toMatchObject({ object_attributes: { name: 'rocket' }, issue: { id: issue.id } });
});
