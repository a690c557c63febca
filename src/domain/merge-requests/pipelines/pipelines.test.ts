/** Pipelines of merge requests: what makes them, who may, what they know, and what waits for them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { openRunner } from '../../../../test/support/runner.ts';
import { until } from '../../../../test/support/waiting.ts';

const ashlar = useApp();

const FILE = `
build:
  script: make $CI_MERGE_REQUEST_IID
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
stones:
  script: make stones
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
      changes: [stones/*]
`;

type Shown = { id: number; ref: string; source: string; sha: string; status: string; project_id: number };

async function makeBuilt(attributes: Record<string, unknown> = {}, file = FILE) {
  const { id } = await makeReviewedProject(ashlar, attributes);
  await commitTo(ashlar, id, 'main', { '.gitlab-ci.yml': file });
  return { id, path: `/projects/${id}/merge_requests` };
}

const pipelinesOf = async (path: string, iid: number, token?: string): Promise<Shown[]> =>
  bodyOf(await (token ? ashlar.as(token) : ashlar.root)(`GET ${path}/${iid}/pipelines`), 200);

/** As many as there are to be, once there are. */
async function expectPipelines(path: string, iid: number, count: number): Promise<Shown[]> {
  await until(async () => (await pipelinesOf(path, iid)).length === count, `${count} pipelines`);
  await waitForFollowing(ashlar);
  return pipelinesOf(path, iid);
}

const jobsOf = async (project: number, pipeline: number): Promise<string[]> => {
  const jobs = bodyOf(await ashlar.root(`GET /projects/${project}/pipelines/${pipeline}/jobs`), 200);
  return jobs.map(({ name }: { name: string }) => name).toSorted();
};

async function makeRunner(project: number) {
  const body = { runner_type: 'project_type', project_id: project, run_untagged: true };
  return openRunner(ashlar, bodyOf(await ashlar.root('POST /user/runners', { body }), 201).token);
}

test('one is made when a merge request is opened, pushed to, reopened, and gets another target', async () => {
  const { id, path } = await makeBuilt();
  await commitTo(ashlar, id, 'next', { 'next.txt': 'next\n' });
  const { iid, sha } = await makeMergeRequest(ashlar, id, 'topic', {
    title: 'Draft: Topic',
    labels: 'lime,ash',
  });
  const [first] = await expectPipelines(path, iid, 1);
  expect(first).toMatchObject({ ref: 'refs/merge-requests/1/head', source: 'merge_request_event', sha });
  const pushed = await commitTo(ashlar, id, 'topic', { 'stones/a.txt': 'a\n' });
  const [second] = await expectPipelines(path, iid, 2);
  expect(second?.sha).toBe(pushed);
  expect(await jobsOf(id, first?.id ?? 0)).toEqual(['build']);
  expect(await jobsOf(id, second?.id ?? 0)).toEqual(['build', 'stones']);
  bodyOf(await ashlar.root(`PUT ${path}/${iid}`, { body: { state_event: 'close' } }), 200);
  bodyOf(await ashlar.root(`PUT ${path}/${iid}`, { body: { state_event: 'reopen' } }), 200);
  await expectPipelines(path, iid, 3);
  bodyOf(await ashlar.root(`PUT ${path}/${iid}`, { body: { target_branch: 'next' } }), 200);
  await expectPipelines(path, iid, 4);
  // Nothing that a pipeline would run differently.
  bodyOf(await ashlar.root(`PUT ${path}/${iid}`, { body: { title: 'Topic' } }), 200);
  await expectPipelines(path, iid, 4);
});

