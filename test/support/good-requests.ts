/**
 * A request for every endpoint that would succeed for the right caller, on objects in the world of the tests:
 * where it is refused, it is because of its caller.
 */
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { featureDefinitions } from '../../src/kernel/settings/features.ts';
import type { TestApp } from './app.ts';
import { addressOf, type SampleIds, titleOf } from './inventory.ts';
import { gpgKey, sampleKeys } from './sample-keys.ts';

type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };
type Fields = Readonly<Record<string, Value>>;

/** The differences from the values by the declaration and the parameters' names. */
type Given = {
  /** Path parameters. */
  at?: Readonly<Record<string, string | number>>;
  /** In the body, or in the query of a GET. */
  with?: Fields;
  /** The field that is a file. */
  file?: string;
};

export type GoodRequest = { line: string; headers: Record<string, string>; body?: string | Buffer };

const BOUNDARY = 'a-boundary-of-the-tests';
/** The smallest picture. */
const PICTURE = 'GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;';

/** The object that a file with Hello in it is. */
const HELLO = '5ab2f8a4323abafb10abb68657d9d39f1a775057';

const filePart = (name: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="stone.gif"\r\ncontent-type: image/gif\r\n\r\n${PICTURE}\r\n--${BOUNDARY}--\r\n`;

/** Values by the names of required parameters. */
const usual: Fields = {
  name: 'new',
  title: 'new',
  username: 'new-one',
  email: 'new@example.org',
  path: 'new',
  key: sampleKeys.ed25519.key,
  value: 'new',
  body: 'Hello',
  note: 'Hello',
  text: 'Hello',
  content: 'Hello',
  branch: 'main',
  commit_message: 'Change',
  color: '#00ff00',
  duration: '1h',
  state: 'success',
  status: 'resolved',
  visibility: 'private',
  access_level: 10,
  group_access: 10,
  active: true,
  integrated: true,
  resolved: true,
  type: 'http',
  payload: { title: 'Down' },
  payload_example: { title: 'Down' },
  scopes: ['read_api'],
  redirect_uri: 'https://client.example/',
  link_url: 'https://client.example/',
  image_url: 'https://client.example/stone.svg',
  source_storage_name: 'default',
  search: 'person',
  scope: 'projects',
};

type World = SampleIds & Awaited<ReturnType<typeof namesOf>>;

/** Ids of objects that the requests name beside the project or group itself. */
async function namesOf(app: TestApp, { group, project, user }: SampleIds) {
  const { sql } = app.app.services.database;
  const one = async (text: string): Promise<number> => {
    const [row] = await sql.unsafe<{ id: number }[]>(text);
    if (row?.id === undefined || row.id === null) throw new Error(`nothing is found by ${text}`);
    return row.id;
  };
  const byName = async (text: string): Promise<Record<string, number>> => {
    const rows = await sql.unsafe<{ id: number; name: string }[]>(text);
    return Object.fromEntries(rows.map(({ id, name }) => [name, id]));
  };
  const [head] = await sql<
    { sha: string }[]
  >`select sha from external_pipelines where project_id = ${project}`;
  const [upload] = await sql<{ secret: string; filename: string }[]>`
    select secret, filename from uploads where project_id = ${project} order by id desc limit 1`;
  const [groupUpload] = await sql<{ secret: string; filename: string }[]>`
    select secret, filename from uploads where namespace_id = ${group} order by id desc limit 1`;
  return {
    head: head?.sha ?? '',
    blob: HELLO,
    upload: upload ?? { secret: '', filename: '' },
    groupUpload: groupUpload ?? { secret: '', filename: '' },
    author: await one(`select id from users where username = 'person-1'`),
    other: await one(`select id from users where username = 'person-2'`),
    blocked: await one(`select id from users where username = 'the-blocked'`),
    asking: await one(`select id from users where username = 'the-asking'`),
    outsider: await one(`select id from users where username = 'the-outsider'`),
    ownEmail: await one(`select min(id) id from emails where user_id = ${user} and email like 'root-%'`),
    ownKey: await one(`select min(id) id from ssh_keys where user_id = ${user}`),
    ownGpgKey: await one(`select min(id) id from gpg_keys where user_id = ${user}`),
    ownToken: await one(`select min(id) id from access_tokens where user_id = ${user} and kind = 'personal'`),
    impersonation: await one(
      `select min(id) id from access_tokens where user_id = ${user} and kind = 'impersonation'`,
    ),
    projectToken: await one(
      `select min(id) id from access_tokens where kind = 'project' and project_id = ${project}`,
    ),
    groupToken: await one(
      `select min(id) id from access_tokens where kind = 'group' and namespace_id = ${group}`,
    ),
    deployToken: await one(`select min(id) id from deploy_tokens where project_id = ${project}`),
    groupDeployToken: await one(`select min(id) id from deploy_tokens where namespace_id = ${group}`),
    deployKey: await one(
      `select min(deploy_key_id) id from deploy_keys_projects where project_id = ${project}`,
    ),
    application: await one('select min(id) id from oauth_applications'),
    todo: await one(`select min(id) id from todos where user_id = ${user}`),
    issueAward: await one('select min(id) id from award_emoji where issue_id is not null'),
    epicAward: await one('select min(id) id from award_emoji where epic_id is not null'),
    snippetAward: await one('select min(id) id from award_emoji where snippet_id is not null'),
    noteAward: await one('select min(id) id from award_emoji where note_id = 1'),
    epicNoteAward: await one('select min(id) id from award_emoji where note_id = 2'),
    snippetNoteAward: await one('select min(id) id from award_emoji where note_id = 3'),
    beside: await one(`select id from namespaces where path = 'beside-1'`),
    part: await one(`select id from namespaces where path = 'part-1'`),
    label: await one(`select min(id) id from labels where project_id = ${project}`),
    groupLabel: await one(`select min(id) id from labels where namespace_id = ${group}`),
    epicLink: await one('select min(id) id from related_epic_links'),
    issueLink: await one('select min(id) id from issue_links'),
    childEpic: await one('select id from epics where iid = 2'),
    issue: await one(`select id from issues where project_id = ${project} and iid = 1`),
    epicIssue: await one('select min(id) id from epic_issues'),
    image: await one('select min(id) id from metric_images where alert_id is not null'),
    issueImage: await one('select min(id) id from metric_images where issue_id is not null'),
    timeline: await one('select min(id) id from incident_timeline_events'),
    error: await one('select min(id) id from errors'),
    projectAudit: await one(`select min(id) id from audit_events where entity_type = 'Project'`),
    groupAudit: await one(`select min(id) id from audit_events where entity_type = 'Group'`),
    fork: await one(`select min(id) id from projects where forked_from_id = ${project}`),
    own: await one(
      `select id from projects where path = 'own' and creator_id = (select id from users where username = 'person-1')`,
    ),
    elsewhere: await one(`select id from namespaces where path = 'elsewhere'`),
    projectElsewhere: await one(`select id from projects where path = 'elsewhere'`),
    inReach: await one(`select id from projects where path = 'in-reach'`),
    issueInReach: await one(`select id from issues where title = 'in-reach'`),
    issueElsewhere: await one(`select id from issues where title = 'elsewhere'`),
    epicElsewhere: await one(`select id from epics where title = 'elsewhere'`),
    keyElsewhere: await one(`select id from deploy_keys where title = 'elsewhere'`),
    chief: await one(`select id from users where username = 'the-chief'`),
    headOfGroup: await one(`select id from users where username = 'the-head'`),
    locked: await one(`select id from projects where path = 'inside'`),
    ownerPart: await one(`select id from namespaces where path = 'part-2'`),
    internalNote: await one('select id from notes where internal'),
    othersNote: await one(`select min(id) id from notes where issue_id is not null and body = 'person-2'`),
    othersEpicNote: await one(`select min(id) id from notes where epic_id is not null and body = 'person-2'`),
    othersSnippetNote: await one(
      `select min(id) id from notes where snippet_id is not null and body = 'person-2'`,
    ),
    othersAward: await one('select max(id) id from award_emoji where issue_id is not null'),
    othersSnippet: await one(`select id from snippets where title = 'of another'`),
    othersToken: await one(
      `select min(id) id from access_tokens where user_id = (select id from users where username = 'person-1')`,
    ),
    othersTodo: await one(`select min(id) id from todos`),
    deletable: await one(`select id from users where username = 'the-deletable'`),
    pending: await one(`select id from users where username = 'the-pending'`),
    banned: await one(`select id from users where username = 'the-banned'`),
    dormant: await one(`select id from users where username = 'the-dormant'`),
    twoFactor: await one(`select id from users where username = 'person-2'`),
    marked: await one(`select id from namespaces where path = 'marked'`),
    archived: await one(`select id from namespaces where path = 'archived'`),
    markedProject: await one(`select id from projects where path = 'marked'`),
    markedFork: await one(`select id from projects where path = 'forked'`),
    archivedProject: await one(`select id from projects where path = 'archived'`),
    empty: await one(`select id from projects where path = 'empty'`),
    personal: await one(`select max(id) id from snippets where project_id is null`),
    snippet: await one(`select max(id) id from snippets where project_id = ${project}`),
    file: await one(`select max(id) id from uploads where project_id = ${project}`),
    groupFile: await one(`select max(id) id from uploads where namespace_id = ${group}`),
    freeEpic: await one(`select id from epics where title = 'free'`),
    freeIssue: await one(`select id from issues where title = 'free'`),
    otherIssue: await one(`select id from issues where project_id = ${project} and iid = 2`),
    freeAlert: await one(`select iid as id from alerts where title = 'free'`),
    event:
      (
        await sql<
          { id: string }[]
        >`select event_id::text as id from error_events where error_id = (select min(id) from errors) limit 1`
      )[0]?.id ?? '',
    integration: await one('select min(id) id from alert_integrations'),
    threads:
      await byName(`select min(id) id, case when issue_id is not null then 'issues' when epic_id is not null then 'epics'
      when snippet_id is not null then 'snippets' when commit_sha is not null then 'commits' else 'alerts' end as name
      from notes where in_thread group by 2`),
    changes:
      await byName(`select min(id) id, kind || case when issue_id is null then ' of epic' else ' of issue' end as name
      from resource_events group by 2`),
    moves: await byName(`select max(id) id, container as name from storage_moves
      where container_id = case container when 'project' then ${project} when 'group' then ${group} else 1 end group by 2`),
  };
}

const gpg = { with: { key: gpgKey.key } };
const picture = (file = 'file'): Given => ({ file });

const given = (world: World): Record<string, Given> => ({
  'POST /users': { with: { force_random_password: true } },
  'DELETE /users/:id': { at: { user: world.deletable } },
  'POST /users/:id/block': { at: { user: world.other } },
  'POST /users/:id/unblock': { at: { user: world.blocked } },
  'POST /users/:id/ban': { at: { user: world.other } },
  'POST /users/:id/unban': { at: { user: world.banned } },
  'POST /users/:id/deactivate': { at: { user: world.dormant } },
  'POST /users/:id/approve': { at: { user: world.pending } },
  'POST /users/:id/reject': { at: { user: world.pending } },
  'PATCH /users/:id/disable_two_factor': { at: { user: world.twoFactor } },
  'PATCH /groups/:id/enterprise_users/:user_id/disable_two_factor': { at: { user_id: world.twoFactor } },
  'GET /keys': { with: { fingerprint: `md5-${world.author}` } },
  'POST /user/gpg_keys': gpg,
  'POST /users/:id/gpg_keys': gpg,
  'PUT /user/avatar': picture('avatar'),
  'POST /groups/:id/restore': { at: { group: world.marked } },
  'POST /groups/:id/unarchive': { at: { group: world.archived } },
  'POST /groups/:id/transfer': { at: { group: world.part } },
  'POST /groups/:id/share': { with: { group_id: world.part } },
  'POST /projects/:id/members': { with: { user_id: world.outsider } },
  'POST /groups/:id/members': { with: { user_id: world.outsider } },
  'PUT /projects/:id/access_requests/:user_id/approve': { at: { user_id: world.asking } },
  'PUT /groups/:id/access_requests/:user_id/approve': { at: { user_id: world.asking } },
  'POST /projects/:id/invitations': { with: { email: 'new@example.net' } },
  'POST /groups/:id/invitations': { with: { email: 'new@example.net' } },
  'POST /projects': { with: { name: 'the-new' } },
  'POST /projects/user/:user_id': { with: { name: 'the-new' } },
  'PUT /projects/:id/transfer': { with: { namespace: String(world.part) } },
  'POST /projects/:id/share': { with: { group_id: world.part } },
  'POST /projects/:id/fork/:forked_from_id': { at: { project: world.empty, forked_from_id: world.project } },
  'DELETE /projects/:id/fork': { at: { project: world.markedFork } },
  'POST /projects/:id/restore': { at: { project: world.markedProject } },
  'POST /projects/:id/unarchive': { at: { project: world.archivedProject } },
  'POST /projects/:id/fork': { with: { path: 'a-fork', name: 'A fork' } },
  'GET /projects/:id/repository/compare': { with: { from: 'person-1', to: 'main' } },
  'GET /projects/:id/repository/merge_base': { with: { refs: ['person-1', 'main'] } },
  'POST /projects/:id/repository/branches': { with: { branch: 'new', ref: 'main' } },
  'POST /projects/:id/repository/files/:file_path': { at: { file_path: 'new' } },
  'POST /projects/:id/repository/tags': { with: { tag_name: 'new', ref: 'main' } },
  'POST /projects/:id/repository/commits': {
    with: { actions: [{ action: 'create', file_path: 'new', content: 'Hello' }] },
  },
  'POST /projects/:id/repository/commits/:sha/cherry_pick': { with: { branch: 'behind' } },
  'PUT /projects/:id/repository/submodules/:submodule': {
    at: { submodule: 'lib' },
    with: { branch: 'behind', commit_sha: '1'.repeat(40) },
  },
  'GET /projects/:id/repository/blobs/:sha': { at: { sha: world.blob } },
  'GET /projects/:id/repository/blobs/:sha/raw': { at: { sha: world.blob } },
  'GET /projects/:id/protected_branches/:name': { at: { name: 'guarded-person-1' } },
  'PATCH /projects/:id/protected_branches/:name': { at: { name: 'guarded-person-1' } },
  'DELETE /projects/:id/protected_branches/:name': { at: { name: 'guarded-person-1' } },
  'GET /projects/:id/protected_tags/:name': { at: { name: 'guarded-person-1' } },
  'DELETE /projects/:id/protected_tags/:name': { at: { name: 'guarded-person-1' } },
  'POST /projects/:id/wikis/attachments': picture(),
  'POST /groups/:id/wikis/attachments': picture(),
  'PUT /projects/:id/wikis/:slug': { with: { content: 'New' } },
  'PUT /groups/:id/wikis/:slug': { with: { content: 'New' } },
  'POST /snippets': { with: { file_name: 'new', content: 'Hello' } },
  'PUT /snippets/:id': { with: { title: 'New' } },
  'POST /projects/:id/snippets': { with: { file_name: 'new', content: 'Hello' } },
  'PUT /projects/:id/snippets/:snippet_id': { with: { title: 'New' } },
  'GET /projects/:id/search': { with: { scope: 'issues' } },
  'GET /projects/:id/-/search': { with: { scope: 'issues' } },
  'POST /projects/:id/uploads': picture(),
  'POST /groups/:id/uploads': picture(),
  'POST /projects/:id/repository_storage_moves': { with: { destination_storage_name: 'fast' } },
  'POST /snippets/:id/repository_storage_moves': { with: { destination_storage_name: 'fast' } },
  'POST /groups/:id/repository_storage_moves': { with: { destination_storage_name: 'fast' } },
  'PUT /projects/:id/issues/:noteable_id/discussions/:discussion_id/notes/:note_id': {
    with: { body: 'New' },
  },
  'PUT /groups/:id/epics/:noteable_id/discussions/:discussion_id/notes/:note_id': { with: { body: 'New' } },
  'PUT /projects/:id/issues/:issue_iid': { with: { title: 'New' } },
  'POST /projects/:id/issues/:issue_iid/links': {
    with: { target_project_id: String(world.project), target_issue_iid: 2 },
  },
  'POST /projects/:id/issues/:issue_iid/move': { with: { to_project_id: world.empty } },
  'POST /projects/:id/issues/:issue_iid/clone': { with: { to_project_id: world.empty } },
  'PUT /projects/:id/issues/:issue_iid/reorder': { with: { move_after_id: world.otherIssue } },
  'POST /projects/:id/issues/:issue_iid/metric_images': picture(),
  'POST /projects/:id/alert_management_alerts/:alert_iid/metric_images': picture(),
  'POST /projects/:id/alert_management_alerts/:alert_iid/issue': { at: { alert_iid: world.freeAlert } },
  'PATCH /projects/:id/error_tracking/settings': { at: { project: world.empty } },
  'GET /projects/:id/error_tracking/settings': { at: { project: world.empty } },
  'GET /projects/:id/error_tracking/errors/:error_id/events/:event_id': { at: { event_id: world.event } },
  'PUT /projects/:id/labels/:name': { with: { new_name: 'new' } },
  'PUT /projects/:id/labels': { with: { name: 'person-1', new_name: 'new' } },
  'DELETE /projects/:id/labels': { with: { name: 'person-1' } },
  'PUT /projects/:id/labels/promote': { with: { name: 'person-1' } },
  'GET /groups/:id/labels/:name': { at: { name: 'of-person-1' } },
  'PUT /groups/:id/labels/:name': { at: { name: 'of-person-1' }, with: { new_name: 'new' } },
  'DELETE /groups/:id/labels/:name': { at: { name: 'of-person-1' } },
  'PUT /groups/:id/labels': { with: { name: 'of-person-1', new_name: 'new' } },
  'DELETE /groups/:id/labels': { with: { name: 'of-person-1' } },
  'POST /groups/:id/epics/:epic_iid/epics/:child_epic_id': { at: { child_epic_id: world.freeEpic } },
  'POST /groups/:id/-/epics/:epic_iid/epics/:child_epic_id': { at: { child_epic_id: world.freeEpic } },
  'POST /groups/:id/epics/:epic_iid/issues/:issue_id': { at: { issue_id: world.freeIssue } },
  'POST /groups/:id/-/epics/:epic_iid/issues/:issue_id': { at: { issue_id: world.freeIssue } },
  'POST /groups/:id/epics/:epic_iid/related_epics': {
    with: { target_group_id: String(world.group), target_epic_iid: 4 },
  },
  'POST /features/:name': { at: { name: Object.keys(featureDefinitions)[0] ?? '' }, with: { value: 'true' } },
  'POST /user/personal_access_tokens': { with: { scopes: ['k8s_proxy'] } },
  'POST /users/:user_id/impersonation_tokens': { with: { scopes: ['api'] } },
  'POST /projects/:id/deploy_tokens': { with: { scopes: ['read_repository'] } },
  'POST /groups/:id/deploy_tokens': { with: { scopes: ['read_repository'] } },
  'POST /applications': { with: { scopes: 'api' } },
  'PUT /topics/:id': { with: { title: 'New' } },
  'POST /topics/merge': { with: { source_topic_id: 1, target_topic_id: 2 } },
});

/** Further requests to the endpoints, for checks beyond the access sentence: by endpoint, and by the difference. */
const variants = (world: World): Record<string, Record<string, Given>> => ({
  'POST /projects/:id/members': { 'as an Owner': { with: { user_id: world.outsider, access_level: 50 } } },
  'PUT /projects/:id/members/:user_id': {
    'to Owner': { at: { user_id: world.other }, with: { access_level: 50 } },
    'of an Owner': { at: { user_id: world.chief } },
  },
  'DELETE /projects/:id/members/:user_id': {
    'of somebody else': { at: { user_id: world.other } },
    'of an Owner': { at: { user_id: world.chief } },
  },
  'PUT /groups/:id/members/:user_id': {
    'to Owner': { at: { user_id: world.other }, with: { access_level: 50 } },
  },
  'DELETE /groups/:id/members/:user_id': {
    'of somebody else': { at: { user_id: world.other } },
    'of an Owner': { at: { user_id: world.headOfGroup } },
  },
  'POST /projects/:id/invitations': {
    'as an Owner': { with: { email: 'new@example.net', access_level: 50 } },
  },
  'PUT /projects/:id/invitations/:email': {
    'to Owner': { with: { access_level: 50 } },
    'of an Owner': { at: { email: 'chief@example.net' }, with: { access_level: 10 } },
  },
  'DELETE /projects/:id/invitations/:email': { 'of an Owner': { at: { email: 'chief@example.net' } } },
  'PUT /projects/:id/access_requests/:user_id/approve': {
    'as an Owner': { at: { user_id: world.asking }, with: { access_level: 50 } },
  },
  'DELETE /projects/:id/access_requests/:user_id': { 'of somebody else': { at: { user_id: world.asking } } },
  'DELETE /groups/:id/access_requests/:user_id': { 'of somebody else': { at: { user_id: world.asking } } },
  'POST /projects/:id/import_project_members/:project_id': {
    'from where one manages nothing': { at: { project_id: world.own } },
    'from out of sight': { at: { project_id: world.projectElsewhere } },
  },
  'POST /projects/:id/share': {
    'as Owners': { with: { group_id: world.part, group_access: 50 } },
    'with what is out of sight': { with: { group_id: world.elsewhere } },
    'of a locked group': { at: { project: world.locked }, with: { group_id: world.part } },
  },
  'DELETE /projects/:id/share/:group_id': { 'of Owners': { at: { group_id: world.ownerPart } } },
  'POST /groups/:id/share': { 'with what is out of sight': { with: { group_id: world.elsewhere } } },
  'POST /projects/:id/fork/:forked_from_id': {
    'of what is out of sight': { at: { project: world.empty, forked_from_id: world.projectElsewhere } },
  },
  'POST /projects/:id/fork': {
    'into the group': { with: { path: 'a-fork', name: 'A fork', namespace_id: world.group } },
    'into what is out of sight': { with: { path: 'a-fork', name: 'A fork', namespace_id: world.elsewhere } },
  },
  'PUT /projects/:id/transfer': {
    'out of sight': { with: { namespace: String(world.elsewhere) } },
    beside: { with: { namespace: String(world.beside) } },
  },
  'POST /groups/:id/transfer': {
    'out of sight': { at: { group: world.part }, with: { group_id: world.elsewhere } },
    beside: { at: { group: world.part }, with: { group_id: world.beside } },
  },
  'POST /projects': {
    'in the group': { with: { name: 'the-new', namespace_id: world.group } },
    'out of sight': { with: { name: 'the-new', namespace_id: world.elsewhere } },
    public: { with: { name: 'the-new', visibility: 'public' } },
  },
  'POST /groups': {
    'in the group': { with: { path: 'the-new', parent_id: world.group } },
    'out of sight': { with: { path: 'the-new', parent_id: world.elsewhere } },
  },
  'PUT /projects/:id': {
    'its name': { with: { name: 'renamed' } },
    'its branch': { with: { default_branch: 'person-1' } },
    'its parts': { with: { issues_access_level: 'private' } },
    'its storage': { with: { repository_storage: 'fast' } },
  },
  'PUT /groups/:id': { 'its lock': { with: { share_with_group_lock: true } } },
  'POST /projects/:id/repository/files/:file_path': {
    'on a protected branch': { at: { file_path: 'new' }, with: { branch: 'person-2' } },
  },
  'POST /projects/:id/repository/commits': {
    'on a protected branch': {
      with: { branch: 'person-2', actions: [{ action: 'create', file_path: 'new', content: 'Hello' }] },
    },
  },
  'POST /projects/:id/repository/commits/:sha/revert': {
    'on a protected branch': { with: { branch: 'person-2' } },
  },
  'DELETE /projects/:id/repository/tags/:tag_name': { protected: { at: { tag_name: 'person-2' } } },
  'POST /projects/:id/repository/tags': {
    protected: { with: { tag_name: 'held', ref: 'main' } },
  },
  'POST /projects/:id/deploy_keys/:key_id/enable': {
    'from out of sight': { at: { key_id: world.keyElsewhere } },
  },
  'PUT /projects/:id/deploy_keys/:key_id': { 'to push': { with: { can_push: true, title: 'New' } } },
  'GET /projects/:id/snippets/:snippet_id': {
    'of somebody else': { at: { snippet_id: world.othersSnippet } },
  },
  'PUT /projects/:id/snippets/:snippet_id': {
    'of somebody else': { at: { snippet_id: world.othersSnippet }, with: { title: 'New' } },
  },
  'DELETE /projects/:id/snippets/:snippet_id': {
    'of somebody else': { at: { snippet_id: world.othersSnippet } },
  },
  'GET /projects/:id/issues/:issue_iid': { confidential: { at: { issue_iid: 6 } } },
  'PUT /projects/:id/issues/:issue_iid': {
    confidential: { at: { issue_iid: 6 }, with: { title: 'New' } },
    'of somebody else': { at: { issue_iid: 5 + 2 }, with: { title: 'New' } },
    'its labels': { with: { labels: 'person-1' } },
    'its confidentiality': { with: { confidential: true } },
    'its lock': { with: { discussion_locked: true } },
    'its weight': { with: { weight: 1 } },
    'its epic': { with: { epic_id: world.freeEpic } },
    'its time': { with: { updated_at: '2020-01-01T00:00:00Z' } },
  },
  'POST /projects/:id/issues': {
    confidential: { with: { confidential: true } },
    'with a label': { with: { labels: 'person-1' } },
    'at another time': { with: { created_at: '2020-01-01T00:00:00Z', iid: 99 } },
  },
  'DELETE /projects/:id/issues/:issue_iid': {
    'of somebody else': { at: { issue_iid: 7 } },
    confidential: { at: { issue_iid: 6 } },
  },
  'POST /projects/:id/issues/:issue_iid/links': {
    'with one elsewhere': { with: { target_project_id: String(world.inReach), target_issue_iid: 1 } },
    'with one out of sight': {
      with: { target_project_id: String(world.projectElsewhere), target_issue_iid: 1 },
    },
  },
  'POST /projects/:id/issues/:issue_iid/move': {
    elsewhere: { with: { to_project_id: world.inReach } },
    'of somebody else': { at: { issue_iid: 7 }, with: { to_project_id: world.empty } },
  },
  'POST /projects/:id/issues/:issue_iid/clone': {
    elsewhere: { with: { to_project_id: world.inReach } },
    confidential: { at: { issue_iid: 6 }, with: { to_project_id: world.empty } },
  },
  'POST /projects/:id/issues/:issue_iid/todo': { confidential: { at: { issue_iid: 6 } } },
  'POST /projects/:id/issues/:issue_iid/time_estimate': { 'of somebody else': { at: { issue_iid: 7 } } },
  'POST /projects/:id/issues/:subscribable_id/subscribe': { confidential: { at: { subscribable_id: 6 } } },
  'GET /projects/:id/issues/:noteable_id/notes': { confidential: { at: { noteable_id: 6 } } },
  'GET /projects/:id/issues/:noteable_id/notes/:note_id': {
    internal: { at: { note_id: world.internalNote } },
  },
  'GET /projects/:id/search': {
    'in notes': { with: { scope: 'notes' } },
    'in files': { with: { scope: 'blobs' } },
    'in the wiki': { with: { scope: 'wiki_blobs' } },
  },
  'GET /search': { 'in issues': { with: { scope: 'issues' } } },
  'GET /groups/:id/search': { 'in issues': { with: { scope: 'issues' } } },
  'GET /todos': {
    'of a project out of sight': { with: { project_id: world.projectElsewhere } },
    'of a group out of sight': { with: { group_id: world.elsewhere } },
  },
  'POST /projects/:id/issues/:noteable_id/notes': {
    'that closes': { with: { body: '/close' } },
    'that labels': { with: { body: '/label ~person-1' } },
    'that promotes': { with: { body: '/promote' } },
    'that relates to one out of sight': { with: { body: '/relate elsewhere/elsewhere#1' } },
    internal: { with: { internal: true } },
    confidential: { at: { noteable_id: 6 } },
    locked: { at: { noteable_id: 7 } },
    'at another time': { with: { created_at: '2020-01-01T00:00:00Z' } },
  },
  'PUT /projects/:id/issues/:noteable_id/notes/:note_id': {
    'of somebody else': { at: { note_id: world.othersNote } },
  },
  'DELETE /projects/:id/issues/:noteable_id/notes/:note_id': {
    'of somebody else': { at: { note_id: world.othersNote } },
  },
  'POST /projects/:id/issues/:noteable_id/discussions': {
    internal: { with: { internal: true } },
    locked: { at: { noteable_id: 7 } },
  },
  'POST /projects/:id/issues/:noteable_id/award_emoji': { locked: { at: { noteable_id: 7 } } },
  'DELETE /projects/:id/issues/:noteable_id/award_emoji/:award_id': {
    'of somebody else': { at: { award_id: world.othersAward } },
  },
  'GET /groups/:id/epics/:epic_iid': { confidential: { at: { epic_iid: 5 } } },
  'PUT /groups/:id/epics/:epic_iid': {
    'its title': { with: { title: 'New' } },
    confidential: { at: { epic_iid: 5 }, with: { title: 'New' } },
    'its parent': { with: { parent_id: world.epicElsewhere } },
  },
  'GET /groups/:id/epics/:noteable_id/notes': { confidential: { at: { noteable_id: 5 } } },
  'POST /groups/:id/epics/:noteable_id/notes': {
    internal: { with: { internal: true } },
    confidential: { at: { noteable_id: 5 } },
  },
  'PUT /groups/:id/epics/:noteable_id/notes/:note_id': {
    'of somebody else': { at: { note_id: world.othersEpicNote } },
  },
  'DELETE /groups/:id/epics/:noteable_id/notes/:note_id': {
    'of somebody else': { at: { note_id: world.othersEpicNote } },
  },
  'POST /groups/:id/epics/:epic_iid/epics/:child_epic_id': {
    'from out of sight': { at: { child_epic_id: world.epicElsewhere } },
  },
  'POST /groups/:id/epics/:epic_iid/issues/:issue_id': {
    'from out of sight': { at: { issue_id: world.issueElsewhere } },
    'of a project that one only sees': { at: { issue_id: world.issueInReach } },
  },
  'POST /groups/:id/epics/:epic_iid/related_epics': {
    'from out of sight': { with: { target_group_id: String(world.elsewhere), target_epic_iid: 1 } },
  },
  'PUT /projects/:id/snippets/:noteable_id/notes/:note_id': {
    'of somebody else': { at: { note_id: world.othersSnippetNote } },
  },
  'DELETE /projects/:id/snippets/:noteable_id/notes/:note_id': {
    'of somebody else': { at: { note_id: world.othersSnippetNote } },
  },
  'GET /personal_access_tokens': { 'of somebody else': { with: { user_id: world.author } } },
  'GET /personal_access_tokens/:id': { 'of somebody else': { at: { id: world.othersToken } } },
  'DELETE /personal_access_tokens/:id': { 'of somebody else': { at: { id: world.othersToken } } },
  'POST /personal_access_tokens/:id/rotate': { 'of somebody else': { at: { id: world.othersToken } } },
  'POST /projects/:id/access_tokens': { 'as an Owner': { with: { access_level: 50 } } },
  'GET /projects/:id': { 'out of sight': { at: { project: world.projectElsewhere } } },
  'GET /groups/:id': { 'out of sight': { at: { group: world.elsewhere } } },
});

export type NamedRequest = { spec: Endpoint; title: string; request: GoodRequest };

/** The requests to each endpoint; the first needs no change of the world. */
export async function makeRequests(
  app: TestApp,
  places: SampleIds,
  endpoints: readonly Endpoint[],
): Promise<NamedRequest[]> {
  const world = { ...places, ...(await namesOf(app, places)) };
  const [table, more] = [given(world), variants(world)];
  const titles = new Set(endpoints.map(titleOf));
  const unknown = [...Object.keys(table), ...Object.keys(more)].filter((title) => !titles.has(title));
  if (unknown.length > 0) throw new Error(`requests to endpoints that are not there: ${unknown.join(', ')}`);
  return endpoints.flatMap((spec) => {
    const title = titleOf(spec);
    const others = Object.entries(more[title] ?? {}).map(([name, difference]) => ({
      spec,
      title: `${title}, ${name}`,
      request: requestTo(spec, world, difference),
    }));
    return [{ spec, title, request: requestTo(spec, world, table[title] ?? {}) }, ...others];
  });
}

function requestTo(spec: Endpoint, world: World, { at = {}, with: fields = {}, file }: Given): GoodRequest {
  const path = addressOf(spec.path, { ...world, ...at }, { ...placed(spec, world), ...at });
  const required = (spec.input.required ?? []).filter((name) => !spec.path.includes(`:${name}`));
  const wanted = Object.fromEntries(
    required.flatMap((name) => (usual[name] === undefined ? [] : [[name, usual[name]]])),
  );
  const sent = { ...wanted, ...fields };
  const line = `${spec.method} /api/v4${path}`;
  if (file !== undefined) {
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    return { line, headers, body: filePart(file) };
  }
  if (spec.method === 'GET') {
    const query = Object.entries(sent).flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((each) => pair(`${name}[]`, each)) : [pair(name, value)],
    );
    return { line: query.length === 0 ? line : `${line}?${query.join('&')}`, headers: {} };
  }
  return { line, headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) };
}

/** Ids in paths, by the name of the parameter and by the path's subject. */
function placed({ path }: Endpoint, world: World): Record<string, string | number> {
  const inGroup = path.startsWith('/groups/');
  const upload = inGroup ? world.groupUpload : world.upload;
  return {
    user_id: world.author,
    secret: upload.secret,
    filename: upload.filename,
    token_id: path.includes('deploy_tokens')
      ? inGroup
        ? world.groupDeployToken
        : world.deployToken
      : inGroup
        ? world.groupToken
        : world.projectToken,
    email_id: world.ownEmail,
    email: 'person-1@example.net',
    group_id: world.beside,
    key_id: path.includes('gpg')
      ? world.ownGpgKey
      : path.includes('deploy_keys')
        ? world.deployKey
        : world.ownKey,
    subscribable_id: path.includes('/labels/') ? (inGroup ? world.groupLabel : world.label) : 1,
    child_epic_id: world.childEpic,
    issue_id: world.issue,
    related_epic_link_id: world.epicLink,
    issue_link_id: world.issueLink,
    award_id: path.includes('/notes/')
      ? inGroup
        ? world.epicNoteAward
        : path.includes('/snippets/')
          ? world.snippetNoteAward
          : world.noteAward
      : inGroup
        ? world.epicAward
        : path.includes('/snippets/')
          ? world.snippetAward
          : world.issueAward,
    metric_image_id: path.includes('/issues/') ? world.issueImage : world.image,
    timeline_event_id: world.timeline,
    error_id: world.error,
    audit_event_id: inGroup ? world.groupAudit : world.projectAudit,
    impersonation_token_id: world.impersonation,
    key: path.includes('custom_attributes') ? 'person-1' : 1,
    feature_flag_name: 'person-1',
    slug: 'person-1',
    file_path: 'person-1',
    sha: world.head,
    branch: 'person-1',
    tag_name: 'person-1',
    ...(path.startsWith('/snippets/:id') && { id: path.includes('storage') ? 1 : world.personal }),
    snippet_id: world.snippet,
    upload_id: inGroup ? world.groupFile : world.file,
    ref: 'main',
    integration_id: world.integration,
    ...(path.includes('/discussions/:') && { note_id: world.threads[threadOf(path)] ?? 0 }),
    ...(path.includes('/resource_') && { event_id: world.changes[changeOf(path)] ?? 1 }),
    repository_storage_move_id: world.moves[/(project|group|snippet)/.exec(path)?.[1] ?? ''] ?? 0,
    provider: 'openid_connect',
  };
}

const pair = (name: string, value: unknown): string => `${name}=${encodeURIComponent(String(value))}`;
const threadOf = (path: string): string =>
  /\/(issues|epics|snippets|commits|alerts)/.exec(path.replace('alert_management_', ''))?.[1] ?? '';
const changeOf = (path: string): string =>
  `${/resource_(\w+)_events/.exec(path)?.[1]} of ${path.includes('/epics/') ? 'epic' : 'issue'}`;
