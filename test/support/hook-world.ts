/** What makes the program send each kind of webhook, over its API alone: for its tests, and for foreign programs that read them. */
import type { Payload } from './hooks.ts';
import { sampleKeys } from './sample-keys.ts';
import { until } from './waiting.ts';
import type { Received } from './web-server.ts';

/** A request that must succeed, of root unless a token is given: `POST /projects`. Its reply's body. */
export type Ask = (request: string, body?: object, token?: string) => Promise<Payload>;

export type HookWorld = {
  ask: Ask;
  /** The group that everything is in, and its project. */
  group: { id: number; path: string };
  project: { id: number };
  /** Their paths. */
  at: { group: string; project: string };
  /** Has a public address, and may do everything there; root has none. */
  mason: { id: number; username: string; token: string };
  /** The id of the group's hook. */
  hook: number;
};

/** `Issue Hook: issue (open)` */
export function eventName({ headers, body }: Received): string {
  const { object_kind, event_name, object_attributes, event_type, action, after }: Payload = JSON.parse(body);
  const what = object_attributes?.action ?? action ?? (event_type === 'award' ? event_type : undefined);
  const gone = /^0+$/.test(after ?? '') ? 'delete' : undefined;
  const name = `${headers['x-gitlab-event']}: ${object_kind ?? event_name}`;
  return (what ?? gone) ? `${name} (${what ?? gone})` : name;
}

const kinds = [
  'push',
  'tag_push',
  'issues',
  'confidential_issues',
  'merge_requests',
  'note',
  'confidential_note',
  'wiki_page',
  'feature_flag',
  'milestone',
  'pipeline',
  'job',
  'deployment',
  'releases',
  'emoji',
  'resource_access_token',
];
const flags = (...names: string[]) => Object.fromEntries(names.map((name) => [`${name}_events`, true]));

/**
 * The group with its project, in which a file is, and hooks of the group and of the instance that are told of everything. `quiet`
 * waits until all that happened is told: of what goes before that, nothing but its end is.
 */
export async function makeHookWorld(
  send: Ask,
  receiver: string,
  quiet: () => Promise<unknown>,
): Promise<HookWorld> {
  const ask: Ask = async (request, ...rest) => {
    if (request.startsWith('DELETE ')) await quiet();
    return send(request, ...rest);
  };
  await ask('PUT /application/settings', { outbound_local_requests_allowlist: ['127.0.0.1'] });
  const group = await ask('POST /groups', { name: 'Guild', path: 'guild', visibility: 'public' });
  const { id, username } = await ask('POST /users', {
    username: 'mason',
    name: 'The Mason',
    email: 'mason@example.com',
    password: 'stone upon stone 7',
    skip_confirmation: true,
  });
  await ask(`PUT /users/${id}`, { public_email: 'mason@example.com' });
  const { token } = await ask(`POST /users/${id}/personal_access_tokens`, { name: 'all', scopes: ['api'] });
  await ask(`POST /groups/${group.id}/members`, { user_id: id, access_level: 50 });
  const fields = { name: 'Vault', path: 'vault', description: 'Of stone', namespace_id: group.id };
  const project = await ask('POST /projects', {
    ...fields,
    visibility: 'public',
    initialize_with_readme: true,
  });
  await ask(`PUT /projects/${project.id}`, { ci_config_path: 'ci.yml' });
  const all = flags(...kinds, 'subgroup', 'member', 'project');
  const hook = await ask(`POST /groups/${group.id}/hooks`, { url: `${receiver}/group`, ...all });
  await ask('POST /hooks', { url: `${receiver}/instance`, ...flags('push', 'tag_push', 'merge_requests') });
  const at = { group: `/groups/${group.id}`, project: `/projects/${project.id}` };
  return { ask, group, project, at, mason: { id, username, token }, hook: hook.id };
}

export type HookStep = {
  what: string;
  act(world: HookWorld): Promise<unknown>;
  /** What is sent thereupon, at least. */
  tells: readonly string[];
};

