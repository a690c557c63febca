/** A small client of the runner protocol: it asks for jobs and reports of them as the public program does. */
import type { Called, TestApp } from './app.ts';
import { bodyOf, type MadeProject, type MadeUser } from './factories.ts';

export type TakenJob = {
  id: number;
  token: string;
  variables: { key: string; value: string; masked: boolean }[];
  git_info: { repo_url: string; sha: string; refspecs: string[]; ref: string };
  steps: { name: string; script: string[] }[];
  [name: string]: unknown;
};

export type Runner = {
  request(info?: Record<string, unknown>): Promise<Called>;
  /** The job of an answer that has one. */
  take(info?: Record<string, unknown>): Promise<TakenJob>;
  update(job: TakenJob, body: Record<string, unknown>): Promise<Called>;
  trace(job: TakenJob, start: number, text: string): Promise<Called>;
  /** Sends a file of the job, with these parameters in the address. */
  upload(
    job: Pick<TakenJob, 'id' | 'token'>,
    content: Buffer,
    query?: Record<string, string>,
    filename?: string,
  ): Promise<Called>;
  /** The archive of an earlier job. */
  download(job: Pick<TakenJob, 'token'>, id: number): Promise<{ status: number; content: Buffer }>;
};

/** A runner with this token, by a process of this name. */
export function openRunner(app: Pick<TestApp, 'url' | 'call'>, token: string, system = 's_test'): Runner {
  const request = (info: Record<string, unknown> = {}) =>
    app.call('POST /jobs/request', { body: { token, system_id: system, info: { name: 'runner', ...info } } });
  return {
    request,
    async take(info) {
      const { status, body } = await request(info);
      if (status !== 201) throw new Error(`no job: ${status} ${JSON.stringify(body)}`);
      return body as TakenJob;
    },
    update: (job, body) => app.call(`PUT /jobs/${job.id}`, { body: { token: job.token, ...body } }),
    trace: (job, start, text) =>
      app.call(`PATCH /jobs/${job.id}/trace`, {
        headers: {
          'job-token': job.token,
          'content-type': 'text/plain',
          'content-range': `${start}-${start + Buffer.byteLength(text) - 1}`,
        },
        form: text,
      }),
    async upload({ id, token: own }, content, query = {}, filename = 'artifacts.zip') {
      const form = new FormData();
      form.set('file', new Blob([new Uint8Array(content)]), filename);
      const address = `${app.url}/api/v4/jobs/${id}/artifacts?${new URLSearchParams(query)}`;
      const sent = { method: 'POST', headers: { 'job-token': own }, body: form };
      const response = await fetch(address, sent);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    async download({ token: own }, id) {
      const address = `${app.url}/api/v4/jobs/${id}/artifacts`;
      const response = await fetch(address, { headers: { 'job-token': own } });
      return { status: response.status, content: Buffer.from(await response.arrayBuffer()) };
    },
  };
}

/** A new runner of the project. */
export async function makeRunner(app: TestApp, project: Pick<MadeProject, 'id'>): Promise<Runner> {
  const body = { runner_type: 'project_type', project_id: project.id };
  return openRunner(app, bodyOf(await app.root('POST /user/runners', { body }), 201).token);
}

/** Commits the file without a pipeline of the push, and starts one as the user; returns its id. */
export async function startPipeline(
  app: TestApp,
  project: Pick<MadeProject, 'id'>,
  user: Pick<MadeUser, 'token'>,
  file: string,
): Promise<number> {
  const path = `/projects/${project.id}`;
  const there = await app.root(`GET ${path}/repository/files/.gitlab-ci.yml?ref=main`);
  const body = {
    branch: 'main',
    commit_message: 'Change [skip ci]',
    actions: [
      { action: there.status === 200 ? 'update' : 'create', file_path: '.gitlab-ci.yml', content: file },
    ],
  };
  bodyOf(await app.root(`POST ${path}/repository/commits`, { body }), 201);
  return bodyOf(await app.as(user.token)(`POST ${path}/pipeline`, { body: { ref: 'main' } }), 201).id;
}
