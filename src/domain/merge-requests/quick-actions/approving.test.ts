/** `/approve` and `/unapprove`: in notes, drafts and descriptions, with the rights that their author has then. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeUser,
} from '../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });
let project: MadeProject;
let people: Record<'guest' | 'reporter' | 'developer' | 'maintainer', MadeUser>;
let branches = 0;
/** The path of a merge request of root's. */
let path: string;

const APPROVED = 'Approved the current merge request.';
const UNAPPROVED = 'Unapproved the current merge request.';

const open = async (attributes: Record<string, unknown> = {}, by?: MadeUser): Promise<string> => {
  const site = by ? { root: ashlar.as(by.token) } : ashlar;
  const { iid } = await makeMergeRequest(site, project.id, `topic-${++branches}`, attributes);
  return `/projects/${project.id}/merge_requests/${iid}`;
};
const say = (body: string, by: MadeUser = people.developer): Promise<Called> =>
  ashlar.as(by.token)(`POST ${path}/notes` as 'POST /', { body: { body } });
const approvals = async () => bodyOf(await ashlar.root(`GET ${path}/approvals` as 'GET /'), 200);
const approvers = async (): Promise<number[]> =>
  (await approvals()).approved_by.map(({ user }: { user: { id: number } }) => user.id);
const notes = async (): Promise<string[]> =>
  bodyOf(await ashlar.root(`GET ${path}/notes` as 'GET /', { query: 'sort=asc' }), 200).map(
    ({ body }: { body: string }) => body,
  );

beforeAll(async () => {
  project = await makeReviewedProject(ashlar, { visibility: 'public' });
  people = await makeMembers(
    ashlar,
    `projects/${project.id}`,
    'guest',
    'reporter',
    'developer',
    'maintainer',
  );
});

beforeEach(async () => {
  path = await open();
});

describe('in a note', () => {
  test('they do what the endpoints do', async () => {
    const { developer } = people;
    expect(bodyOf(await say('/approve'), 202)).toEqual({ commands_changes: {}, summary: [APPROVED] });
    expect(await approvers()).toEqual([developer.id]);
    expect(await notes()).toEqual(['approved this merge request']);
    const [event] = bodyOf(await ashlar.as(developer.token)('GET /events'), 200);
    expect(event).toMatchObject({ action_name: 'approved', target_type: 'MergeRequest' });
    expect(bodyOf(await say('/unapprove'), 202)).toEqual({ commands_changes: {}, summary: [UNAPPROVED] });
    expect(await approvers()).toEqual([]);
    expect(await notes()).toEqual(['approved this merge request', 'unapproved this merge request']);
  });

  test('the other text stays, and other commands are done as well', async () => {
    expect(bodyOf(await say('Looks good.\n/approve\n/draft'), 201)).toMatchObject({
      body: 'Looks good.',
      commands_changes: { title: `Draft: Merge topic-${branches}` },
    });
    expect(await approvers()).toEqual([people.developer.id]);
  });

  test('a second one, and one that takes nothing back, come to nothing', async () => {
    expect((await say('/unapprove')).status).toBe(400);
    bodyOf(await say('/approve\n/approve'), 202);
    expect((await say('/approve')).status).toBe(400);
    expect(bodyOf(await say('Again.\n/approve'), 201).body).toBe('Again.');
    expect(await approvers()).toEqual([people.developer.id]);
    expect((await notes()).filter((body) => body.startsWith('approved'))).toHaveLength(1);
  });

  test('however many come at the same moment, there is one approval', async () => {
    const said = await Promise.all([1, 2, 3, 4].map((n) => say(`Take ${n}\n/approve`)));
    for (const each of said) bodyOf(each, 201);
    expect(await approvers()).toEqual([people.developer.id]);
    expect((await notes()).filter((body) => body.startsWith('approved'))).toHaveLength(1);
  });

  test('what the same text closes is not approved', async () => {
    bodyOf(await say('/approve\n/close'), 202);
    expect(await approvers()).toEqual([]);
    expect((await say('/approve')).status).toBe(400);
  });

  test('a merge that the same text asks for finds the approval', async () => {
    const rules = `/projects/${project.id}/approval_rules` as const;
    const rule = bodyOf(
      await ashlar.root(`POST ${rules}`, { body: { name: 'All', approvals_required: 1 } }),
      201,
    );
    bodyOf(await say('/approve\n/merge', people.maintainer), 202);
    await waitForFollowing(ashlar);
    expect(bodyOf(await ashlar.root(`GET ${path}` as 'GET /'), 200).state).toBe('merged');
    bodyOf(await ashlar.root(`DELETE ${rules}/${rule.id}` as 'DELETE /'), 204);
  });
});

describe('they are not for', () => {
  test('who may not approve it: readers, its author, who is no member', async () => {
    const stranger = await makeUser(ashlar);
    for (const user of [people.guest, people.reporter, stranger])
      expect((await say('/approve', user)).status).toBe(400);
    path = await open({}, people.developer);
    expect((await say('/approve')).status).toBe(400);
    expect((await notes()).length).toBe(0);
    expect(await approvers()).toEqual([]);
  });

  test('others’ approvals', async () => {
    bodyOf(await say('/approve'), 202);
    expect((await say('/unapprove', people.maintainer)).status).toBe(400);
    expect(await approvers()).toEqual([people.developer.id]);
  });

  test('projects that want a password', async () => {
    const settings = `POST /projects/${project.id}/approvals` as const;
    const body = { require_reauthentication_to_approve: true };
    bodyOf(await ashlar.root(settings, { body }), 201);
    expect((await say('/approve')).status).toBe(400);
    bodyOf(await ashlar.root(settings, { body: { require_reauthentication_to_approve: false } }), 201);
  });

  test('merge requests that are being opened', async () => {
    path = await open({ description: 'Mine\n/approve' }, people.developer);
    expect(await approvers()).toEqual([]);
    expect(bodyOf(await ashlar.root(`GET ${path}` as 'GET /'), 200).description).toBe('Mine');
  });
});

