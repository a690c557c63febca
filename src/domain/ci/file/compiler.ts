/** Compiles configuration files in threads, which ask here for the files and what the context knows. */
import { AsyncResource } from 'node:async_hooks';
import { extname } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { currentCaller, runForCaller } from '../../../platform/fair-share.ts';
import { createThreads } from '../../../platform/threads.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import type { CompileRequest, Linted } from './compile.ts';
import type { CompiledOutcome, LintedInThread, ThreadAnswer, ThreadQuestion } from './compile-thread.ts';
import type { World, WorldAnswer, WorldQuestion } from './context.ts';
import type { StaticJob } from './seeding/static-jobs.ts';

const MEMORY_MB = 192;
/** From the first line to the last job, with what other servers take to answer; longer than rules are asked. */
const COMPILE_TIMEOUT_MS = 75_000;

const threads = createThreads<ThreadQuestion, ThreadAnswer>({
  file: new URL(`./compile-thread${extname(import.meta.url)}`, import.meta.url),
  share: {
    of: 'configuration files to compile',
    // A thread waits for other servers most of the time, where the file includes what they have.
    places: 4,
    perCaller: 1,
    waitingPerCaller: 16,
    waiting: 200,
    timeoutMs: 60_000,
  },
  memoryMb: MEMORY_MB,
});

/** `jobs` are those that are shown, of so many. */
export type ShownLint = Linted & { jobCount: number };

export const TOO_MUCH = `The configuration takes more than ${COMPILE_TIMEOUT_MS / 1_000} seconds or ${MEMORY_MB} MiB to compile. Try splitting it`;

const tooMuch: Extract<CompiledOutcome, { kind: 'invalid' }> = {
  kind: 'invalid',
  errors: [TOO_MUCH],
  warnings: [],
};
const tooMuchToLint: ShownLint = {
  errors: [TOO_MUCH],
  warnings: [],
  mergedYaml: null,
  includes: [],
  jobs: [],
  jobCount: 0,
};

/**
 * The jobs for the pipeline, or why there are none. All three throw what the files and the context throw, and 429 or 503 when
 * too many wait; beyond `timeoutMs` or the memory limit the file is invalid. A job of the program compiles for `caller`.
 */
export async function compileFile(
  request: CompileRequest,
  caller: string,
  timeoutMs = COMPILE_TIMEOUT_MS,
): Promise<CompiledOutcome> {
  const answer = await ask(request, 'pipeline', false, timeoutMs, caller);
  return answer?.kind === 'pipeline' ? answer.outcome : tooMuch;
}

/** What is wrong with the configuration by itself; rules are asked for includes alone. */
export async function lintConfiguration(
  request: CompileRequest,
  withJobs: boolean,
  timeoutMs = COMPILE_TIMEOUT_MS,
): Promise<ShownLint> {
  const answer = await ask(request, 'lint', withJobs, timeoutMs);
  return answer?.kind === 'lint' ? shown(answer.linted) : tooMuchToLint;
}

/** Both at once: the jobs are those that the pipeline would have, and its outcome has none. */
export async function simulate(
  request: CompileRequest,
  withJobs: boolean,
  timeoutMs = COMPILE_TIMEOUT_MS,
): Promise<{ linted: ShownLint; outcome: CompiledOutcome }> {
  const answer = await ask(request, 'dry_run', withJobs, timeoutMs);
  return answer?.kind === 'dry_run'
    ? { linted: await shown(answer.linted), outcome: answer.outcome }
    : { linted: tooMuchToLint, outcome: tooMuch };
}

async function shown({ jobs, ...linted }: LintedInThread): Promise<ShownLint> {
  const read = await mapInTurns(jobs, (chunk): StaticJob[] => JSON.parse(chunk));
  return { ...linted, jobs: read.flat() };
}

async function ask(
  { files, context: { changedPaths, ...context }, ...request }: CompileRequest,
  wanted: ThreadQuestion['wanted'],
  withJobs: boolean,
  timeoutMs: number,
  caller?: string,
): Promise<ThreadAnswer | undefined> {
  const { port1: port, port2: otherPort } = new MessageChannel();
  const world: Partial<World> = { ...files, changedPaths };
  let failure: { error: unknown } | undefined;
  const answerOne = async ({ id, name, values }: WorldQuestion): Promise<void> => {
    const said = (answer: WorldAnswer): void => port.postMessage(answer);
    try {
      // Whatever the thread sends are the arguments of this function.
      const question = world[name] as ((...values: unknown[]) => Promise<unknown>) | undefined;
      said({ id, value: await question?.(...values) });
    } catch (error) {
      failure ??= { error };
      said({ id, failed: true });
    }
  };
  // The answers are found for the caller, and with the caller's part of what is scarce.
  port.on('message', AsyncResource.bind(answerOne));
  try {
    const question: ThreadQuestion = {
      ...request,
      context,
      hasArtifacts: files.artifact !== undefined,
      wanted,
      withJobs,
      port: otherPort,
    };
    const compiled = () => threads.ask(question, timeoutMs, [otherPort]);
    const isForJob = currentCaller() === undefined && caller !== undefined;
    const answer = await (isForJob ? runForCaller({ name: caller }, compiled) : compiled());
    if (failure) throw failure.error;
    return answer;
  } finally {
    port.close();
  }
}
