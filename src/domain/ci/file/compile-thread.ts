/** The thread that compiles configuration files: a long one does not block other requests. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { type CompileRequest, compile, type Linted, lint, lintAndCompile } from './compile.ts';
import { WORLD, type World, type WorldAnswer, type WorldName } from './context.ts';
import type { Outcome, PlannedEnvironment, PlannedJob, PlannedPipeline } from './plan.ts';
import { plannedAsShown } from './seeding/static-jobs.ts';

/** Characters of the texts of all jobs that lint shows: 200 jobs of one script have it 200 times. */
const MAX_SHOWN_LENGTH = 4 * 1024 * 1024;
/** Characters of jobs that are written, or read, in one go. */
const CHUNK_LENGTH = 256 * 1024;
/** Characters of all jobs of a pipeline, as they are kept. */
const MAX_JOBS_LENGTH = 64 * 1024 * 1024;

export type ThreadQuestion = Omit<CompileRequest, 'files' | 'context'> & {
  context: Omit<CompileRequest['context'], 'changedPaths'>;
  hasArtifacts: boolean;
  wanted: 'pipeline' | 'lint' | 'dry_run';
  /** Of lint. */
  withJobs: boolean;
  /** Where the files and the context are asked. */
  port: MessagePort;
};

/** A pipeline whose jobs are texts. */
export type CompiledPipeline = Pick<PlannedPipeline, 'name' | 'autoCancel' | 'warnings'> & {
  /** Arrays in JSON of the jobs, in the order of the plan. */
  jobs: string[];
  /** How many those are. */
  jobCount: number;
  environments: CompiledEnvironment[];
  resourceGroups: string[];
};

/** An environment that jobs name, once. Those that jobs deploy to are made where they are missing. */
export type CompiledEnvironment = {
  name: string;
  tier: PlannedEnvironment['deploymentTier'];
  isMade: boolean;
};

export type CompiledOutcome =
  | Exclude<Outcome, { kind: 'planned' }>
  | { kind: 'planned'; pipeline: CompiledPipeline };

/** As many of the jobs as are shown, as arrays in JSON of StaticJob. */
export type LintedInThread = Omit<Linted, 'jobs'> & { jobs: string[]; jobCount: number };

export type ThreadAnswer =
  | { kind: 'pipeline'; outcome: CompiledOutcome }
  | { kind: 'lint'; linted: LintedInThread }
  | { kind: 'dry_run'; linted: LintedInThread; outcome: CompiledOutcome }
  /** The files or the context threw. */
  | { kind: 'failed' };

class WorldFailure extends Error {}

/** Questions to the other side of the port. */
function worldBehind(port: MessagePort): World {
  const waiting = new Map<number, (answer: WorldAnswer) => void>();
  let last = 0;
  port.on('message', (answer: WorldAnswer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const ask =
    (name: WorldName) =>
    async (...values: unknown[]): Promise<unknown> => {
      const id = ++last;
      const { promise, resolve } = Promise.withResolvers<WorldAnswer>();
      waiting.set(id, resolve);
      port.postMessage({ id, name, values });
      const answer = await promise;
      if ('failed' in answer) throw new WorldFailure();
      return answer.value;
    };
  return Object.fromEntries(WORLD.map((name) => [name, ask(name)])) as World;
}

/** Arrays in JSON of the jobs from the first one, as far as these characters go. */
function inChunks(jobs: readonly unknown[], most: number): { chunks: string[]; count: number } {
  const chunks: string[] = [];
  let texts: string[] = [];
  let length = 0;
  let total = 0;
  let count = 0;
  const end = (): void => {
    if (texts.length > 0) chunks.push(`[${texts.join(',')}]`);
    texts = [];
    length = 0;
  };
  for (const job of jobs) {
    const text = JSON.stringify(job);
    total += text.length;
    if (total > most) break;
    count += 1;
    texts.push(text);
    length += text.length;
    if (length >= CHUNK_LENGTH) end();
  }
  end();
  return { chunks, count };
}

function environmentsOf(jobs: readonly PlannedJob[]): CompiledEnvironment[] {
  const byName = new Map<string, CompiledEnvironment>();
  for (const { kind, environment } of jobs) {
    if (kind !== 'job' || !environment) continue;
    const { name, action, deploymentTier } = environment;
    if (action === 'start') byName.set(name, { name, tier: deploymentTier, isMade: true });
    else if (!byName.has(name)) byName.set(name, { name, tier: null, isMade: false });
  }
  return [...byName.values()];
}

function compiledOutcome(outcome: Outcome, withJobs: boolean): CompiledOutcome {
  if (outcome.kind !== 'planned') return outcome;
  const { name, autoCancel, warnings, jobs } = outcome.pipeline;
  const { chunks, count } = inChunks(withJobs ? jobs : [], MAX_JOBS_LENGTH);
  if (withJobs && count < jobs.length)
    return { kind: 'invalid', errors: ['The jobs of the pipeline are too long'], warnings };
  const resourceGroups = [
    ...new Set(jobs.flatMap(({ kind, resourceGroup }) => (kind === 'job' && resourceGroup) || [])),
  ];
  const environments = environmentsOf(jobs);
  return {
    kind: 'planned',
    pipeline: {
      name,
      autoCancel,
      warnings,
      jobs: chunks,
      jobCount: jobs.length,
      environments,
      resourceGroups,
    },
  };
}

const shownLint = (linted: Linted, withJobs: boolean): LintedInThread => ({
  ...linted,
  jobs: withJobs ? inChunks(linted.jobs, MAX_SHOWN_LENGTH).chunks : [],
  jobCount: linted.jobs.length,
});

async function answer({
  port,
  hasArtifacts,
  wanted,
  withJobs,
  ...question
}: ThreadQuestion): Promise<ThreadAnswer> {
  const { changedPaths, artifact, ...files } = worldBehind(port);
  const request = {
    ...question,
    context: { ...question.context, changedPaths },
    files: { ...files, ...(hasArtifacts && { artifact }) },
  };
  if (wanted === 'lint') return { kind: wanted, linted: shownLint(await lint(request), withJobs) };
  if (wanted === 'pipeline') {
    const { outcome } = await compile(request);
    return { kind: wanted, outcome: compiledOutcome(outcome, true) };
  }
  const { outcome, ...linted } = await lintAndCompile(request);
  const jobs = outcome.kind === 'planned' ? outcome.pipeline.jobs.map(plannedAsShown) : [];
  return {
    kind: wanted,
    linted: shownLint({ ...linted, jobs }, withJobs),
    outcome: compiledOutcome(outcome, false),
  };
}

parentPort?.on('message', async (question: ThreadQuestion) => {
  try {
    parentPort?.postMessage(await answer(question));
  } catch (error) {
    if (!(error instanceof WorldFailure)) throw error;
    parentPort?.postMessage({ kind: 'failed' } satisfies ThreadAnswer);
  } finally {
    question.port.close();
  }
});
