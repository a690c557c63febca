/** Pipelines that jobs of others start: children, those of other projects, and what an attacker would try. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { makeRunner, type Runner, startPipeline, type TakenJob } from '../../../../test/support/runner.ts';
import { until } from '../../../../test/support/waiting.ts';
import { zipOf } from '../../../../test/support/zip.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { failStuck } from '../execution/sweep-actions.ts';
import { followPipeline, recoverBridges } from './follow-actions.ts';
import { selectTurn } from './queries.ts';
import { startBridge } from './start-bridge.ts';

const app: TestApp = useApp();
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let runner: Runner;

type Shown = { id: number; status: string; failure_reason?: string; downstream_pipeline: Pipeline | null };
type Pipeline = { id: number; iid: number; project_id: number; status: string; source: string; ref: string };

beforeEach(async () => {
  project = await makeProject(app);
  ({ maintainer, developer } = await makeMembers(app, `projects/${project.id}`, 'maintainer', 'developer'));
  await commit(project, { 'README.md': 'Granite', 'child.yml': CHILD });
  await app.root(`DELETE /projects/${project.id}/protected_branches/main`);
  runner = await makeRunner(app, project);
});

async function commit(of: MadeProject, files: Record<string, string>, branch = 'main'): Promise<void> {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  const body = { branch, commit_message: 'Add [skip ci]', actions };
  bodyOf(await app.root(`POST /projects/${of.id}/repository/commits`, { body }), 201);
}
const start = (file: string, user = maintainer, of = project) => startPipeline(app, of, user, file);
const home = (of = project) => `/projects/${of.id}`;
const pipelineOf = async (id: number, of = project) =>
  bodyOf(await app.root(`GET ${home(of)}/pipelines/${id}`), 200);
const statusOf = async (id: number, of = project): Promise<string> => (await pipelineOf(id, of)).status;
const bridgesOf = async (id: number, of = project, as = app.root): Promise<Shown[]> =>
  bodyOf(await as(`GET ${home(of)}/pipelines/${id}/bridges`), 200);
const variableOf = ({ variables }: TakenJob, key: string): string | undefined =>
  variables.findLast((variable) => variable.key === key)?.value;
const finish = (job: TakenJob, state = 'success') => runner.update(job, { state });

/** The newest bridge of the pipeline, once it has this status. */
async function bridge(id: number, status: string, of = project): Promise<Shown> {
  let [shown] = await bridgesOf(id, of);
  await until(
    async () => {
      [shown] = await bridgesOf(id, of);
      return shown?.status === status;
    },
    `the bridge is not ${status}: ${JSON.stringify(shown)}`,
  );
  return shown as Shown;
}
/** The pipeline that the bridge of this one started, once it has. */
async function downstreamOf(id: number, of = project): Promise<Pipeline> {
  let found: Pipeline | null | undefined;
  await until(async () => {
    found = (await bridgesOf(id, of))[0]?.downstream_pipeline;
    return !!found;
  }, 'no pipeline was started');
  return found as Pipeline;
}
const settled = (id: number, status: string, of = project): Promise<void> =>
  until(async () => (await statusOf(id, of)) === status, `the pipeline is not ${status}`);

const child = (more = '') => `go: {trigger: {include: child.yml${more}}}\n`;
const CHILD = 'inner: {script: make}\n';

