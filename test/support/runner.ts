/** A small client of the runner protocol: it asks for jobs and reports of them as the public program does. */
import type { Called, TestApp } from './app.ts';

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
};

/** A runner with this token, by a process of this name. */
export function openRunner(app: TestApp, token: string, system = 's_test'): Runner {
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
  };
}