const commit = ({ ask, at }: HookWorld, branch: string, action: object, more: object = {}, token?: string) =>
  ask(
    `POST ${at.project}/repository/commits`,
    { branch, commit_message: `Change ${branch}\n\nStone by stone.`, actions: [action], ...more },
    token,
  );
const file = (file_path: string, content: string, action = 'create') => ({ action, file_path, content });
const makeIssue = ({ ask, at }: HookWorld, more: object = {}) =>
  ask(`POST ${at.project}/issues`, { title: 'It leans', description: 'To the left', ...more });
const makeMergeRequest = async (world: HookWorld, branch: string, more: object = {}) => {
  await commit(world, branch, file(`${branch}.txt`, 'one\ntwo\n'), { start_branch: 'main' });
  const body = { title: `Merge ${branch}`, source_branch: branch, target_branch: 'main', ...more };
  return world.ask(`POST ${world.at.project}/merge_requests`, body);
};
/** The merge request, once its branches are compared. */
async function preparedOf({ ask, at }: HookWorld, { iid }: { iid: number }): Promise<Payload> {
  let read: Payload = {};
  await until(async () => {
    read = await ask(`GET ${at.project}/merge_requests/${iid}`);
    return read.diff_refs && !['checking', 'unchecked', 'preparing'].includes(read.detailed_merge_status);
  }, 'the merge request was not prepared');
  return read;
}
/** To the group, and to the instance. */
const both = (header: string, event: string) => [`${header}: ${event}`, `System Hook: ${event}`];
const awarded = (count: number) => Array<string>(count).fill('Emoji Hook: emoji (award)');

