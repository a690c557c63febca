/**
 * Programs that nobody here wrote read what hooks are sent: the models of pydantic-gitlab-webhooks (PyPI), and the types of
 * gitlab-event-types (npm), by which the compiler reads each payload as a program that was written against them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ask, eventName, hookSteps, makeHookWorld, untold } from '../support/hook-world.ts';
import type { Payload } from '../support/hooks.ts';
import { type Received, startWebServer, type WebServer } from '../support/web-server.ts';
import { soon } from './gitbeaker-client.ts';
import { waitingAt } from './mail-server.ts';
import { cleanUp, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

const INSTALLED = join(homedir(), '.cache', 'ashlar', 'journeys');
const PYTHON = join(INSTALLED, 'bin', 'python');
const TYPES = join(INSTALLED, 'gitlab-event-types', 'node_modules', 'gitlab-event-types');
const COMPILER = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');

let receiver: WebServer;
/** What the group's hook was sent. */
let told: Received[] = [];

beforeAll(async () => {
  receiver = await startWebServer((_, reply) => reply.end());
});
afterAll(async () => {
  await receiver?.stop();
  await cleanUp();
});

const bodyOf = ({ body }: Received): Payload => JSON.parse(body);
const headerOf = ({ headers }: Received) => String(headers['x-gitlab-event']);