describe('a child', () => {
  test('is of the commit of its parent, which it holds up where it is depended on', async () => {
    const id = await start(`${child(', strategy: depend')}after: {stage: deploy, script: make}\n`);
    const started = await downstreamOf(id);
    const parent = await pipelineOf(id);
    expect(started).toMatchObject({
      project_id: project.id,
      source: 'parent_pipeline',
      ref: 'main',
    });
    expect(started.iid).toBeGreaterThan(parent.iid);
    expect(await pipelineOf(started.id)).toMatchObject({ sha: parent.sha, user: { id: maintainer.id } });
    expect(await bridge(id, 'running')).toMatchObject({
      runner: null,
      finished_at: null,
      stage: 'test',
      user: { id: maintainer.id },
    });
    const job = await runner.take();
    expect(job.job_info).toMatchObject({ pipeline_id: started.id, name: 'inner' });
    expect([
      variableOf(job, 'CI_PIPELINE_SOURCE'),
      variableOf(job, 'CI_UPSTREAM_PIPELINE_ID'),
      variableOf(job, 'CI_COMMIT_BRANCH'),
    ]).toEqual(['parent_pipeline', String(id), 'main']);
    expect((await runner.request()).status).toBe(204);
    await finish(job);
    await bridge(id, 'success');
    const after = await runner.take();
    expect(after.job_info).toMatchObject({ pipeline_id: id, name: 'after' });
    await finish(after);
    await settled(id, 'success');
    // What is of the parent alone.
    const listed = async (query = '') =>
      (await app.root(`GET ${home()}/pipelines${query}`)).body.map((each: Pipeline) => each.id);
    expect(await listed('?status=success')).toEqual([id]);
    expect(await listed('?source=parent_pipeline')).toEqual([started.id]);
    // The push of the file was told after the parent was made, or before it.
    await until(async () => (await listed('?status=skipped')).length === 1, 'the push was not followed');
    const own: number[] = await listed();
    expect(own).not.toContain(started.id);
    expect((await app.root(`GET ${home()}/pipelines/latest`)).body.id).toBe(Math.max(...own));
    const jobs = (await app.root(`GET ${home()}/pipelines/${id}/jobs`)).body;
    expect(jobs.map(({ name }: { name: string }) => name)).toEqual(['after']);
  });

  test('holds up nothing otherwise', async () => {
    const id = await start(child());
    expect(await bridge(id, 'success')).toMatchObject({ downstream_pipeline: { status: 'pending' } });
    await settled(id, 'success');
  });

  test('that fails is a failure of who depends on it, and its retry begins that anew', async () => {
    const id = await start(`${child(', strategy: depend')}after: {stage: deploy, script: make}\n`);
    const { id: started } = await downstreamOf(id);
    await finish(await runner.take(), 'failed');
    expect(await bridge(id, 'failed')).toMatchObject({ failure_reason: 'unknown_failure' });
    await settled(id, 'failed');
    bodyOf(await app.as(developer.token)(`POST ${home()}/pipelines/${started}/retry`), 201);
    await bridge(id, 'running');
    expect(await statusOf(id)).toBe('running');
    await finish(await runner.take());
    await bridge(id, 'success');
    await finish(await runner.take());
    await settled(id, 'success');
  });

  test('that began anew and has ended before its parent is told lets that go on', async () => {
    const id = await start(`${child(', strategy: depend')}after: {stage: deploy, script: make}\n`);
    const { id: started } = await downstreamOf(id);
    await finish(await runner.take(), 'failed');
    const { id: failed } = await bridge(id, 'failed');
    await settled(id, 'failed');
    const { db, sql } = app.app.services.database;
    await sql`update pipelines set status = 'success' where id = ${started}`;
    await followPipeline(db, failed, true);
    await bridge(id, 'success');
    expect((await runner.take()).job_info).toMatchObject({ name: 'after' });
  });

  test('has what its parent, the bridge and the file say, and no more', async () => {
    await app.root(`POST ${home()}/variables`, { body: { key: 'STONE', value: 'granite' } });
    const file = `variables: {WALL: thick, FLOOR: "$STONE"}
go:
  variables: {PARENT: $CI_PIPELINE_ID, WALL: "$WALL", ROOF: {value: "$STONE", expand: false}}
  trigger: {include: child.yml, forward: {pipeline_variables: FORWARDS}}
`;
    const given = async (forwards: boolean): Promise<Record<string, string>> => {
      await startPipeline(app, project, maintainer, file.replace('FORWARDS', String(forwards)));
      const body = { ref: 'main', variables: [{ key: 'COLOUR', value: 'ochre' }] };
      const { id } = bodyOf(await app.as(maintainer.token)(`POST ${home()}/pipeline`, { body }), 201);
      const { id: started } = await downstreamOf(id);
      const { body: said } = await app.root(`GET ${home()}/pipelines/${started}/variables`);
      return Object.fromEntries(
        said.map(({ key, value }: { key: string; value: string }) => [
          key,
          value === String(id) ? 'parent' : value,
        ]),
      );
    };
    const ofFile = { FLOOR: 'granite', PARENT: 'parent', ROOF: '$STONE', WALL: '$WALL' };
    expect(await given(false)).toEqual(ofFile);
    expect(await given(true)).toEqual({ ...ofFile, COLOUR: 'ochre' });
  });

  test('gets artifacts of its parent, and of nobody else', async () => {
    const foreign = `inner:
  script: make
  needs: [{pipeline: $PARENT, job: build}]
`;
    await commit(project, { 'needs.yml': foreign });
    const file = (parent: string) => `build: {stage: build, script: make, artifacts: {paths: [out]}}
go: {variables: {PARENT: "${parent}"}, trigger: {include: needs.yml, strategy: depend}}
`;
    const id = await start(file('$CI_PIPELINE_ID'));
    const build = await runner.take();
    await runner.upload(build, zipOf({ name: 'out/a.txt', content: 'granite' }));
    await finish(build);
    await downstreamOf(id);
    const inner = await runner.take();
    expect(inner.dependencies).toMatchObject([{ id: build.id, name: 'build' }]);
    expect((await runner.download(inner, build.id)).status).toBe(200);
    await finish(inner);
    await settled(id, 'success');
    // Another pipeline of the project is not its parent.
    const other = await start(file(String(id)));
    await finish(await runner.take());
    const { id: started } = await downstreamOf(other);
    expect((await runner.request()).status).toBe(204);
    const [job] = (await app.root(`GET ${home()}/pipelines/${started}/jobs`)).body;
    expect(job).toMatchObject({ status: 'failed', failure_reason: 'missing_dependency_failure' });
  });

  test('has artifacts that are found by the ref, after its parent’s', async () => {
    await commit(project, { 'made.yml': 'inner: {script: make, artifacts: {paths: [out]}}\n' });
    const id = await start('go: {trigger: {include: made.yml, strategy: depend}}\n');
    await downstreamOf(id);
    const inner = await runner.take();
    await runner.upload(inner, zipOf({ name: 'out/a.txt', content: 'granite' }));
    await finish(inner);
    await settled(id, 'success');
    const found = await app.root(`GET ${home()}/jobs/artifacts/main/raw/out/a.txt?job=inner`);
    expect([found.status, found.text]).toEqual([200, 'granite']);
  });

  test('is made of a file that an earlier job wrote', async () => {
    const id = await start(`write: {stage: build, script: make, artifacts: {paths: [made.yml]}}
go: {trigger: {include: [{artifact: made.yml, job: write}], strategy: depend}}
`);
    const job = await runner.take();
    await runner.upload(job, zipOf({ name: 'made.yml', content: 'made: {script: make}' }));
    await finish(job);
    await downstreamOf(id);
    const made = await runner.take();
    expect(made.job_info).toMatchObject({ name: 'made' });
  });

  test('is not made of a file that cannot be read', async () => {
    const id = await start(`write: {stage: build, script: make, artifacts: {paths: [made.yml]}}
go: {trigger: {include: [{artifact: made.yml, job: write}], strategy: depend}}
`);
    const job = await runner.take();
    const content = randomBytes(200_000).toString('base64');
    await runner.upload(job, zipOf({ name: 'made.yml', content, claims: { size: 100_000 } }));
    await finish(job);
    const failed = await bridge(id, 'failed');
    expect(failed).toMatchObject({ failure_reason: 'downstream_pipeline_creation_failed' });
    await settled(id, 'failed');
  });

  test('whose file is wrong is kept with the mistake, and the bridge fails', async () => {
    const id = await start('go: {trigger: {include: missing.yml}}\n');
    const { failure_reason, downstream_pipeline: kept } = await bridge(id, 'failed');
    expect(failure_reason).toBe('downstream_pipeline_creation_failed');
    expect(await pipelineOf(kept?.id ?? 0)).toMatchObject({
      status: 'failed',
      yaml_errors: 'Local file `missing.yml` does not exist!',
    });
    await settled(id, 'failed');
  });

  test('is canceled with its parent, but not its parent with it', async () => {
    await commit(project, { 'middle.yml': child(', strategy: depend') });
    const id = await start('go: {trigger: {include: middle.yml}}\nlong: {script: make}\n');
    const middle = await downstreamOf(id);
    const inner = await downstreamOf(middle.id);
    bodyOf(await app.as(developer.token)(`POST ${home()}/pipelines/${id}/cancel`), 200);
    await settled(inner.id, 'canceled');
    await settled(middle.id, 'canceled');
    const next = await start(child());
    const { id: last } = await downstreamOf(next);
    bodyOf(await app.as(developer.token)(`POST ${home()}/pipelines/${last}/cancel`), 200);
    expect(await statusOf(next)).toBe('success');
  });

  test('goes with its parent when that is deleted, and is canceled by what is newer', async () => {
    const id = await start(child());
    const { id: started } = await downstreamOf(id);
    await commit(project, { 'next.txt': 'x' });
    bodyOf(await app.as(maintainer.token)(`POST ${home()}/pipeline`, { body: { ref: 'main' } }), 201);
    await settled(started, 'canceled');
    expect((await app.root(`DELETE ${home()}/pipelines/${id}`)).status).toBe(204);
    expect((await app.root(`GET ${home()}/pipelines/${started}`)).status).toBe(404);
  });

  test('has children, which have none', async () => {
    await commit(project, { 'deep.yml': 'go: {trigger: {include: deep.yml}}\n' });
    const id = await start('go: {trigger: {include: deep.yml}}\n');
    const first = await downstreamOf(id);
    const second = await downstreamOf(first.id);
    const refused = await bridge(second.id, 'failed');
    expect(refused.failure_reason).toBe('reached_max_descendant_pipelines_depth');
    const retried = await app.as(developer.token)(`POST ${home()}/jobs/${refused.id}/retry`);
    expect(retried.status).toBe(403);
  });
});

