/**
 * What a release's own program is filled with before its data become a fixture: something of everything that people keep, by
 * requests and git pushes alone. Nothing here expires.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Call, type Called, siteAt } from '../support/app.ts';
import { openRegistry, sha256Of } from '../support/registry.ts';
import { openRunner } from '../support/runner.ts';
import { tarEntries } from '../support/tar.ts';
import { zipOf } from '../support/zip.ts';

export const ROOT_TOKEN = 'glpat-root-token-of-a-release';
export const ROOT_PASSWORD = 'correct horse battery of a release';
export const PASSWORD = 'a password of a release 1';
/** A picture of one point. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const LARGE = Buffer.alloc(20_000, 'a large file of a release\n');

/** A public key that nobody has the private one of. */
const sshKey = (name: string): string => {
  const head = Buffer.from('0000000b7373682d6564323535313900000020', 'hex');
  const digest = createHash('sha256').update(name).digest();
  return `ssh-ed25519 ${Buffer.concat([head, digest]).toString('base64')} ${name}`;
};

/** Of npm, which a release looks into. */
const tarball = gzipSync(
  Buffer.concat([
    tarEntries({
      name: 'package/package.json',
      content: JSON.stringify({ name: '@workshop/tongs', version: '1.0.0' }),
    }),
    Buffer.alloc(1024),
  ]),
);
export const TARBALL_SHA1 = createHash('sha1').update(tarball).digest('hex');

/** What the test of the upgrade needs to know besides the answers. */
export type Contents = {
  /** A personal access token of `ada`, made by the release. */
  token: string;
  project: number;
  /** Paths of projects, snippets and wikis that git reads. */
  repositories: string[];
  upload: string;
};

/** Runs git in a folder; throws with its output when it fails. */
export function git(folder: string, ...args: string[]): string {
  const who = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Ada'],
    [`GIT_${role}_EMAIL`, 'ada@example.com'],
    [`GIT_${role}_DATE`, '2026-01-02T03:04:05Z'],
  ]);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(who),
  };
  return execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The body of an answer that must have succeeded, unless the release has no such endpoint yet, which is told. */
// biome-ignore lint/suspicious/noExplicitAny: records of any kind are read.
async function done(called: Promise<Called>, request: string): Promise<any> {
  const { status, body, text } = await called;
  if (status === 404 && body?.error === '404 Not Found') {
    process.stderr.write(`the release has no ${request}\n`);
    return {};
  }
  if (status >= 400) throw new Error(`${request}: ${status} ${text}`);
  return body;
}

const asker =
  (call: Call) =>
  // biome-ignore lint/suspicious/noExplicitAny: records of any kind are read.
  (request: string, body?: unknown): Promise<any> =>
    done(call(request, body === undefined ? {} : { body }), request);

