/** Mails about pipelines: to those who started them, as they want them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { waitForMail } from '../../../../test/support/mailbox.ts';
import { takeMails } from '../../../../test/support/mails.ts';
import { openRunner, type Runner } from '../../../../test/support/runner.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());
const app = useApp({ env: { SMTP_URL: smtp.url } });
let project: MadeProject;
let developer: MadeUser;
let watcher: MadeUser;
let runner: Runner;

beforeAll(async () => {
  project = await makeProject(app);
  ({ developer, maintainer: watcher } = await makeMembers(
    app,
    `projects/${project.id}`,
    'developer',
    'maintainer',
  ));
  const path = `/projects/${project.id}`;
  bodyOf(await app.as(watcher.token)(`PUT ${path}/notification_settings`, { body: { level: 'watch' } }), 200);
  const body = {
    branch: 'main',
    commit_message: 'Lay it [skip ci]',
    actions: [
      {
        action: 'create',
        file_path: '.gitlab-ci.yml',
        content: 'lay: {script: make}\nmay: {script: make, allow_failure: true}\n',
      },
    ],
  };
  bodyOf(await app.root(`POST ${path}/repository/commits`, { body }), 201);
  bodyOf(await app.root(`POST ${path}/repository/branches`, { body: { branch: 'topic', ref: 'main' } }), 201);
  const made = { runner_type: 'project_type', project_id: project.id };
  runner = openRunner(app, bodyOf(await app.root('POST /user/runners', { body: made }), 201).token);
  await waitForMail(app);
  takeMails(smtp);
});

/** Runs a pipeline of the branch, whose jobs come to this, and returns the mails about it. */
async function run(...states: ('success' | 'failed')[]) {
  const path = `/projects/${project.id}/pipeline`;
  const pipeline = bodyOf(await app.as(developer.token)(`POST ${path}`, { body: { ref: 'topic' } }), 201);
  for (const state of states) bodyOf(await runner.update(await runner.take(), { state }), 200);
  await waitForMail(app);
  return { pipeline, mails: takeMails(smtp) };
}
const choose = async (body: object) =>
  bodyOf(await app.as(developer.token)(`PUT /projects/${project.id}/notification_settings`, { body }), 200);

test('one that failed is told to who started it, with the jobs that let it fail', async () => {
  const { pipeline, mails } = await run('failed', 'failed');
  expect(mails.map(({ to }) => to)).toEqual([developer.email]);
  expect(mails[0]?.subject).toContain('Failed pipeline for topic');
  expect(mails[0]?.text).toContain(`${app.url}/${project.path_with_namespace}/-/pipelines/${pipeline.id}`);
  expect(mails[0]?.text).toContain('test: lay');
  expect(mails[0]?.text).not.toContain('test: may');
  expect(mails[0]?.text).toContain('Lay it');
});

test('the next that succeeds is fixed; after it they succeed, of which nobody hears unasked', async () => {
  const fixed = await run('success', 'failed');
  expect(fixed.mails.map(({ to }) => to)).toEqual([developer.email]);
  expect(fixed.mails[0]?.subject).toContain('Fixed pipeline for topic');
  expect((await run('success', 'success')).mails).toEqual([]);
  await choose({ level: 'custom', success_pipeline: true, failed_pipeline: false });
  expect((await run('success', 'success')).mails[0]?.subject).toContain('Successful pipeline for topic');
  expect((await run('failed', 'success')).mails).toEqual([]);
  await choose({ level: 'disabled' });
  expect((await run('failed', 'success')).mails).toEqual([]);
});

test('who may not read pipelines any more hears nothing', async () => {
  await choose({ level: 'watch' });
  expect((await run('failed', 'success')).mails).toHaveLength(1);
  const path = `/projects/${project.id}/pipeline`;
  bodyOf(await app.as(developer.token)(`POST ${path}`, { body: { ref: 'topic' } }), 201);
  bodyOf(await app.root(`DELETE /projects/${project.id}/members/${developer.id}`), 204);
  for (const state of ['failed', 'success']) bodyOf(await runner.update(await runner.take(), { state }), 200);
  await waitForMail(app);
  expect(takeMails(smtp)).toEqual([]);
});