describe('a bridge', () => {
  test('starts one pipeline, however often it is tried at once', async () => {
    const id = await start(`go: {trigger: {include: child.yml}, when: manual}\n`);
    const [{ id: manual } = { id: 0 }] = await bridgesOf(id);
    await app.app.services.database.sql`update ci_jobs set status = 'pending' where id = ${manual}`;
    const { services } = app.app;
    await Promise.all(Array.from({ length: 4 }, () => startBridge(services, manual)));
    await startBridge(services, manual);
    const { body } = await app.root(`GET ${home()}/pipelines?source=parent_pipeline`);
    expect(body.length).toBe(1);
    expect(await bridge(id, 'success')).toMatchObject({ downstream_pipeline: { id: body[0].id } });
  });

  test('starts none where what its pipeline led to is full, however many start at once', async () => {
    const names = ['one', 'two', 'three', 'four', 'five'];
    const id = await start(
      names.map((name) => `${name}: {trigger: {include: child.yml}, when: manual}\n`).join(''),
    );
    const { sql } = app.app.services.database;
    // There is room for two more.
    await sql`
      insert into pipelines (project_id, iid, sha, before_sha, ref, tag, source, status, protected, created_at, updated_at,
          source_pipeline_id)
        select project_id, 1000 + n, sha, before_sha, ref, tag, source, 'success', false, created_at, updated_at, id
        from pipelines, generate_series(1, 997) n where id = ${id}`;
    await sql`update ci_jobs set status = 'pending' where pipeline_id = ${id} and kind = 'bridge'`;
    await Promise.all((await bridgesOf(id)).map((each) => startBridge(app.app.services, each.id)));
    const shown = (await bridgesOf(id)).map(({ status, failure_reason }) => failure_reason ?? status);
    expect(shown.toSorted()).toEqual([
      ...Array(3).fill('reached_max_pipeline_hierarchy_size'),
      ...Array(2).fill('success'),
    ]);
    const made =
      await sql`select from pipelines where source_pipeline_id = ${id} and source_job_id is not null`;
    expect(made.length).toBe(2);
  });

  test('that was made but not told so goes on', async () => {
    const id = await start(child());
    const { id: first, downstream_pipeline: made } = await bridge(id, 'success');
    await app.app.services.database.sql`
      update ci_jobs set status = 'pending', started_at = null, finished_at = null where id = ${first}`;
    await startBridge(app.app.services, first);
    expect(await bridge(id, 'success')).toMatchObject({ id: first, downstream_pipeline: { id: made?.id } });
  });

  test('that cannot be started fails at once, and holds up no other', async () => {
    const names = ['one', 'two', 'three'];
    const id = await start(
      names.map((name) => `${name}: {trigger: {include: child.yml}, when: manual}\n`).join(''),
    );
    const [third, second, first] = await bridgesOf(id);
    const { sql } = app.app.services.database;
    await sql`update ci_jobs set options = options - 'variables' where id = ${first?.id ?? 0}`;
    for (const each of [first, second, third])
      bodyOf(await app.as(developer.token)(`POST ${home()}/jobs/${each?.id}/play`), 200);
    await until(
      async () => (await bridgesOf(id)).every(({ status }) => status === 'success' || status === 'failed'),
      'some wait',
    );
    const shown = (await bridgesOf(id)).map(({ status, failure_reason }) => [status, failure_reason]);
    expect(shown).toEqual([
      ['success', undefined],
      ['success', undefined],
      ['failed', 'downstream_pipeline_creation_failed'],
    ]);
  });

  test('has its turn after those of its project that wait, and after no others', async () => {
    const { db } = app.app.services.database;
    const turns = inTransaction(db, async (tx) => {
      const waiting = ['1 7', '1 8', '11 9'].map((key) => ({
        task: 'none',
        payload: {},
        key: `bridge ${key}`,
      }));
      await addJobs(tx, waiting);
      const found = await Promise.all([1, 11, 2].map((projectId) => selectTurn(tx, projectId)));
      // Nothing of it stays.
      throw new Failure(
        'conflict',
        found.map(({ turn }) => String(turn)),
      );
    });
    await expect(turns).rejects.toMatchObject({ publicMessage: ['2', '1', '0'] });
  });

  test('that cannot start anything for a day fails', async () => {
    const id = await start(`go: {trigger: {include: child.yml}, when: manual}\n`);
    const { database } = app.app.services;
    await database.sql`
      update ci_jobs set status = 'pending', queued_at = now() - interval '25 hours' where pipeline_id = ${id}`;
    await failStuck(database.background);
    expect(await bridge(id, 'failed')).toMatchObject({ failure_reason: 'stuck_or_timeout_failure' });
  });

  test('whose pipeline is gone, or has ended without a word, does not go on for ever', async () => {
    await commit(project, { 'manual.yml': 'inner: {script: make, when: manual, allow_failure: false}\n' });
    const names = ['gone', 'ended', 'other', 'mirror', 'waiting'];
    const file = (name: string) =>
      ({
        mirror: 'mirror: {trigger: {include: manual.yml, strategy: mirror}}\n',
        waiting: 'waiting: {trigger: {include: child.yml}, when: manual}\n',
      })[name] ?? `${name}: {trigger: {include: child.yml, strategy: depend}}\n`;
    const id = await start(names.map(file).join(''));
    const statusesOf = async () =>
      (await bridgesOf(id)).toReversed().map(({ status, failure_reason }) => failure_reason ?? status);
    await until(
      async () => `${await statusesOf()}` === 'running,running,running,manual,manual',
      'the bridges have not begun',
    );
    const [gone, ended, , mirror] = (await bridgesOf(id))
      .toReversed()
      .map(({ downstream_pipeline }) => downstream_pipeline?.id ?? 0);
    const { background, sql } = app.app.services.database;
    expect((await app.root(`DELETE ${home()}/pipelines/${gone}`)).status).toBe(204);
    await sql`update pipelines set status = 'success' where id in (${ended ?? 0}, ${mirror ?? 0})`;
    await recoverBridges(background);
    expect(await statusesOf()).toEqual(['data_integrity_failure', 'success', 'running', 'success', 'manual']);
    await recoverBridges(background);
    expect(await statusesOf()).toEqual(['data_integrity_failure', 'success', 'running', 'success', 'manual']);
  });

  test('is played, and runs once more, with another pipeline', async () => {
    const id = await start(`go: {trigger: {include: child.yml}, when: manual}\n`);
    const [manual] = await bridgesOf(id);
    expect(manual).toMatchObject({ status: 'manual', downstream_pipeline: null });
    const played = await app.as(developer.token)(`POST ${home()}/jobs/${manual?.id}/play`);
    expect(bodyOf(played, 200)).toMatchObject({
      id: manual?.id,
      user: { id: developer.id },
      downstream_pipeline: null,
    });
    const first = await bridge(id, 'success');
    expect(await pipelineOf(first.downstream_pipeline?.id ?? 0)).toMatchObject({
      user: { id: developer.id },
    });
    const retried = bodyOf(await app.as(developer.token)(`POST ${home()}/jobs/${first.id}/retry`), 201);
    expect(retried.id).not.toBe(first.id);
    const second = await bridge(id, 'success');
    expect(second.downstream_pipeline?.id).not.toBe(first.downstream_pipeline?.id);
    expect((await app.root(`GET ${home()}/jobs/${first.id}`)).status).toBe(404);
  });

  test('runs again with its pipeline', async () => {
    const id = await start(child(', strategy: mirror'));
    await downstreamOf(id);
    await finish(await runner.take(), 'failed');
    const failed = await bridge(id, 'failed');
    bodyOf(await app.as(developer.token)(`POST ${home()}/pipelines/${id}/retry`), 201);
    const again = await bridge(id, 'running');
    expect(again.id).not.toBe(failed.id);
    await finish(await runner.take());
    await settled(id, 'success');
  });

  test('mirrors what waits for somebody', async () => {
    await commit(project, { 'manual.yml': 'inner: {script: make, when: manual, allow_failure: false}\n' });
    const id = await start('go: {trigger: {include: manual.yml, strategy: mirror}}\n');
    const { id: started } = await downstreamOf(id);
    await bridge(id, 'manual');
    const [job] = (await app.root(`GET ${home()}/pipelines/${started}/jobs`)).body;
    bodyOf(await app.as(developer.token)(`POST ${home()}/jobs/${job.id}/play`), 200);
    await bridge(id, 'running');
    await finish(await runner.take());
    await settled(id, 'success');
  });
});