test('the program sends what happens', async () => {
  const program = await startProgram({ env: { ASHLAR_TIER: 'ultimate' } });
  const ask: Ask = async (request, body, token = ROOT_TOKEN) => {
    const [method = '', path = ''] = request.split(' ');
    const response = await fetch(`${program.url}/api/v4${path}`, {
      method,
      headers: { 'private-token': token, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${request}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const quiet = () => expect.poll(() => waitingAt(program.url), soon).toMatchObject({ outbox: 0, jobs: 0 });
  const world = await makeHookWorld(ask, receiver.url, quiet);
  for (const step of hookSteps) {
    const before = receiver.received.length;
    await step.act(world);
    await expect.poll(() => untold(step, receiver.received.slice(before)), soon).toEqual([]);
  }
  told = receiver.received.filter(({ path }) => path === '/group');
});

/** What becomes which model. */
const models: Readonly<Record<string, readonly string[]>> = {
  PushEvent: ['Push Hook: push'],
  TagPushEvent: ['Tag Push Hook: tag_push'],
  IssueEvent: [
    'Confidential Issue Hook: issue (open)',
    'Confidential Issue Hook: work_item (open)',
    'Issue Hook: issue (close)',
    'Issue Hook: issue (open)',
    'Issue Hook: issue (reopen)',
    'Issue Hook: issue (update)',
    'Issue Hook: work_item (open)',
  ],
  CommitNoteEvent: ['Note Hook: note (create)'],
  IssueNoteEvent: [
    'Confidential Note Hook: note (create)',
    'Note Hook: note (create)',
    'Note Hook: note (update)',
  ],
  MergeRequestNoteEvent: [
    'Confidential Note Hook: note (create)',
    'Note Hook: note (create)',
    'Note Hook: note (update)',
  ],
  SnippetNoteEvent: ['Note Hook: note (create)', 'Note Hook: note (update)'],
  MergeRequestEvent: [
    'approval',
    'approved',
    'close',
    'merge',
    'open',
    'reopen',
    'unapproval',
    'unapproved',
    'update',
  ].map((action) => `Merge Request Hook: merge_request (${action})`),
  WikiPageEvent: ['Wiki Page Hook: wiki_page (create)', 'Wiki Page Hook: wiki_page (update)'],
  FeatureFlagEvent: ['Feature Flag Hook: feature_flag'],
  ReleaseEvent: ['create', 'delete', 'update'].map((action) => `Release Hook: release (${action})`),
  DeploymentEvent: ['Deployment Hook: deployment'],
  EmojiEvent: ['Emoji Hook: emoji (award)'],
  PipelineEvent: ['Pipeline Hook: pipeline'],
  ProjectAccessTokenEvent: ['Resource Access Token Hook: access_token'],
  GroupMemberEvent: [
    'Member Hook: user_add_to_group',
    'Member Hook: user_remove_from_group',
    'Member Hook: user_update_for_group',
  ],
  ProjectEvent: ['Project Hook: project_create', 'Project Hook: project_destroy'],
  SubgroupEvent: ['Subgroup Hook: subgroup_create', 'Subgroup Hook: subgroup_destroy'],
};

/** What it does not read, though the public API sends it so: its models have no null or gap there, or do not know the kind. */
const refusals: Readonly<Record<string, readonly string[]>> = {
  // The last commit of a branch or tag that is gone.
  'checkout_sha: string_type': ['Push Hook: push (delete)', 'Tag Push Hook: tag_push (delete)'],
  // Of a project without a commit.
  'default_branch: string_type': ['Issue Hook: issue (open)'],
  // Awards on anything but a comment on an issue.
  'issue: missing': ['Emoji Hook: emoji (award)'],
  'note: missing': ['Emoji Hook: emoji (award)', 'Emoji Hook: emoji (revoke)'],
  'issue: missing, note: missing': ['Emoji Hook: emoji (award)', 'Emoji Hook: emoji (revoke)'],
  // The text of a page that is gone, and the project of a group's page.
  'content: missing': ['Wiki Page Hook: wiki_page (delete)'],
  'project: missing': ['Wiki Page Hook: wiki_page (create)', 'Wiki Page Hook: wiki_page (update)'],
  'content: missing, project: missing': ['Wiki Page Hook: wiki_page (delete)'],
  // Members without an expiry.
  'Parser must be a string or character stream, not NoneType': [
    'Member Hook: user_access_request_denied_for_group',
    'Member Hook: user_access_request_to_group',
    'Member Hook: user_add_to_group',
  ],
  // What another program deployed.
  'deployable_id: int_type, deployable_url: url_type': ['Deployment Hook: deployment'],
  // Jobs that no runner has yet, and those of pipelines that no other started.
  'runner: model_type, source_pipeline: missing': ['Job Hook: build'],
  'source_pipeline: missing': ['Job Hook: build'],
  // The same of a pipeline without a name that another started.
  'name: string_type, runner: model_type': ['Job Hook: build'],
  ': union_tag_invalid': ['close', 'create', 'delete', 'reopen'].map(
    (action) => `Milestone Hook: milestone (${action})`,
  ),
};

test('models of pydantic-gitlab-webhooks', () => {
  if (!existsSync(PYTHON))
    throw new Error(`no ${PYTHON}: install test/journeys/requirements.txt, as .ci/run does`);
  const script = spawnSync(PYTHON, [join(import.meta.dirname, 'hook-parsers.py')], {
    input: JSON.stringify(told.map((each) => [headerOf(each), bodyOf(each)])),
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
    timeout: 120_000,
  });
  expect(script.stderr).toBe('');
  const outcomes = JSON.parse(script.stdout);
  const read = new Map<string, Set<string>>();
  const refused = new Map<string, Set<string>>();
  for (const [place, each] of told.entries()) {
    const { model, read: found, refused: why } = outcomes[place];
    const [into, what] = model ? [read, model] : [refused, why.join(', ')];
    into.set(what, (into.get(what) ?? new Set()).add(eventName(each)));
    if (model) expect(found.object_attributes?.id).toEqual(bodyOf(each).object_attributes?.id);
  }
  const sorted = (of: Map<string, Set<string>>) =>
    Object.fromEntries([...of].map(([what, names]) => [what, [...names].toSorted()]));
  expect(sorted(read)).toEqual(models);
  expect(sorted(refused)).toEqual(refusals);
});

/** The types of the package, by the kinds that it has. */
const types: Readonly<Record<string, string>> = {
  push: 'PushEvent',
  tag_push: 'TagPushEvent',
  issue: 'IssueEvent',
  note: 'NoteEvent',
  merge_request: 'MergeRequestEvent',
  wiki_page: 'WikiPageEvent',
  feature_flag: 'FeatureFlagEvent',
  release: 'ReleaseEvent',
  emoji: 'EmojiEvent',
};

test('types of gitlab-event-types', () => {
  if (!existsSync(TYPES))
    throw new Error(`no ${TYPES}: install gitlab-event-types, as .ci/run does with test/journeys/programs`);
  const folder = makeFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(TYPES, join(folder, 'node_modules', 'gitlab-event-types'));
  // Of what is in groups, it has no types.
  const typed = told.filter((each) => bodyOf(each).object_kind in types && !bodyOf(each).group);
  const kinds = new Set(typed.map((each) => bodyOf(each).object_kind));
  expect([...kinds].toSorted()).toEqual(Object.keys(types).toSorted());
  const program = `
import type * as types from 'gitlab-event-types';
// Whatever is told has the type; it may be null, and there may be more. Of one id the package says that it is null always.
type Told<T> = [T] extends [null] ? unknown
  : T extends string ? T | null
  : T extends (infer Each)[] ? readonly Told<Each>[] | null
  : T extends object ? ({ [Field in keyof T]?: Told<T[Field]> } & Record<string, unknown>) | null : T | null;
// But for fields that are absent where there is nothing, and for such as the public API has no more.
type Lacks<T, Found> = string extends keyof T ? never : Exclude<keyof T, keyof Found | 'assignee' | 'assignees' | 'reviewers' | 'note' | 'issue'
  | 'commit' | 'merge_request' | 'snippet' | 'content' | 'position' | 'branch_name'>;
type Whole<T, Found> = [Lacks<T, Found>] extends [never] ? true : Lacks<T, Found>;
type Attributes<T> = T extends { object_attributes: infer A } ? A : object;
${typed
  .map((each, place) => {
    const body = bodyOf(each);
    const type = `types.${types[body.object_kind]}`;
    return `
// ${eventName(each)}
const told${place} = ${JSON.stringify(body)} as const;
export const read${place}: Told<${type}> = told${place};
export const whole${place}: Whole<${type}, typeof told${place}> = true;
${body.object_attributes ? `export const attributes${place}: Whole<Attributes<${type}>, typeof told${place}.object_attributes> = true;` : ''}
`;
  })
  .join('')}
// The compiler does look.
const wrong = { ...told0, user_id: 'mason' } as const;
// @ts-expect-error A number is told as a text.
export const refused: Told<types.PushEvent> = wrong;
`;
  writeFileSync(join(folder, 'program.ts'), program);
  const compiled = spawnSync(
    process.execPath,
    [
      COMPILER,
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--moduleResolution',
      'nodenext',
      '--types',
      '',
      'program.ts',
    ],
    { cwd: folder, encoding: 'utf8', timeout: 120_000 },
  );
  expect([compiled.stdout, compiled.stderr, compiled.status]).toEqual(['', '', 0]);
});
