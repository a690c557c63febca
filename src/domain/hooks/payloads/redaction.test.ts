/** Whose addresses payloads show: of each kind that names people, of somebody with a public address and of somebody without. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, type MadeUser, makeGroup, makeUser } from '../../../../test/support/factories.ts';
import { type Payload, useHookReceiver } from '../../../../test/support/hooks.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const receiver = useHookReceiver(ashlar);
const REDACTED = '[REDACTED]';
let groupId = 0;
let project = '';
let people: { user: MadeUser; isPublic: boolean }[] = [];

beforeAll(async () => {
  const group = await makeGroup(ashlar, { visibility: 'public' });
  groupId = group.id;
  const fields = { name: 'vault', namespace_id: group.id, initialize_with_readme: true };
  const { id } = bodyOf(await ashlar.root('POST /projects', { body: fields }), 201);
  project = `/projects/${id}`;
  people = [];
  for (const isPublic of [false, true]) {
    const user = await makeUser(ashlar);
    await addMember(ashlar, `groups/${group.id}`, user, 50);
    const body = { public_email: isPublic ? user.email : '' };
    bodyOf(await ashlar.root(`PUT /users/${user.id}`, { body }), 200);
    people.push({ user, isPublic });
  }
  const flags = ['push', 'issues', 'merge_requests', 'note', 'emoji', 'wiki_page', 'feature_flag'];
  const ofGroups = ['member', 'project'];
  await receiver.listen(
    ashlar,
    `/groups/${group.id}`,
    Object.fromEntries([...flags, ...ofGroups].map((flag) => [`${flag}_events`, true])),
  );
  await receiver.listen(ashlar, '', { merge_requests_events: true });
});

type Post = (path: string, body?: object) => Promise<Payload>;
type Case = {
  what: string;
  kind: string;
  /** What the user does, or what is done to them by root. */
  act(post: Post, user: MadeUser): Promise<unknown>;
  addressIn(payload: Payload, user: MadeUser): unknown;
  /** Instead of the word. */
  hidden?: string;
};

const ownerIn = ({ owners }: Payload, { username }: MadeUser) =>
  owners?.find((owner: { name: string }) => owner.name === username)?.email;
const makeIssue = (post: Post, more: object = {}) =>
  post(`${project}/issues`, { title: 'It leans', ...more });
const makeProjectInGroup = (post: Post, { username }: MadeUser, kind: string) =>
  post('/projects', { path: `${username}-${kind}`, namespace_id: groupId });
const pushFile = (post: Post, branch: string) =>
  post(`${project}/repository/files/${branch}.md`, {
    branch,
    start_branch: 'main',
    content: 'Stone',
    commit_message: 'Add',
  });

const cases: Case[] = [
  {
    what: 'who opens an issue',
    kind: 'Issue Hook',
    act: (post) => makeIssue(post),
    addressIn: ({ user }) => user.email,
  },
  {
    what: 'who is assigned to one',
    kind: 'Issue Hook',
    act: (post, { id }) => makeIssue(post, { assignee_ids: [id] }),
    addressIn: ({ assignees }) => assignees[0]?.email,
  },
  {
    what: 'who comments',
    kind: 'Note Hook',
    act: async (post) => post(`${project}/issues/${(await makeIssue(post)).iid}/notes`, { body: 'Hm' }),
    addressIn: ({ user }) => user.email,
  },
  {
    what: 'who gives an award',
    kind: 'Emoji Hook',
    act: async (post) =>
      post(`${project}/issues/${(await makeIssue(post)).iid}/award_emoji`, { name: 'tada' }),
    addressIn: ({ user }) => user.email,
  },
  {
    what: 'who makes a page',
    kind: 'Wiki Page Hook',
    act: (post, { username }) => post(`${project}/wikis`, { title: username, content: 'Walls' }),
    addressIn: ({ user }) => user.email,
  },
  {
    what: 'who turns a feature flag off',
    kind: 'Feature Flag Hook',
    async act(post, { username, token }) {
      await post(`${project}/feature_flags`, { name: username.toLowerCase(), version: 'new_version_flag' });
      const path = `PUT ${project}/feature_flags/${username.toLowerCase()}`;
      bodyOf(await ashlar.as(token)(path, { body: { active: false } }), 200);
    },
    addressIn: ({ user }) => user.email,
  },
  {
    what: 'who pushes',
    kind: 'Push Hook',
    act: (post, { username }) => pushFile(post, `push-${username}`),
    addressIn: ({ user_email }) => user_email,
    hidden: '',
  },
  {
    what: 'who opens a merge request',
    kind: 'Merge Request Hook',
    async act(post, { username, id }) {
      const branch = `merge-${username}`;
      await pushFile(post, branch);
      const body = { source_branch: branch, target_branch: 'main', title: 'Add', reviewer_ids: [id] };
      await post(`${project}/merge_requests`, body);
    },
    addressIn: ({ user, reviewers }) => (user.email === reviewers?.[0]?.email ? user.email : undefined),
  },
  {
    what: 'an owner of a new project, to groups',
    kind: 'Project Hook',
    act: (post, user) => makeProjectInGroup(post, user, 'groups'),
    addressIn: ownerIn,
  },
  {
    what: 'an owner of a new project, to the instance',
    kind: 'System Hook',
    act: (post, user) => makeProjectInGroup(post, user, 'instance'),
    addressIn: ownerIn,
  },
  {
    what: 'who owns a personal project',
    kind: 'System Hook',
    act: (post) => post('/projects', { path: 'hut' }),
    addressIn: ({ event_name, owner_email, owner_name }, { username }) =>
      event_name === 'project_create' && owner_name === username ? owner_email : undefined,
  },
  {
    what: 'a member of a group, to groups',
    kind: 'Member Hook',
    act: (_, user) => changeMember(user),
    addressIn: ({ user_email }) => user_email,
  },
  {
    what: 'a member of a group, to the instance',
    kind: 'System Hook',
    act: (_, user) => changeMember(user),
    addressIn: ({ user_email }) => user_email,
  },
];

/** A new expiry for the member. */
async function changeMember({ id }: MadeUser): Promise<void> {
  days += 1;
  const body = { access_level: 50, expires_at: `2090-01-${String(days).padStart(2, '0')}` };
  bodyOf(await ashlar.root(`PUT /groups/${groupId}/members/${id}`, { body }), 200);
}
let days = 0;

test.each(cases)('$what', async ({ kind, act, addressIn, hidden = REDACTED }) => {
  for (const { user, isPublic } of people) {
    receiver.clear();
    const post: Post = async (path, body) =>
      bodyOf(await ashlar.as(user.token)(`POST ${path}`, { body: body ?? {} }), 201);
    await act(post, user);
    const addresses = () => receiver.payloads(kind).flatMap((payload) => addressIn(payload, user) ?? []);
    await expect.poll(() => addresses().length).toBeGreaterThan(0);
    expect(new Set(addresses())).toEqual(new Set([isPublic ? user.email : hidden]));
  }
});

test('of a new user the instance is told the address, and nobody else', async () => {
  receiver.clear();
  const body = { username: 'ada', name: 'Ada', email: 'ada@example.com', password: 'stone upon stone 7' };
  bodyOf(await ashlar.root('POST /users', { body: { ...body, skip_confirmation: true } }), 201);
  const [told] = await receiver.heard('System Hook', 'user_create');
  expect(told.email).toBe('ada@example.com');
  const inside = receiver.received().filter(({ headers }) => headers['x-gitlab-event'] !== 'System Hook');
  expect(inside.map((request) => request.body).filter((text) => text.includes('ada@'))).toEqual([]);
});