test('a description approves with the rights of who changes it', async () => {
  const change = `PUT ${path}` as 'PUT /';
  const body = { description: 'Fine\n/approve' };
  bodyOf(await ashlar.as(people.maintainer.token)(change, { body }), 200);
  expect(await approvers()).toEqual([people.maintainer.id]);
  bodyOf(
    await ashlar.as(people.maintainer.token)(change, { body: { description: 'Fine\n/unapprove' } }),
    200,
  );
  expect(await approvers()).toEqual([]);
});

describe('in a draft', () => {
  const draft = async (note: string) =>
    bodyOf(
      await ashlar.as(people.developer.token)(`POST ${path}/draft_notes` as 'POST /', { body: { note } }),
      201,
    );

  test('they wait until it is published', async () => {
    await draft('Good\n/approve');
    expect(await approvers()).toEqual([]);
    bodyOf(await ashlar.as(people.developer.token)(`POST ${path}/draft_notes/bulk_publish` as 'POST /'), 204);
    expect(await approvers()).toEqual([people.developer.id]);
    const reviewers = bodyOf(await ashlar.root(`GET ${path}/reviewers` as 'GET /'), 200);
    expect(reviewers.map(({ state }: { state: string }) => state)).toEqual(['approved']);
  });

  test('they are done once where the review is published with an approval', async () => {
    const approve = () =>
      ashlar.as(people.developer.token)(`POST ${path}/approve` as 'POST /', {
        body: { publish_review: true },
      });
    await draft('Good\n/approve');
    expect(bodyOf(await approve(), 201).user_has_approved).toBe(true);
    expect(await approvers()).toEqual([people.developer.id]);
    path = await open();
    await draft('No\n/close');
    expect((await approve()).status).toBe(401);
    expect(await notes()).toEqual([]);
  });
});

test('a line that its author left in the description approves nothing when others save it again', async () => {
  const { reporter, maintainer } = people;
  const texts = [`${'/todo\n'.repeat(100)}/approve\n/merge`, '/shrug /approve', ' /approve\n/todo'];
  path = await open({}, maintainer);
  await ashlar.app.services.database
    .sql`update merge_requests set author_id = ${reporter.id} where iid = ${Number(path.split('/').at(-1))}
      and project_id = ${project.id}`;
  for (const description of texts) {
    bodyOf(await ashlar.as(reporter.token)(`PUT ${path}` as 'PUT /', { body: { description } }), 200);
    const { description: left } = bodyOf(await ashlar.root(`GET ${path}` as 'GET /'), 200);
    const body = { description: `${left}\n\nA bot adds this.` };
    bodyOf(await ashlar.as(maintainer.token)(`PUT ${path}` as 'PUT /', { body }), 200);
  }
  await waitForFollowing(ashlar);
  expect(await approvers()).toEqual([]);
  expect(bodyOf(await ashlar.root(`GET ${path}` as 'GET /'), 200).state).toBe('opened');
});

describe('/request_changes', () => {
  const one = async () => bodyOf(await ashlar.root(`GET ${path}` as 'GET /'), 200);
  const merge = async () => (await ashlar.root(`PUT ${path}/merge` as 'PUT /')).status;
  const stateOf = async (user: MadeUser) =>
    bodyOf(await ashlar.root(`GET ${path}/reviewers` as 'GET /'), 200).find(
      (each: { user: { id: number } }) => each.user.id === user.id,
    )?.state;

  test('of a reviewer says so, takes the approval back, and keeps it from being merged until it is approved', async () => {
    const { developer } = people;
    path = await open({ reviewer_ids: [developer.id] });
    bodyOf(await say('/approve'), 202);
    const asked = bodyOf(await say('/request_changes'), 202);
    expect(asked.summary).toEqual(['Changes requested to the current merge request.']);
    expect(await stateOf(developer)).toBe('requested_changes');
    expect(await approvers()).toEqual([]);
    expect(await one()).toMatchObject({ detailed_merge_status: 'requested_changes' });
    expect(await merge()).toBe(405);
    bodyOf(await say('/request_changes'), 202);
    expect((await notes()).filter((note) => note === 'requested changes')).toHaveLength(1);
    bodyOf(await say('/approve'), 202);
    expect(await stateOf(developer)).toBe('approved');
    expect(await merge()).toBe(200);
  });

  test('ends when who asked is asked to look again, and is in vain for others', async () => {
    const { developer, maintainer } = people;
    path = await open({ reviewer_ids: [developer.id] });
    expect((await say('/request_changes', maintainer)).status).toBe(400);
    expect(await one()).toMatchObject({ detailed_merge_status: 'mergeable' });
    bodyOf(await say('/request_changes'), 202);
    expect(await merge()).toBe(405);
    bodyOf(await say(`/request_review @${developer.username}`, maintainer), 202);
    expect(await stateOf(developer)).toBe('unreviewed');
    expect(await one()).toMatchObject({ detailed_merge_status: 'mergeable' });
  });
});