describe('a pipeline of another project', () => {
  let other: MadeProject;
  const far = (more = '') => `go: {trigger: {project: ${other.path_with_namespace}${more}}}\n`;

  beforeEach(async () => {
    other = await makeProject(app, { visibility: 'private' });
    await commit(other, { '.gitlab-ci.yml': 'far: {script: make}\n' });
    await addMember(app, `projects/${other.id}`, maintainer, 30);
    await app.root(`DELETE ${home(other)}/protected_branches/main`);
  });

  test('is started with the rights of who runs the bridge, and followed', async () => {
    const farRunner = await makeRunner(app, other);
    const id = await start(far(', strategy: depend'));
    const started = await downstreamOf(id);
    expect(started).toMatchObject({ project_id: other.id, source: 'pipeline', ref: 'main' });
    const job = await farRunner.take();
    expect(variableOf(job, 'CI_UPSTREAM_PROJECT_ID')).toBe(String(project.id));
    await farRunner.update(job, { state: 'success' });
    await settled(id, 'success');
    // It is a pipeline of its project as any other; who does not see that is told nothing.
    expect(
      (await app.root(`GET ${home(other)}/pipelines?status=success`)).body.map((each: Pipeline) => each.id),
    ).toEqual([started.id]);
    const [shown] = await bridgesOf(id, project, app.as(developer.token));
    expect(shown).toMatchObject({ status: 'success', downstream_pipeline: null });
  });

  test('is found under its old path', async () => {
    await app.root(`PUT ${home(other)}`, { body: { path: 'moved' } });
    expect(await downstreamOf(await start(far()))).toMatchObject({ project_id: other.id });
    const hidden = await bridge(await start(far(), developer), 'failed');
    expect(hidden.failure_reason).toBe('downstream_bridge_project_not_found');
  });

  test('gets inputs, which its file knows', async () => {
    const content = 'spec: {inputs: {stone: {}}}\n---\nlay $[[ inputs.stone ]]: {script: make}\n';
    await app.root(`PUT ${home(other)}/repository/files/.gitlab-ci.yml`, {
      body: { branch: 'main', content, commit_message: 'Ask [skip ci]' },
    });
    const { downstream_pipeline: made } = await bridge(
      await start(far(', inputs: {stone: granite}')),
      'success',
    );
    const { body } = await app.root(`GET ${home(other)}/pipelines/${made?.id}/jobs`);
    expect(body).toMatchObject([{ name: 'lay granite' }]);
    const { failure_reason, downstream_pipeline: kept } = await bridge(await start(far()), 'failed');
    expect(failure_reason).toBe('downstream_pipeline_creation_failed');
    expect((await pipelineOf(kept?.id ?? 0, other)).yaml_errors).toMatch(/required value/);
  });

  test('keeps running when what started it is canceled', async () => {
    const id = await start(far(', strategy: depend'));
    const started = await downstreamOf(id);
    bodyOf(await app.as(maintainer.token)(`POST ${home()}/pipelines/${id}/cancel`), 200);
    await settled(id, 'canceled');
    expect(await statusOf(started.id, other)).toBe('pending');
  });

  test('is not to be told from none by who does not see it', async () => {
    const hidden = await bridge(await start(far(), developer), 'failed');
    const none = await bridge(await start('go: {trigger: {project: no/where}}\n', developer), 'failed');
    const byId = await bridge(await start(`go: {trigger: {project: "${other.id}"}}\n`), 'failed');
    const said = ({ failure_reason, downstream_pipeline }: Shown) => [failure_reason, downstream_pipeline];
    expect(said(byId)).toEqual(said(none));
    expect(said(hidden)).toEqual(['downstream_bridge_project_not_found', null]);
    expect(said(none)).toEqual(said(hidden));
  });

  test.each<[string, () => Promise<unknown>]>([
    ['who only sees it', () => app.root(`PUT ${home(other)}`, { body: { visibility: 'public' } })],
    ['a reporter', () => addMember(app, `projects/${other.id}`, developer, 20)],
    [
      'who may not push to the branch',
      async () => {
        await addMember(app, `projects/${other.id}`, developer, 30);
        await app.root(`POST ${home(other)}/protected_branches`, { body: { name: 'main' } });
      },
    ],
  ])('is not started by %s', async (_, prepare) => {
    await prepare();
    const refused = await bridge(await start(far(), developer), 'failed');
    expect(refused.failure_reason).toBe('insufficient_bridge_permissions');
    expect((await app.root(`GET ${home(other)}/pipelines?source=pipeline`)).body).toEqual([]);
  });

  test('gets variables from those alone who may set them', async () => {
    const role = (name: string) =>
      app.root(`PUT ${home(other)}`, { body: { ci_pipeline_variables_minimum_override_role: name } });
    await role('maintainer');
    const file = `go: {variables: {STONE: granite}, trigger: {project: ${other.path_with_namespace}}}\n`;
    const refused = await bridge(await start(file), 'failed');
    expect(refused).toMatchObject({
      failure_reason: 'downstream_pipeline_creation_failed',
      downstream_pipeline: null,
    });
    await bridge(await start(far()), 'success');
    await role('developer');
    const { downstream_pipeline: made } = await bridge(await start(file), 'success');
    const { body } = await app.root(`GET ${home(other)}/pipelines/${made?.id}/variables`);
    expect(body).toMatchObject([{ key: 'STONE', value: 'granite' }]);
  });

  test.each([
    ['of a branch that is not there', ', branch: none', 'downstream_pipeline_creation_failed'],
    ['of its own project without a file of its own', undefined, 'invalid_bridge_trigger'],
  ])('is not started %s', async (_, more, reason) => {
    const file = more ? far(more) : `go: {trigger: ${project.path_with_namespace}}\n`;
    expect((await bridge(await start(file), 'failed')).failure_reason).toBe(reason);
  });

  test('does not lead back for ever', async () => {
    const back = `go: {trigger: {project: ${project.path_with_namespace}}}\n`;
    await app.root(`PUT ${home(other)}/repository/files/.gitlab-ci.yml`, {
      body: { branch: 'main', content: back, commit_message: 'Back [skip ci]' },
    });
    const id = await start(far());
    const { sql } = app.app.services.database;
    let reasons: string[] = [];
    await until(async () => {
      const rows = await sql<{ failure_reason: string }[]>`
        select failure_reason from ci_jobs where kind = 'bridge' and status = 'failed'
          and project_id = any(${[project.id, other.id]}::bigint[])`;
      reasons = rows.map(({ failure_reason }) => failure_reason);
      return reasons.length > 0;
    }, 'it goes on');
    expect(reasons).toEqual(['pipeline_loop_detected']);
    expect(await statusOf(id)).toBe('success');
  });

  test('lends its status to a bridge that waits for it, to those who see it', async () => {
    const farRunner = await makeRunner(app, other);
    // That of the push, which is skipped, must not come later.
    await until(
      async () => (await app.root(`GET ${home(other)}/pipelines`)).body.length === 1,
      'no pipeline of the push',
    );
    const body = { ref: 'main' };
    const { id: upstream } = bodyOf(
      await app.as(maintainer.token)(`POST ${home(other)}/pipeline`, { body }),
      201,
    );
    const file = `go: {needs: {pipeline: ${other.path_with_namespace}}}\n`;
    const id = await start(file);
    await bridge(id, 'running');
    await farRunner.update(await farRunner.take(), { state: 'failed' });
    await settled(upstream, 'failed', other);
    const { id: ended } = await bridge(id, 'failed');
    await settled(id, 'failed');
    // What has been said stays said, whatever becomes of the other one.
    const { db, sql } = app.app.services.database;
    await sql`update pipelines set status = 'running' where id = ${upstream}`;
    await followPipeline(db, ended, true);
    expect([(await bridgesOf(id))[0]?.status, await statusOf(id)]).toEqual(['failed', 'failed']);
    expect(await bridge(await start(file, developer), 'failed')).toMatchObject({
      failure_reason: 'upstream_bridge_project_not_found',
    });
  });

  test('leaves artifacts for jobs that are let in, and where everybody sees them', async () => {
    const farRunner = await makeRunner(app, other);
    await startPipeline(app, other, maintainer, 'far: {script: make, artifacts: {paths: [out]}}\n');
    const made = await farRunner.take();
    await farRunner.upload(made, zipOf({ name: 'out/a.txt', content: 'granite' }));
    await farRunner.update(made, { state: 'success' });
    const file = `near: {script: make, needs: [{project: ${other.path_with_namespace}, job: far, ref: main, artifacts: true}]}\n`;
    const refused = await start(file);
    expect((await runner.request()).status).toBe(204);
    await settled(refused, 'failed');
    const list = `${home(other)}/job_token_scope/allowlist`;
    bodyOf(await app.root(`POST ${list}`, { body: { target_project_id: project.id } }), 201);
    await start(file);
    const letIn = await runner.take();
    expect((await runner.download(letIn, made.id)).status).toBe(200);
    expect((await app.root(`DELETE ${list}/${project.id}`)).status).toBe(204);
    expect((await runner.download(letIn, made.id)).status).toBe(404);
    await runner.update(letIn, { state: 'success' });
    await app.root(`PUT ${home(other)}`, { body: { visibility: 'public' } });
    await start(file);
    const near = await runner.take();
    expect(near.dependencies).toMatchObject([{ id: made.id, name: 'far' }]);
    expect((await runner.download(near, made.id)).status).toBe(200);
  });
});