/** In their order: a step may need what an earlier one made. */
export const hookSteps: readonly HookStep[] = [
  {
    what: 'branches that are made, changed and deleted',
    async act(world) {
      await commit(world, 'main', file('a.txt', 'one\n'), {}, world.mason.token);
      await commit(world, 'wall', file('b.txt', 'two\n'), { start_branch: 'main' });
      await world.ask(`DELETE ${world.at.project}/repository/branches/wall`);
    },
    tells: [
      'Push Hook: push',
      'Push Hook: push (delete)',
      'System Hook: push',
      'System Hook: push (delete)',
      'System Hook: repository_update',
    ],
  },
  {
    what: 'tags that are made and deleted',
    async act({ ask, at }) {
      const tags = `${at.project}/repository/tags`;
      await ask(`POST ${tags}`, { tag_name: 'v1', ref: 'main' });
      await ask(`POST ${tags}`, { tag_name: 'v2', ref: 'main', message: 'The second' });
      await ask(`DELETE ${tags}/v1`);
    },
    tells: [
      'Tag Push Hook: tag_push',
      'Tag Push Hook: tag_push (delete)',
      'System Hook: tag_push',
      'System Hook: tag_push (delete)',
    ],
  },
  {
    what: 'releases that are made, changed and deleted',
    async act({ ask, at }) {
      const links = [{ name: 'Stone', url: 'https://example.com/stone', link_type: 'package' }];
      const description = 'Stone by stone';
      await ask(`POST ${at.project}/releases`, {
        tag_name: 'v2',
        name: 'Vault',
        description,
        assets: { links },
      });
      await ask(`PUT ${at.project}/releases/v2`, { name: 'The vault' });
      await ask(`DELETE ${at.project}/releases/v2`);
    },
    tells: ['create', 'update', 'delete'].map((action) => `Release Hook: release (${action})`),
  },
  {
    what: 'milestones of a project and a group',
    async act({ ask, at }) {
      for (const home of [at.project, at.group]) {
        const fields = {
          title: `Of ${home}`,
          description: 'High',
          due_date: '2090-02-01',
          start_date: '2090-01-01',
        };
        const { id } = await ask(`POST ${home}/milestones`, fields);
        const one = `${home}/milestones/${id}`;
        await ask(`PUT ${one}`, { state_event: 'close' });
        await ask(`PUT ${one}`, { state_event: 'activate' });
      }
    },
    tells: ['create', 'close', 'reopen'].flatMap((action) =>
      Array<string>(2).fill(`Milestone Hook: milestone (${action})`),
    ),
  },
  {
    what: 'milestones that are deleted',
    async act({ ask, at }) {
      for (const home of [at.project, at.group])
        for (const { id } of await ask(`GET ${home}/milestones`))
          await ask(`DELETE ${home}/milestones/${id}`);
    },
    tells: Array<string>(2).fill('Milestone Hook: milestone (delete)'),
  },
  {
    // On its own: payloads have what there is when they are made, and the next step takes it away again.
    what: 'an issue that opens with all that it can have',
    async act(world) {
      const { ask, at, mason } = world;
      await ask(`POST ${at.group}/labels`, { name: 'stone', color: '#112233', description: 'Heavy' });
      const { id: milestone_id } = await ask(`POST ${at.project}/milestones`, { title: 'Spire' });
      await makeIssue(world);
      await makeIssue(world, {
        labels: 'stone,bug',
        assignee_ids: [mason.id],
        milestone_id,
        due_date: '2090-01-31',
        weight: 3,
      });
    },
    tells: Array<string>(2).fill('Issue Hook: issue (open)'),
  },
  {
    what: 'an issue that changes until it is closed, moved and doubled',
    async act(world) {
      const { ask, at, mason } = world;
      const [{ iid }] = await ask(`GET ${at.project}/issues?labels=stone`);
      const one = `${at.project}/issues/${iid}`;
      await ask(`POST ${one}/time_estimate`, { duration: '2h' });
      await ask(`POST ${one}/add_spent_time`, { duration: '1h' });
      await ask(`PUT ${one}`, {
        title: 'It falls',
        description: 'To the right',
        remove_labels: 'bug',
        assignee_ids: [1],
        milestone_id: 0,
        due_date: null,
        weight: 4,
        health_status: 'at_risk',
        discussion_locked: true,
      });
      await ask(`PUT ${one}`, { state_event: 'close' }, mason.token);
      await ask(`PUT ${one}`, { state_event: 'reopen' });
      const { id: to_project_id } = await ask('POST /projects', {
        path: 'crypt',
        namespace_id: world.group.id,
      });
      await ask(`POST ${one}/move`, { to_project_id });
      const copy = await makeIssue(world);
      await ask(`POST ${at.project}/issues/${copy.iid}/notes`, { body: '/duplicate #1' });
    },
    tells: ['update', 'close', 'reopen', 'close'].map((action) => `Issue Hook: issue (${action})`),
  },
  {
    what: 'what is no issue, and what is confidential',
    async act(world) {
      const { ask, at, mason } = world;
      await makeIssue(world, { issue_type: 'task' });
      const outage = await makeIssue(world, { issue_type: 'incident' });
      await ask(`POST ${at.project}/issues/${outage.iid}/notes`, { body: '/severity high' });
      const turned = await makeIssue(world);
      await ask(`PUT ${at.project}/issues/${turned.iid}`, { issue_type: 'incident' });
      const secret = await makeIssue(world, { confidential: true, assignee_ids: [mason.id] });
      await makeIssue(world, { issue_type: 'task', confidential: true });
      const one = `${at.project}/issues/${secret.iid}`;
      await ask(`POST ${one}/notes`, { body: 'Between us' });
    },
    tells: [
      'Issue Hook: work_item (open)',
      'Issue Hook: issue (open)',
      'Confidential Issue Hook: issue (open)',
      'Confidential Issue Hook: work_item (open)',
      'Confidential Note Hook: note (create)',
      'Issue Hook: issue (update)',
      'Issue Hook: issue (update)',
    ],
  },
  {
    what: 'what is confidential no more',
    async act({ ask, at }) {
      const [secret] = await ask(`GET ${at.project}/issues?confidential=true&issue_type=issue`);
      await ask(`PUT ${at.project}/issues/${secret.iid}`, { confidential: false });
    },
    tells: ['Issue Hook: issue (update)'],
  },
  {
    what: 'a merge request from its opening to its merge',
    async act(world) {
      const { ask, at, mason } = world;
      const { id: milestone_id } = await ask(`POST ${at.project}/milestones`, { title: 'Nave' });
      const made = await makeMergeRequest(world, 'topic', {
        description: 'Higher',
        labels: 'stone,bug',
        assignee_ids: [mason.id],
        reviewer_ids: [mason.id],
        remove_source_branch: true,
      });
      const one = `${at.project}/merge_requests/${made.iid}`;
      const { diff_refs } = await preparedOf(world, made);
      await ask(`POST ${one}/time_estimate`, { duration: '2h' });
      await ask(`POST ${one}/add_spent_time`, { duration: '1h' });
      await ask(`PUT ${one}`, {
        title: 'Draft: Another',
        description: 'Higher still',
        remove_labels: 'bug',
        assignee_ids: [1],
        reviewer_ids: [1, mason.id],
        // It stays: payloads have what there is when they are made.
        milestone_id,
      });
      await ask(`POST ${one}/notes`, { body: 'Hm' });
      const position = { position_type: 'text', old_path: 'topic.txt', new_path: 'topic.txt', new_line: 1 };
      const body = { body: 'Why?', position: { ...diff_refs, ...position } };
      const thread = await ask(`POST ${one}/discussions`, body, mason.token);
      await ask(`PUT ${one}/discussions/${thread.id}`, { resolved: true });
      await ask(`PUT ${one}/discussions/${thread.id}/notes/${thread.notes[0].id}`, { body: 'Why so?' });
      await ask(`POST ${one}/approve`, undefined, mason.token);
      await ask(`POST ${one}/unapprove`, undefined, mason.token);
      await ask(`PUT ${one}`, { state_event: 'close' });
      await ask(`PUT ${one}`, { state_event: 'reopen', title: 'Ready' });
      await commit(world, 'topic', file('more.txt', 'more\n'));
      const isFollowed = async () => (await preparedOf(world, made)).sha !== made.sha;
      await until(isFollowed, 'the push was not followed');
      await preparedOf(world, made);
      await ask(`PUT ${one}/merge`);
    },
    tells: [
      ...['open', 'update', 'approved', 'unapproval', 'close', 'reopen', 'update', 'merge'].flatMap(
        (action) => both('Merge Request Hook', `merge_request (${action})`),
      ),
      'Note Hook: note (create)',
      'Note Hook: note (update)',
    ],
  },
  {
    what: 'approvals of several, taken away by a push',
    async act(world) {
      const { ask, at, mason } = world;
      const rule = { name: 'All', approvals_required: 2 };
      await ask(`POST ${at.project}/approval_rules`, rule);
      const author = mason.token;
      await ask(`POST ${at.project}/repository/branches?branch=low&ref=main`);
      await commit(world, 'arch', file('arch.txt', 'one\n'), { start_branch: 'main' });
      const fields = { title: 'Arch', source_branch: 'arch', target_branch: 'main' };
      const made = await ask(`POST ${at.project}/merge_requests`, fields, author);
      await preparedOf(world, made);
      const one = `${at.project}/merge_requests/${made.iid}`;
      await ask(`POST ${one}/approve`);
      await ask(`POST ${one}/unapprove`);
    },
    tells: ['open', 'approval', 'unapproval'].flatMap((action) =>
      both('Merge Request Hook', `merge_request (${action})`),
    ),
  },
  {
    what: 'approvals that a push takes away',
    async act(world) {
      const { ask, at } = world;
      const [rule] = await ask(`GET ${at.project}/approval_rules`);
      await ask(`PUT ${at.project}/approval_rules/${rule.id}`, { approvals_required: 1 });
      const [{ iid }] = await ask(`GET ${at.project}/merge_requests?source_branch=arch`);
      await ask(`PUT ${at.project}/merge_requests/${iid}`, { target_branch: 'low' });
      await ask(`POST ${at.project}/merge_requests/${iid}/approve`);
      await commit(world, 'arch', file('arch.txt', 'two\n', 'update'));
    },
    tells: ['update', 'approved', 'update', 'unapproved'].flatMap((action) =>
      both('Merge Request Hook', `merge_request (${action})`),
    ),
  },
  {
    what: 'comments and awards on everything',
    async act(world) {
      const { ask, at } = world;
      const { iid } = await makeIssue(world);
      const merge = await makeMergeRequest(world, 'ribs');
      const fields = { title: 'Plan', description: 'A plan', visibility: 'public' };
      const files = [{ file_path: 'plan.txt', content: 'Stone upon stone' }];
      const snippet = await ask(`POST ${at.project}/snippets`, { ...fields, files });
      const { id: sha } = await ask(`GET ${at.project}/repository/commits/main`);
      const homes = [`issues/${iid}`, `merge_requests/${merge.iid}`, `snippets/${snippet.id}`];
      for (const home of homes) {
        const one = `${at.project}/${home}`;
        const note = await ask(`POST ${one}/notes`, { body: 'Hm' });
        await ask(`PUT ${one}/notes/${note.id}`, { body: 'Ah' });
        const award = await ask(`POST ${one}/award_emoji`, { name: 'tada' });
        await ask(`POST ${one}/notes/${note.id}/award_emoji`, { name: 'rocket' });
        await ask(`DELETE ${one}/award_emoji/${award.id}`);
      }
      for (const home of homes.slice(0, 2))
        await ask(`POST ${at.project}/${home}/notes`, { body: 'Between us', internal: true });
      await ask(`POST ${at.project}/issues/2/notes`, { body: 'It moved' });
      await ask(`POST ${at.project}/repository/commits/${sha}/comments`, { note: 'Hm' });
      const line = { path: 'topic.txt', line: 1, line_type: 'new' };
      await ask(`POST ${at.project}/repository/commits/${sha}/comments`, { note: 'Hm', ...line });
    },
    tells: [
      ...Array<string>(6).fill('Note Hook: note (create)'),
      ...Array<string>(3).fill('Note Hook: note (update)'),
      ...Array<string>(2).fill('Confidential Note Hook: note (create)'),
      ...awarded(6),
      ...Array<string>(3).fill('Emoji Hook: emoji (revoke)'),
    ],
  },
  {
    what: 'pages of the wikis of a project and a group',
    async act({ ask, at }) {
      for (const home of [at.project, at.group]) {
        await ask(`POST ${home}/wikis`, { title: 'Vault', content: 'Of stone' });
        await ask(`PUT ${home}/wikis/Vault`, { content: 'Of limestone' });
        await ask(`DELETE ${home}/wikis/Vault`);
      }
    },
    tells: ['create', 'update', 'delete'].flatMap((action) =>
      Array<string>(2).fill(`Wiki Page Hook: wiki_page (${action})`),
    ),
  },
  {
    what: 'a feature flag that is turned off',
    async act({ ask, at, mason }) {
      const flag = { name: 'crane', description: 'Lifts', version: 'new_version_flag' };
      await ask(`POST ${at.project}/feature_flags`, flag);
      await ask(`PUT ${at.project}/feature_flags/crane`, { active: false }, mason.token);
    },
    tells: ['Feature Flag Hook: feature_flag'],
  },
  {
    what: 'tokens of a project and a group',
    async act({ ask, at, hook }) {
      const expires_at = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
      for (const home of [at.project, at.group])
        await ask(`POST ${home}/access_tokens`, { name: 'crane', scopes: ['api'], expires_at });
      await ask(`POST ${at.group}/hooks/${hook}/test/resource_access_token_events`);
    },
    tells: ['Resource Access Token Hook: access_token'],
  },
  {
    what: 'members, and who asks to be one',
    async act({ ask, at }) {
      const fields = { email: 'ada@example.com', password: 'stone upon stone 7', skip_confirmation: true };
      const { id } = await ask('POST /users', { username: 'ada', name: 'Ada', ...fields });
      const token = { name: 'all', scopes: ['api'] };
      const { token: own } = await ask(`POST /users/${id}/personal_access_tokens`, token);
      for (const home of [at.group, at.project]) {
        await ask(`POST ${home}/members`, { user_id: id, access_level: 30, expires_at: '2090-01-01' });
        await ask(`PUT ${home}/members/${id}`, { access_level: 40, expires_at: '2090-01-31' });
        await ask(`DELETE ${home}/members/${id}`);
      }
      for (const home of [at.project, at.group]) {
        await ask(`POST ${home}/access_requests`, undefined, own);
        await ask(`DELETE ${home}/access_requests/${id}`);
      }
    },
    tells: [
      ...[
        'user_add_to_group',
        'user_update_for_group',
        'user_remove_from_group',
        'user_access_request_to_group',
      ].flatMap((event) => both('Member Hook', event)),
      'Member Hook: user_access_request_denied_for_group',
      'System Hook: user_access_request_revoked_for_group',
      'System Hook: user_add_to_team',
      'System Hook: user_update_for_team',
      'System Hook: user_remove_from_team',
      'System Hook: user_access_request_to_project',
      'System Hook: user_access_request_revoked_for_project',
    ],
  },
  {
    what: 'subgroups',
    async act({ ask, group }) {
      const fields = { name: 'Inner', path: 'inner', parent_id: group.id, visibility: 'public' };
      const { id } = await ask('POST /groups', fields);
      await ask(`PUT /groups/${id}`, { path: 'nave' });
      await ask(`DELETE /groups/${id}`);
      const query = `permanently_remove=true&full_path=${group.path}/nave-deletion_scheduled-${id}`;
      await ask(`DELETE /groups/${id}?${query}`);
    },
    tells: [
      'Subgroup Hook: subgroup_create',
      'Subgroup Hook: subgroup_destroy',
      'System Hook: group_create',
      'System Hook: group_rename',
      'System Hook: group_destroy',
    ],
  },
  {
    what: 'projects',
    async act({ ask, group, mason }) {
      await ask('POST /projects', { path: 'hut' }, mason.token);
      const { id } = await ask('POST /projects', { path: 'tower', namespace_id: group.id });
      await ask(`PUT /projects/${id}`, { description: 'High' });
      await ask(`PUT /projects/${id}`, { path: 'spire' });
      const other = await ask('POST /groups', { name: 'Other', path: 'other' });
      await ask(`PUT /projects/${id}/transfer`, { namespace: other.id });
      await ask(`PUT /projects/${id}/transfer`, { namespace: group.id });
      await ask(`DELETE /projects/${id}`);
      const query = `permanently_remove=true&full_path=${group.path}/spire-deletion_scheduled-${id}`;
      await ask(`DELETE /projects/${id}?${query}`);
    },
    tells: [
      ...['project_create', 'project_destroy'].flatMap((event) => both('Project Hook', event)),
      'System Hook: project_update',
      'System Hook: project_rename',
      'System Hook: project_transfer',
    ],
  },
  {
    what: 'users and their keys',
    async act({ ask }) {
      const fields = { email: 'eve@example.com', password: 'stone upon stone 7', skip_confirmation: true };
      const { id } = await ask('POST /users', { username: 'eve', name: 'Eve', ...fields });
      await ask(`PUT /users/${id}`, { username: 'eva' });
      const key = await ask(`POST /users/${id}/keys`, { title: 'Chisel', key: sampleKeys.ed25519.key });
      await ask(`DELETE /users/${id}/keys/${key.id}`);
      await ask(`DELETE /users/${id}`);
    },
    tells: ['user_create', 'user_rename', 'user_destroy', 'key_create', 'key_destroy'].map(
      (event) => `System Hook: ${event}`,
    ),
  },
  {
    what: 'a pipeline with jobs that succeed and fail',
    async act(world) {
      const { ask, at, project, mason } = world;
      const fields = {
        runner_type: 'project_type',
        project_id: project.id,
        description: 'The winch',
        tag_list: 'stone',
      };
      const { token } = await ask('POST /user/runners', fields);
      const text =
        'workflow: {name: Up}\nlay: {script: make, tags: [stone], environment: {name: yard, url: "https://yard.example.com"}}\nroof: {script: make, tags: [stone], stage: deploy}\n';
      await commit(world, 'main', file('ci.yml', text), { commit_message: 'Lay it [skip ci]' });
      const variables = [{ key: 'COLOUR', value: 'ochre' }];
      await ask(`POST ${at.project}/pipeline`, { ref: 'main', variables }, mason.token);
      for (const report of [{ state: 'success' }, { state: 'failed', failure_reason: 'script_failure' }]) {
        const job = await ask('POST /jobs/request', { token, system_id: 's_winch' });
        await ask(`PUT /jobs/${job.id}`, { token: job.token, ...report });
      }
    },
    tells: [
      ...Array<string>(3).fill('Pipeline Hook: pipeline'),
      ...Array<string>(8).fill('Job Hook: build'),
      ...Array<string>(2).fill('Deployment Hook: deployment'),
    ],
  },
  {
    what: 'a pipeline of a merge request',
    async act(world) {
      const text = 'workflow: {name: Check}\ncheck: {script: make, rules: [{if: $CI_MERGE_REQUEST_IID}]}\n';
      await commit(world, 'checked', file('ci.yml', text, 'update'), { start_branch: 'main' });
      const body = { title: 'Check', source_branch: 'checked', target_branch: 'main' };
      await world.ask(`POST ${world.at.project}/merge_requests`, body);
    },
    tells: ['Pipeline Hook: pipeline'],
  },
  {
    what: 'a comment on a merge request with a pipeline',
    async act({ ask, at }) {
      const [{ iid }] = await ask(`GET ${at.project}/merge_requests?source_branch=checked`);
      await ask(`POST ${at.project}/merge_requests/${iid}/notes`, { body: 'Does it hold?' });
    },
    tells: ['Note Hook: note (create)'],
  },
  {
    what: 'a pipeline that another one starts',
    async act(world) {
      const { ask, at, mason } = world;
      const skipping = { commit_message: 'Lay a vault [skip ci]' };
      await commit(world, 'main', file('vault.yml', 'vault: {script: make, tags: [stone]}\n'), skipping);
      await commit(
        world,
        'main',
        file('ci.yml', 'go: {trigger: {include: vault.yml}}\n', 'update'),
        skipping,
      );
      await ask(`POST ${at.project}/pipeline`, { ref: 'main' }, mason.token);
    },
    tells: [...Array<string>(3).fill('Pipeline Hook: pipeline'), ...Array<string>(2).fill('Job Hook: build')],
  },
  {
    what: 'deployments of jobs and of other programs',
    async act(world) {
      const { ask, at, mason } = world;
      const [{ id: sha }] = await ask(`GET ${at.project}/repository/commits?per_page=1`, undefined);
      const fields = { environment: 'yard', sha, ref: 'main', tag: false, status: 'running' };
      const { id } = await ask(`POST ${at.project}/deployments`, fields, mason.token);
      await ask(`PUT ${at.project}/deployments/${id}`, { status: 'success' }, mason.token);
    },
    tells: Array<string>(2).fill('Deployment Hook: deployment'),
  },
];

/** What the step should tell, and none of these said. */
export function untold({ tells }: HookStep, received: readonly Received[]): string[] {
  const names = received.map(eventName);
  return tells.filter((name) => {
    const place = names.indexOf(name);
    if (place >= 0) names.splice(place, 1);
    return place < 0;
  });
}