test('its jobs know the merge request, and the record knows how its newest commit fares', async () => {
  const { id, path } = await makeBuilt();
  const { iid } = await makeMergeRequest(ashlar, id, 'topic', { labels: 'lime,ash', assignee_id: 1 });
  const [pipeline] = await expectPipelines(path, iid, 1);
  const runner = await makeRunner(id);
  const job = await runner.take();
  const values = Object.fromEntries(job.variables.map(({ key, value }) => [key, value]));
  expect(values).toMatchObject({
    CI_MERGE_REQUEST_IID: String(iid),
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'topic',
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: 'true',
    CI_MERGE_REQUEST_LABELS: 'ash,lime',
    CI_MERGE_REQUEST_ASSIGNEES: 'root',
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    CI_COMMIT_REF_NAME: 'topic',
    CI_COMMIT_REF_PROTECTED: 'false',
    CI_PIPELINE_SOURCE: 'merge_request_event',
    CI_OPEN_MERGE_REQUESTS: expect.stringMatching(/!1$/),
  });
  expect(values).not.toHaveProperty('CI_COMMIT_BRANCH');
  expect(job.git_info.refspecs).toEqual([`+${job.git_info.sha}:refs/pipelines/${pipeline?.id}`]);
  const shown = () => ashlar.root(`GET ${path}/${iid}`).then((called) => bodyOf(called, 200));
  expect((await shown()).head_pipeline).toMatchObject({ id: pipeline?.id, status: 'running' });
  bodyOf(await runner.update(job, { state: 'success' }), 200);
  const { head_pipeline, pipeline: basic, latest_build_finished_at } = await shown();
  expect([head_pipeline.status, basic.status, basic.id]).toEqual(['success', 'success', pipeline?.id]);
  expect(basic).not.toHaveProperty('detailed_status');
  expect(latest_build_finished_at).toBe(head_pipeline.finished_at);
});

test('its children know the merge request, which fares by it alone', async () => {
  const rules = 'rules: [{if: $CI_MERGE_REQUEST_IID, changes: [topic.txt]}]';
  const { id, path } = await makeBuilt(
    {},
    `go: {trigger: {include: child.yml, strategy: depend}, ${rules}}\n`,
  );
  await commitTo(ashlar, id, 'main', { 'child.yml': `inner: {script: make, ${rules}}\n` });
  const { iid, sha } = await makeMergeRequest(ashlar, id, 'topic');
  const [pipeline] = await expectPipelines(path, iid, 1);
  await until(async () => {
    const [bridge] = bodyOf(await ashlar.root(`GET /projects/${id}/pipelines/${pipeline?.id}/bridges`), 200);
    return bridge.status !== 'pending';
  }, 'the child was not started');
  const runner = await makeRunner(id);
  const job = await runner.take();
  const values = Object.fromEntries(job.variables.map(({ key, value }) => [key, value]));
  expect(values).toMatchObject({
    CI_PIPELINE_SOURCE: 'parent_pipeline',
    CI_MERGE_REQUEST_IID: String(iid),
    CI_COMMIT_REF_NAME: 'topic',
  });
  expect(job.git_info).toMatchObject({ sha, ref: `refs/merge-requests/${iid}/head` });
  expect(job.git_info.refspecs).toHaveLength(1);
  expect(await pipelinesOf(path, iid)).toMatchObject([{ id: pipeline?.id }]);
  const { head_pipeline } = bodyOf(await ashlar.root(`GET ${path}/${iid}`), 200);
  expect(head_pipeline.id).toBe(pipeline?.id);
});

test('an automatic merge waits for the pipeline, whoever reports of it', async () => {
  const { id, path } = await makeBuilt({ only_allow_merge_if_pipeline_succeeds: true });
  const { iid } = await makeMergeRequest(ashlar, id, 'topic');
  await expectPipelines(path, iid, 1);
  const runner = await makeRunner(id);
  const job = await runner.take();
  const merge = (body: object = {}) => ashlar.root(`PUT ${path}/${iid}/merge`, { body });
  expect((await merge()).status).toBe(405);
  const status = async () => bodyOf(await ashlar.root(`GET ${path}/${iid}`), 200).detailed_merge_status;
  expect(await status()).toBe('ci_still_running');
  expect(bodyOf(await merge({ auto_merge: true }), 200).state).toBe('opened');
  bodyOf(await runner.update(job, { state: 'failed', failure_reason: 'script_failure' }), 200);
  expect(await status()).toBe('ci_must_pass');
  await waitForFollowing(ashlar);
  const todos = bodyOf(await ashlar.root('GET /todos?action=build_failed'), 200);
  expect(todos.some(({ target }: { target: { project_id: number } }) => target.project_id === id)).toBe(true);
  const pipeline = (await pipelinesOf(path, iid))[0]?.id;
  bodyOf(await ashlar.root(`POST /projects/${id}/pipelines/${pipeline}/retry`), 201);
  bodyOf(await runner.update(await runner.take(), { state: 'success' }), 200);
  await until(
    async () => bodyOf(await ashlar.root(`GET ${path}/${iid}`), 200).state === 'merged',
    'the merge that waited',
  );
});