/** Fills the program at this address, whose `root` has ROOT_TOKEN. */
export async function fill(url: string): Promise<Contents> {
  const site = siteAt(url, ROOT_TOKEN);
  const root = asker(site.root);
  const upload = async (request: string, field: string, name: string, content: Buffer, more = {}) => {
    const [method = '', path] = request.split(' ');
    const form = new FormData();
    for (const [key, value] of Object.entries(more)) form.set(key, String(value));
    form.set(field, new Blob([new Uint8Array(content)]), name);
    const response = await fetch(`${url}/api/v4${path}`, {
      method,
      headers: { 'private-token': ROOT_TOKEN },
      body: form,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${request}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const put = async (path: string, content: Buffer | string, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'PUT',
      headers: { 'private-token': ROOT_TOKEN, ...headers },
      body: new Uint8Array(Buffer.from(content)),
    });
    if (!response.ok) throw new Error(`PUT ${path}: ${response.status} ${await response.text()}`);
  };

  // The instance, and people.
  await root('PUT /application/settings', {
    require_personal_access_token_expiry: false,
    signup_enabled: false,
    keep_latest_artifact: true,
    activity_retention_days: 0,
    allow_local_requests_from_web_hooks_and_services: true,
  });
  await root('PUT /application/appearance', { title: 'A release', description: 'as it was' });
  await root('POST /broadcast_messages', {
    message: 'The database is upgraded',
    starts_at: '2026-01-01T00:00:00Z',
    ends_at: '2026-01-02T00:00:00Z',
  });
  await root('POST /topics', { name: 'keeping', title: 'Keeping' });
  await root('POST /features/of_a_release', { value: 'true' });
  await root('POST /applications', {
    name: 'An application',
    redirect_uri: 'https://example.com/back',
    scopes: 'api openid',
  });
  await root('POST /admin/ci/variables', { key: 'OF_ALL', value: 'sealed for the instance' });
  await root('POST /hooks', { url: 'https://hooks.example.com/all', token: 'sealed' });
  const [ada, grace, blocked] = await Promise.all(
    ['ada', 'grace', 'mallory'].map((username) =>
      root('POST /users', {
        username,
        name: `${username} of a release, größer 深い`,
        email: `${username}@example.com`,
        password: PASSWORD,
        skip_confirmation: true,
        bio: `The biography of ${username}`,
      }),
    ),
  );
  await root(`POST /users/${blocked.id}/block`);
  await root(`POST /users/${ada.id}/keys`, {
    title: 'a key',
    key: sshKey('ada'),
  });
  await root(`PUT /users/${ada.id}/custom_attributes/floor`, { value: 'third' });
  await root(`POST /users/${ada.id}/emails`, { email: 'ada@example.org', skip_confirmation: true });
  const { token } = await root(`POST /users/${ada.id}/personal_access_tokens`, {
    name: 'of a release',
    scopes: ['api', 'read_repository', 'write_repository'],
  });
  const asAda = asker(site.as(token));
  const { token: graces } = await root(`POST /users/${grace.id}/personal_access_tokens`, {
    name: 'of a release',
    scopes: ['api'],
  });
  const asGrace = asker(site.as(graces));
  await asAda('PUT /user/status', { emoji: 'tea', message: 'reading' });
  await asAda(`POST /users/${grace.id}/follow`);

  // A group, and what it has of its own.
  const group = await root('POST /groups', {
    name: 'Workshop',
    path: 'workshop',
    visibility: 'public',
    description: 'Of *a* release',
  });
  const inner = await root('POST /groups', { name: 'Inner', path: 'inner', parent_id: group.id });
  await root(`POST /groups/${group.id}/members`, { user_id: ada.id, access_level: 50 });
  await root(`POST /groups/${group.id}/members`, { user_id: grace.id, access_level: 30 });
  await root(`POST /groups/${inner.id}/share`, { group_id: group.id, group_access: 20 });
  const groupLabel = await root(`POST /groups/${group.id}/labels`, { name: 'everywhere', color: '#123456' });
  await root(`POST /groups/${group.id}/milestones`, { title: 'A milestone of the group' });
  await root(`POST /groups/${group.id}/variables`, { key: 'OF_GROUP', value: 'sealed for the group' });
  await root(`POST /groups/${group.id}/badges`, {
    link_url: 'https://example.com/badge',
    image_url: 'https://example.com/badge.svg',
  });
  await root(`POST /groups/${group.id}/hooks`, { url: 'https://hooks.example.com/group', push_events: true });
  await root(`POST /groups/${group.id}/deploy_tokens`, { name: 'deploys', scopes: ['read_repository'] });
  const epic = await root(`POST /groups/${group.id}/epics`, { title: 'An epic', description: 'Great' });
  await root(`POST /groups/${group.id}/epics/${epic.id}/notes`, { body: 'A note on an epic' });
  await root(`POST /groups/${group.id}/boards`, { name: 'A board of the group' });
  await root(`POST /groups/${group.id}/wikis`, { title: 'A page of the group', content: 'of the group' });

  // A project, its repository and its settings.
  const project = await root('POST /projects', {
    name: 'Anvil',
    path: 'anvil',
    namespace_id: group.id,
    visibility: 'public',
    description: 'Heavy',
    topics: ['keeping'],
  });
  const at = `/projects/${project.id}`;
  const home = mkdtempSync(join(tmpdir(), 'ashlar-contents-'));
  const remote = (path: string) => `${url.replace('://', `://ada:${token}@`)}/${path}.git`;
  try {
    git(home, 'init', '-q', '.');
    writeFileSync(join(home, 'README.md'), '# Anvil\n');
    writeFileSync(join(home, 'größe.txt'), `${'line\n'.repeat(40)}`);
    writeFileSync(
      join(home, '.gitlab-ci.yml'),
      'build:\n  script: make\n  environment: { name: production, url: "https://example.com" }\n' +
        '  artifacts: { paths: [out], expire_in: never }\nlater:\n  script: x\n  when: manual\n',
    );
    const oid = createHash('sha256').update(LARGE).digest('hex');
    writeFileSync(
      join(home, 'large.bin'),
      `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${LARGE.length}\n`,
    );
    writeFileSync(join(home, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    git(home, 'add', '--all', ':!.gitconfig');
    git(home, 'commit', '-q', '-m', 'Begin');
    const lfs = await fetch(`${url}/workshop/anvil.git/info/lfs/objects/batch`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`,
        'content-type': 'application/vnd.git-lfs+json',
        accept: 'application/vnd.git-lfs+json',
      },
      body: JSON.stringify({
        operation: 'upload',
        transfers: ['basic'],
        objects: [{ oid, size: LARGE.length }],
      }),
    });
    const lfsText = await lfs.text();
    if (!lfs.ok) throw new Error(`lfs: ${lfs.status} ${lfsText}`);
    const { objects } = JSON.parse(lfsText) as {
      objects: { actions?: { upload: { href: string; header: Record<string, string> } } }[];
    };
    const action = objects[0]?.actions?.upload;
    if (!action) throw new Error(`lfs takes no object: ${lfsText}`);
    const there = `${url}${new URL(action.href).pathname}`;
    const sent = await fetch(there, {
      method: 'PUT',
      headers: {
        authorization: action.header.Authorization ?? '',
        'content-type': 'application/octet-stream',
      },
      body: new Uint8Array(LARGE),
    });
    if (!sent.ok) throw new Error(`lfs upload: ${sent.status} ${await sent.text()}`);
    git(home, 'push', '-q', remote('workshop/anvil'), 'HEAD:refs/heads/main');
    git(home, 'checkout', '-q', '-b', 'change');
    writeFileSync(join(home, 'größe.txt'), `changed\n${'line\n'.repeat(39)}`);
    git(home, 'commit', '-q', '-a', '-m', 'Change the size [skip ci]');
    git(home, 'push', '-q', remote('workshop/anvil'), 'change');
    git(home, 'checkout', '-q', '-b', 'other', 'main');
    writeFileSync(join(home, 'other.txt'), 'other\n');
    git(home, 'add', 'other.txt');
    git(home, 'commit', '-q', '-m', 'Another file [skip ci]');
    git(home, 'tag', '-a', '-m', 'The first', 'v1.0.0', 'main');
    git(home, 'push', '-q', remote('workshop/anvil'), 'other', 'v1.0.0');
  } finally {
    rmSync(home, { recursive: true });
  }
  const head = (await root(`GET ${at}/repository/branches/main`)).commit.id;
  await upload(`PUT ${at}`, 'avatar', 'a.png', PNG);
  await root(`POST ${at}/protected_branches`, { name: 'release/*', push_access_level: 40 });
  await root(`POST ${at}/protected_tags`, { name: 'v*' });
  await root(`POST ${at}/deploy_keys`, {
    title: 'a deploy key',
    key: sshKey('deploy'),
    can_push: true,
  });
  await root(`POST ${at}/deploy_tokens`, { name: 'reads', scopes: ['read_registry'] });
  await root(`POST ${at}/variables`, { key: 'SEALED', value: 'sealed for the project', masked: false });
  await root(`POST ${at}/hooks`, { url: 'https://hooks.example.com/project', issues_events: true });
  await root(`PUT ${at}/integrations/slack`, { webhook: 'https://hooks.slack.com/services/sealed' });
  await root(`POST ${at}/badges`, {
    link_url: 'https://example.com/b',
    image_url: 'https://example.com/b.svg',
  });
  await root(`POST ${at}/repository/commits/${head}/comments`, { note: 'On a commit' });
  await root(`POST ${at}/statuses/${head}`, { state: 'success', name: 'outside' });
  await root(`POST ${at}/releases`, {
    tag_name: 'v1.0.0',
    description: 'The first release',
    assets: { links: [{ name: 'elsewhere', url: 'https://example.com/file' }] },
  });
  await root(`POST ${at}/triggers`, { description: 'a trigger' });
  await root(`POST ${at}/pipeline_schedules`, {
    description: 'never',
    ref: 'main',
    cron: '0 0 1 1 *',
    active: false,
  });
  await root(`POST ${at}/freeze_periods`, { freeze_start: '0 23 * * 5', freeze_end: '0 8 * * 1' });
  await root(`POST ${at}/feature_flags`, { name: 'new-anvil', version: 'new_version_flag', active: true });
  await root(`POST ${at}/push_rule`, { commit_message_negative_regex: 'secret word' });
  await root(`POST ${at}/registry/protection/repository/rules`, {
    repository_path_pattern: 'workshop/anvil/kept*',
    minimum_access_level_for_push: 'maintainer',
  });
  await upload(`POST ${at}/secure_files`, 'file', 'key.jks', Buffer.from('a secure file'), {
    name: 'key.jks',
  });
  await put(`/api/v4${at}/terraform/state/base`, '{"version":4,"serial":1}').catch(() =>
    root(`POST ${at}/terraform/state/base`, { version: 4, serial: 1, lineage: 'a', resources: [] }),
  );

  // Planning and talk.
  const label = await root(`POST ${at}/labels`, { name: 'bug', color: '#ff0000', priority: 1 });
  await root(`POST ${at}/milestones`, { title: 'A milestone', description: 'of the project' });
  const [milestone] = await root(`GET ${at}/milestones`);
  const file = await upload(`POST ${at}/uploads`, 'file', 'note größer.txt', Buffer.from('an upload'));
  const issue = await asAda(`POST ${at}/issues`, {
    title: 'It is too heavy 深い',
    description: `See ${file.markdown} and @grace\n\n- [ ] lift it`,
    labels: 'bug,everywhere',
    milestone_id: milestone.id,
    assignee_ids: [grace.id],
    due_date: '2026-02-03',
  });
  const second = await asAda(`POST ${at}/issues`, { title: 'Secret', confidential: true, weight: 3 });
  await asAda(`POST ${at}/issues/${issue.iid}/links`, {
    target_project_id: project.id,
    target_issue_iid: second.iid,
  });
  const discussion = await asGrace(`POST ${at}/issues/${issue.iid}/discussions`, { body: 'Lift it?' });
  await asAda(`POST ${at}/issues/${issue.iid}/discussions/${discussion.id}/notes`, { body: 'I cannot' });
  await asAda(`POST ${at}/issues/${issue.iid}/award_emoji`, { name: 'thumbsup' });
  await asAda(`POST ${at}/issues/${issue.iid}/time_estimate`, { duration: '3h' });
  await asAda(`POST ${at}/issues/${issue.iid}/add_spent_time`, { duration: '1h' });
  await root(`PUT ${at}/issues/${second.iid}`, { state_event: 'close' });
  await root(`POST /groups/${group.id}/epics/${epic.iid}/issues/${issue.id}`);
  const board = await root(`POST ${at}/boards`, { name: 'A board' });
  await root(`POST ${at}/boards/${board.id}/lists`, { label_id: label.id });
  await root(`POST ${at}/labels/${groupLabel.id}/subscribe`);
  await root(`POST ${at}/snippets`, {
    title: 'A snippet',
    visibility: 'public',
    files: [{ file_path: 'a.rb', content: 'puts 1\n' }],
  });
  await asAda('POST /snippets', {
    title: 'Of her own',
    visibility: 'private',
    files: [{ file_path: 'b.txt', content: 'b\n' }],
  });
  await root(`POST ${at}/wikis`, { title: 'Home', content: 'The **home** of the wiki' });

  // Changes and reviews.
  const change = await asAda(`POST ${at}/merge_requests`, {
    source_branch: 'change',
    target_branch: 'main',
    title: 'Change the size',
    reviewer_ids: [grace.id],
    description: `Closes #${issue.iid}`,
  });
  const mr = `${at}/merge_requests/${change.iid}`;
  await settled(root, mr);
  await root(`POST ${at}/approval_rules`, { name: 'two eyes', approvals_required: 1, user_ids: [grace.id] });
  await asGrace(`POST ${mr}/approve`);
  const { diff_refs: refs } = await root(`GET ${mr}`);
  await asGrace(`POST ${mr}/discussions`, {
    body: '```suggestion:-0+0\nchanged again\n```',
    position: {
      position_type: 'text',
      ...refs,
      new_path: 'größe.txt',
      old_path: 'größe.txt',
      new_line: 1,
    },
  });
  await asGrace(`POST ${mr}/draft_notes`, { note: 'Not said yet' });
  const merged = await asAda(`POST ${at}/merge_requests`, {
    source_branch: 'other',
    target_branch: 'main',
    title: 'Another file',
  });
  await settled(root, `${at}/merge_requests/${merged.iid}`);
  await asGrace(`POST ${at}/merge_requests/${merged.iid}/approve`);
  await root(`PUT ${at}/merge_requests/${merged.iid}/merge`);

  // A pipeline, a runner and what it made.
  const made = await root('POST /user/runners', {
    runner_type: 'project_type',
    project_id: project.id,
    description: 'a runner',
  });
  const runner = openRunner(site, made.token);
  const job = await runner.take();
  await done(runner.trace(job, 0, 'It builds.\n'), 'trace');
  await done(
    runner.upload(job, zipOf({ name: 'out/anvil.txt', content: 'an artifact' }), {
      artifact_type: 'archive',
      artifact_format: 'zip',
    }),
    'artifacts',
  );
  await done(runner.update(job, { state: 'success' }), 'job');
  for (let rest = await runner.request(); rest.status === 201; rest = await runner.request())
    await done(runner.update(rest.body, { state: 'failed', failure_reason: 'script_failure' }), 'job');

  // Packages and images.
  await put(`/api/v4${at}/packages/generic/tools/1.0.0/hammer.bin`, LARGE);
  await put(
    `/api/v4${at}/packages/npm/@workshop%2ftongs`,
    JSON.stringify({
      _id: '@workshop/tongs',
      name: '@workshop/tongs',
      'dist-tags': { latest: '1.0.0' },
      versions: {
        '1.0.0': {
          name: '@workshop/tongs',
          version: '1.0.0',
          dist: {
            tarball: 'https://example.com/t.tgz',
            shasum: TARBALL_SHA1,
            integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
          },
        },
      },
      _attachments: {
        '@workshop/tongs-1.0.0.tgz': {
          content_type: 'application/octet-stream',
          data: tarball.toString('base64'),
          length: tarball.length,
        },
      },
    }),
    { 'content-type': 'application/json' },
  );
  await put(`/api/v4${at}/packages/maven/com/example/anvil/1.0/anvil-1.0.jar`, 'a jar');
  const registry = openRegistry(site, { username: 'root', password: ROOT_TOKEN });
  const config = await registry.pushBlob('workshop/anvil', '{"architecture":"amd64","os":"linux"}');
  const layer = await registry.pushBlob('workshop/anvil', 'a layer');
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: config, size: 37 },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: layer, size: 7 }],
  });
  const image = await registry.send('PUT workshop/anvil/manifests/1.0', {
    headers: { 'content-type': 'application/vnd.oci.image.manifest.v1+json' },
    body: manifest,
  });
  if (image.status !== 201) throw new Error(`image ${sha256Of(manifest)}: ${image.status} ${image.text}`);

  // Alerts, errors and a fork.
  const receiver = await root(`POST ${at}/alert_management_integrations`, {
    type: 'http',
    name: 'An alert receiver',
    active: true,
  });
  const alert = await fetch(`${url}${new URL(receiver.url).pathname}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${receiver.key ?? receiver.token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ title: 'It glows', severity: 'high' }),
  });
  if (!alert.ok) throw new Error(`alert: ${alert.status} ${await alert.text()}`);
  await root(`PUT ${at}/error_tracking/settings`, { active: true, integrated: true });
  await root(`POST ${at}/error_tracking/client_keys`);
  await root(`POST ${at}/fork`, { namespace_path: 'ada', path: 'anvil-fork', name: 'A fork' });
  await asAda(`POST ${at}/star`);
  const archived = await root('POST /projects', { name: 'Archived', namespace_id: inner.id });
  await root(`POST /projects/${archived.id}/archive`);
  return {
    token,
    project: project.id,
    repositories: ['workshop/anvil', 'workshop/anvil.wiki', 'ada/anvil-fork', 'workshop.wiki'],
    upload: file.full_path ?? file.url,
  };
}

/** Waits until git has judged the merge request. */
async function settled(root: ReturnType<typeof asker>, path: string): Promise<void> {
  for (let turn = 0; turn < 200; turn++) {
    const { detailed_merge_status: status } = await root(`GET ${path}`);
    if (!['preparing', 'checking', 'unchecked', 'approvals_syncing'].includes(status)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${path} is not judged`);
}
