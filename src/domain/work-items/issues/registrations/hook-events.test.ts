/** Issues and comments on them, as hooks are told. */
import { beforeEach, expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import { bodyOf, makeProject, makeUser } from '../../../../../test/support/factories.ts';
import { useHookReceiver } from '../../../../../test/support/hooks.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);
let project = '';
let id = 0;

beforeEach(async () => {
  ({ id } = await makeProject(ashlar));
  project = `/projects/${id}`;
  receiver.clear();
});
const listen = () =>
  receiver.listen(ashlar, project, {
    issues_events: true,
    confidential_issues_events: true,
    note_events: true,
    confidential_note_events: true,
  });
const open = async (body: object = {}) =>
  bodyOf(await ashlar.root(`POST ${project}/issues`, { body: { title: 'It leans', ...body } }), 201);
const change = async (iid: number, body: object) =>
  bodyOf(await ashlar.root(`PUT ${project}/issues/${iid}`, { body }), 200);
const reach = async (count: number) => {
  await expect.poll(() => receiver.payloads().length).toBe(count);
  return receiver.payloads();
};

test('an issue is told when it is opened, changed, closed and opened again', async () => {
  const mason = await makeUser(ashlar);
  bodyOf(
    await ashlar.root(`POST ${project}/members`, { body: { user_id: mason.id, access_level: 30 } }),
    201,
  );
  await listen();
  const issue = await open({
    description: 'To the left ![](/uploads/1/a.png)',
    labels: 'bug',
    assignee_ids: [mason.id],
  });
  await reach(1);
  await change(issue.iid, {
    title: 'It falls',
    add_labels: 'urgent',
    remove_labels: 'bug',
    assignee_ids: [0],
  });
  await change(issue.iid, { description: 'To the right', due_date: '2027-01-31' });
  await reach(3);
  await change(issue.iid, { state_event: 'close' });
  await reach(4);
  await change(issue.iid, { state_event: 'reopen' });
  const [opened, retitled, described, closed, reopened] = await reach(5);
  expect(opened).toMatchObject({
    object_kind: 'issue',
    event_type: 'issue',
    user: { id: 1, username: 'root', email: '[REDACTED]' },
    project: { id, path_with_namespace: expect.stringContaining('/') },
    object_attributes: {
      id: issue.id,
      iid: issue.iid,
      title: 'It leans',
      description: `To the left ![](${opened.project.web_url}/uploads/1/a.png)`,
      state: 'opened',
      state_id: 1,
      action: 'open',
      url: issue.web_url,
      assignee_ids: [mason.id],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
    },
    labels: [{ title: 'bug', type: 'ProjectLabel', project_id: id }],
    assignees: [{ id: mason.id }],
    repository: { name: expect.any(String) },
  });
  expect(retitled.object_attributes.action).toBe('update');
  expect(retitled.changes).toMatchObject({
    title: { previous: 'It leans', current: 'It falls' },
    labels: { previous: [{ title: 'bug' }], current: [{ title: 'urgent' }] },
    assignees: { previous: [{ id: mason.id }], current: [] },
  });
  expect(described.changes).toEqual({
    description: { previous: 'To the left ![](/uploads/1/a.png)', current: 'To the right' },
    due_date: { previous: null, current: '2027-01-31' },
  });
  expect(closed).toMatchObject({
    object_attributes: { action: 'close', state: 'closed' },
    changes: { state_id: { previous: 1, current: 2 } },
  });
  expect(reopened.object_attributes.action).toBe('reopen');
});

test('what is confidential is told to the hooks that ask for it alone', async () => {
  await receiver.listen(ashlar, project, { issues_events: true, note_events: true });
  await receiver.listen(ashlar, project, {
    confidential_issues_events: true,
    confidential_note_events: true,
  });
  const { iid } = await open({ confidential: true });
  const { iid: other } = await open();
  const notes = `${project}/issues`;
  for (const [on, internal] of [
    [iid, false],
    [other, true],
    [other, false],
  ] as const)
    bodyOf(await ashlar.root(`POST ${notes}/${on}/notes`, { body: { body: 'Hm', internal } }), 201);
  await reach(5);
  const kinds = (kind: string) => receiver.payloads(kind).length;
  expect(['Confidential Issue Hook', 'Issue Hook', 'Confidential Note Hook', 'Note Hook'].map(kinds)).toEqual(
    [1, 1, 2, 1],
  );
});

test('a comment is told when it is made and changed, with its issue', async () => {
  await listen();
  const issue = await open();
  const note = bodyOf(
    await ashlar.root(`POST ${project}/issues/${issue.iid}/notes`, { body: { body: 'Hm' } }),
    201,
  );
  bodyOf(
    await ashlar.root(`PUT ${project}/issues/${issue.iid}/notes/${note.id}`, { body: { body: 'Ah' } }),
    200,
  );
  await reach(3);
  const [made, changed] = receiver.payloads('Note Hook');
  expect(made).toMatchObject({
    object_kind: 'note',
    event_type: 'note',
    project_id: id,
    object_attributes: {
      id: note.id,
      note: expect.stringMatching(/^(Hm|Ah)$/),
      noteable_type: 'Issue',
      noteable_id: issue.id,
      action: 'create',
      url: `${issue.web_url}#note_${note.id}`,
      system: false,
    },
    issue: { id: issue.id, iid: issue.iid, title: 'It leans' },
  });
  expect(changed.object_attributes).toMatchObject({ note: 'Ah', action: 'update' });
});

test('a test of issues and notes sends the newest, or says what there must be', async () => {
  const { id: hook } = await listen();
  const trigger = (kind: string) => ashlar.root(`POST ${project}/hooks/${hook}/test/${kind}`);
  expect((await trigger('issues_events')).body.message).toBe('Ensure the project has issues.');
  expect((await trigger('note_events')).body.message).toBe('Ensure the project has notes.');
  const { iid } = await open();
  bodyOf(await ashlar.root(`POST ${project}/issues/${iid}/notes`, { body: { body: 'Hm' } }), 201);
  await reach(2);
  for (const kind of ['issues_events', 'note_events']) expect((await trigger(kind)).status).toBe(201);
  expect(receiver.payloads().map(({ object_kind }) => object_kind)).toEqual([
    'issue',
    'note',
    'issue',
    'note',
  ]);
});