test('without a pipeline, one that must succeed is missed', async () => {
  const { id, path } = await makeBuilt(
    { only_allow_merge_if_pipeline_succeeds: true },
    'x: { script: x, only: [tags] }',
  );
  const { iid } = await makeMergeRequest(ashlar, id, 'topic');
  await waitForFollowing(ashlar);
  expect(await pipelinesOf(path, iid)).toEqual([]);
  const shown = bodyOf(await ashlar.root(`GET ${path}/${iid}`), 200);
  expect([shown.detailed_merge_status, shown.head_pipeline]).toEqual(['ci_must_pass', null]);
  expect((await ashlar.root(`PUT ${path}/${iid}/merge`, { body: {} })).status).toBe(405);
});

test('the pipeline of its branch counts too, and gives way to its own', async () => {
  const { id, path } = await makeBuilt({}, `${FILE}\nbranch: { script: x, only: [branches] }\n`);
  const { iid } = await makeMergeRequest(ashlar, id, 'topic');
  const [own, ofBranch] = await expectPipelines(path, iid, 2);
  expect([own?.source, ofBranch?.source]).toEqual(['merge_request_event', 'push']);
  expect(bodyOf(await ashlar.root(`GET ${path}/${iid}`), 200).head_pipeline.id).toBe(own?.id);
  // The workflow that files of the public program have: one or the other.
  const either = `
workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS
      when: never
    - if: $CI_COMMIT_BRANCH
build: { script: make }
`;
  const sha = await commitTo(ashlar, id, 'topic', { '.gitlab-ci.yml': either });
  await until(async () => (await pipelinesOf(path, iid))[0]?.sha === sha, 'its pipeline');
  await waitForFollowing(ashlar);
  const of = bodyOf(await ashlar.root(`GET /projects/${id}/pipelines?sha=${sha}`), 200);
  expect(of.map(({ source }: Shown) => source)).toEqual(['merge_request_event']);
});

test('who may run pipelines asks for one; nothing runs of what is closed or has no file', async () => {
  const { id, path } = await makeBuilt();
  const { developer, reporter } = await makeMembers(ashlar, `projects/${id}`, 'developer', 'reporter');
  const { iid } = await makeMergeRequest(ashlar, id, 'topic');
  await expectPipelines(path, iid, 1);
  const ask = (user: MadeUser, at: number | string = iid, body: object = {}) =>
    ashlar.as(user.token)(`POST ${path}/${at}/pipelines`, { body });
  expect(bodyOf(await ask(developer), 200)).toMatchObject({
    source: 'merge_request_event',
    user: { id: developer.id },
  });
  expect(await ask(reporter)).toMatchObject({ status: 405, body: { message: '405 Method Not Allowed' } });
  expect((await ask(developer, 99)).status).toBe(404);
  const later = await ask(developer, iid, { async: true });
  expect([later.status, later.body]).toEqual([202, null]);
  await expectPipelines(path, iid, 3);
  bodyOf(await ashlar.root(`PUT ${path}/${iid}`, { body: { state_event: 'close' } }), 200);
  expect((await ask(developer)).status).toBe(405);
  const bare = await makeReviewedProject(ashlar);
  const other = await makeMergeRequest(ashlar, bare.id, 'topic');
  expect(await ashlar.root(`POST /projects/${bare.id}/merge_requests/${other.iid}/pipelines`)).toMatchObject({
    status: 400,
    body: { message: { base: ['Missing CI config file'] } },
  });
});

