/** What runners call to run jobs (facts for CI: Runner protocol), and the traces that come of it. */
import { anyone, onProject } from '../../../kernel/access/access.ts';
import { bytesOf, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import { monotonic } from '../../../platform/clock.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { wholeBody } from '../../../platform/http/bodies/body-stream.ts';
import type { PlannedJob } from '../file/plan.ts';
import { selectJob } from '../jobs/queries.ts';
import { OneJob } from '../jobs/schema.ts';
import type { JobRow } from '../processing/process-actions.ts';
import { authenticateRunner } from '../runners/authenticate.ts';
import { coverageIn, MAX_LOOKED_AT } from '../traces/coverage.ts';
import { appendTrace, MAX_TRACE_BYTES } from '../traces/live-traces.ts';
import { readTrace, readTraceEnd, type TraceServices } from '../traces/traces.ts';
import { finishJob, markDebugTrace } from './finish-actions.ts';
import { giveJob } from './give-job.ts';
import type { JobQueue } from './job-queue.ts';
import { jobOf, preparedJobOf } from './own-job.ts';
import { failureReason, rangeStart } from './rules.ts';
import { JobPayload, RequestInput, TraceInput, UpdateInput, Words } from './schema.ts';

/** A part that took longer is of a job that runs still: less than until traces are archived. */
const SLOW_PART_MS = 20_000;
/** Bytes of one part of a trace. */
const MAX_PART_BYTES = 1_048_576;
/** Seconds between two parts. */
const UPDATE_INTERVAL = '3';

/** What the trace says of the coverage, where the file says how. */
async function readCoverage(services: TraceServices, { id, options }: JobRow): Promise<number | undefined> {
  // The column holds what the compiler planned.
  const { coverage } = options as unknown as Partial<PlannedJob>;
  if (!coverage) return undefined;
  const { text } = await readTraceEnd(services, id, MAX_LOOKED_AT);
  return coverageIn(text, coverage);
}

/** No job. */
const nothing = (headers?: Record<string, string>) =>
  new Reply<Record<string, unknown>>(204, undefined, headers);

const told = (status: string): Record<string, string> => ({
  'job-status': status,
  'x-gitlab-trace-update-interval': UPDATE_INTERVAL,
});

export const executionEndpoints = (queue: JobQueue): Endpoint[] => [
  endpoint({
    method: 'POST',
    path: '/jobs/request',
    summary:
      'Gives a job to a runner; 204 where there is none for it, after a while for one that knows of nothing new.',
    access: anyone,
    ownCredential: true,
    wakesItself: true,
    also: [204],
    input: RequestInput,
    reply: JobPayload,
    handle: async ({ services, input, request }) => {
      const none = (value: string) => nothing({ 'x-gitlab-last-update': value });
      const ask = () => queue.ask(() => authenticateRunner(services, input, request));
      let asked = await ask();
      const { last_update: known } = input;
      if (known !== undefined && !asked.runner.paused && known === queue.valueFor(asked.runner)) {
        if (!(await queue.wait(asked.runner, request.signal))) return none(known);
        // Meanwhile it may have become another one.
        asked = await ask();
      }
      const { runner, manager, isWaiting } = asked;
      if (runner.paused) return nothing();
      if (!isWaiting || (await queue.isStillNone(runner))) return none(asked.value);
      if (request.signal.aborted) return nothing();
      const value = queue.valueFor(runner);
      const given = await giveJob(services, runner, manager);
      // Without a value, it asks again at once.
      if (given === 'more_may_wait') return nothing();
      if (given !== 'nothing_waits') return given;
      queue.noteNone(runner, value);
      return none(value);
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/jobs/:id',
    summary: 'Reports how a job fares, for its runner.',
    access: anyone,
    ownCredential: true,
    input: UpdateInput,
    reply: Words,
    handle: async ({ services, input, request }) => {
      const { state } = input;
      const job = await (state === 'pending' ? preparedJobOf : jobOf)(services, request, input);
      if (state === 'success' || state === 'failed') {
        const failure_reason = failureReason(input.failure_reason);
        const coverage = await readCoverage(services, job);
        const report = { state, failure_reason, exit_code: input.exit_code, coverage };
        if (!(await finishJob(services.database.db, job, report))) throw forbidden();
        services.wake();
      }
      return new Reply(200, '200', told(state === 'success' || state === 'failed' ? state : job.status));
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/jobs/:id/trace',
    status: 202,
    summary: 'Adds to the trace of a job, for its runner.',
    access: anyone,
    ownCredential: true,
    wakesItself: true,
    also: [416],
    stream: true,
    input: TraceInput,
    reply: Words,
    handle: async ({ services, input, request }) => {
      const start = rangeStart(request.headers['content-range']?.toString());
      if (start === undefined)
        throw new Failure('bad_request', '400 Missing header Content-Range', {
          error: '400 Missing header Content-Range',
        });
      const begin = monotonic();
      const job = await jobOf(services, request, input);
      const part = await wholeBody(request.bodyStream, MAX_PART_BYTES);
      // The trace of a job that has ended meanwhile may be archived.
      if (monotonic() - begin > SLOW_PART_MS) await jobOf(services, request, input);
      if (start + part.length > MAX_TRACE_BYTES) {
        await finishJob(services.database.db, job, {
          state: 'failed',
          failure_reason: 'trace_size_exceeded',
        });
        services.wake();
        throw forbidden();
      }
      if (input.debug_trace && !job.debug_trace) await markDebugTrace(services.database.db, job);
      const { written, size } = await appendTrace(services.config.files, job.id, start, part);
      const headers = { ...told(job.status), range: `0-${size}` };
      return written
        ? new Reply(202, `0-${size}`, headers)
        : new Reply(416, '416 Range Not Satisfiable', headers);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/jobs/:job_id/trace',
    summary: 'What a job has written; of one that is debugged, for Developers and above.',
    access: onProject('read_pipelines'),
    input: OneJob,
    reply: bytesOf('text/plain'),
    handle: async ({ db, services, subject, input }) => {
      const { id, debug_trace } = found(await selectJob(db, subject, input.job_id), 'Job');
      if (debug_trace && !subject.may('read_debug_traces')) throw forbidden();
      return new Reply(200, (await readTrace(services, id)) ?? Buffer.alloc(0), {
        'content-type': 'text/plain; charset=utf-8',
        'content-disposition': `inline; filename="${id}.log"`,
      });
    },
  }),
];