test('both branches protected make a protected pipeline, and only for who may write to both', async () => {
  const { id, path } = await makeBuilt();
  const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
  const { iid } = await makeMergeRequest(ashlar, id, 'topic');
  await expectPipelines(path, iid, 1);
  bodyOf(
    await ashlar.root(`POST /projects/${id}/variables`, {
      body: { key: 'HELD', value: 'held', protected: true },
    }),
    201,
  );
  const runner = await makeRunner(id);
  const held = async () => (await runner.take()).variables.some(({ key }) => key === 'HELD');
  const ask = async (token?: string) =>
    bodyOf(await (token ? ashlar.as(token) : ashlar.root)(`POST ${path}/${iid}/pipelines`), 200);
  expect(await held()).toBe(false);
  bodyOf(
    await ashlar.root(`POST /projects/${id}/protected_branches`, {
      body: { name: 'topic', push_access_level: 30, merge_access_level: 30 },
    }),
    201,
  );
  await ask();
  expect(await held()).toBe(true);
  // Who may write to the source alone.
  await ask(developer.token);
  expect(await held()).toBe(false);
});

test('a fork’s pipeline runs in the fork; a member of the target runs it there, without what is protected', async () => {
  const { id, path } = await makeBuilt({ visibility: 'public' });
  const author = await makeUser(ashlar);
  const fork = bodyOf(await ashlar.as(author.token)(`POST /projects/${id}/fork`), 201);
  await until(
    async () => bodyOf(await ashlar.root(`GET /projects/${fork.id}`), 200).import_status === 'finished',
    'the fork',
  );
  await commitTo(ashlar, fork.id, 'main', { 'stones/f.txt': 'f\n' });
  const body = { title: 'Stones', source_branch: 'main', target_branch: 'main', target_project_id: id };
  const { iid } = bodyOf(
    await ashlar.as(author.token)(`POST /projects/${fork.id}/merge_requests`, { body }),
    201,
  );
  const [first] = await expectPipelines(path, iid, 1);
  expect(first?.project_id).toBe(fork.id);
  expect(bodyOf(await ashlar.as(author.token)(`GET ${path}/${iid}`), 200).head_pipeline.id).toBe(first?.id);
  const { status } = await ashlar.as(author.token)(`POST ${path}/${iid}/pipelines`);
  expect(status).toBe(200);
  expect(bodyOf(await ashlar.root(`POST ${path}/${iid}/pipelines`), 200).project_id).toBe(id);
  // Where the fork is hidden, so are its pipelines; those of the target's are not.
  bodyOf(await ashlar.root(`PUT /projects/${fork.id}`, { body: { visibility: 'private' } }), 200);
  const stranger = await makeUser(ashlar);
  const seen = await pipelinesOf(path, iid, stranger.token);
  expect(seen.map(({ project_id }) => project_id)).toEqual([id]);
  bodyOf(
    await ashlar.root(`PUT /projects/${id}`, {
      body: { ci_allow_fork_pipelines_to_run_in_parent_project: false },
    }),
    200,
  );
  expect(bodyOf(await ashlar.root(`POST ${path}/${iid}/pipelines`), 200).project_id).toBe(fork.id);
});

test('a rebase may skip the pipeline of its branch', async () => {
  const { id, path } = await makeBuilt({}, 'build: { script: make, only: [branches] }');
  const { iid } = await makeMergeRequest(ashlar, id, 'topic');
  await expectPipelines(path, iid, 1);
  await commitTo(ashlar, id, 'main', { 'b.txt': 'b\n' });
  bodyOf(await ashlar.root(`PUT ${path}/${iid}/rebase`, { body: { skip_ci: true } }), 202);
  // That of the commit which is none of its own any more is not shown.
  await until(
    async () => (await pipelinesOf(path, iid))[0]?.status === 'skipped',
    'the pipeline of the branch',
  );
  expect(await pipelinesOf(path, iid)).toHaveLength(1);
});
