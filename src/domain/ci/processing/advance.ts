/** Which jobs of a pipeline go on, when others have (facts for CI: Processing). Pure. */
import { compositeOf, compositeOfNeeds, isCompleted, type Status, statusBit } from './status.ts';

export type RunsWhen = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';

/** A job of a pipeline that no other took the place of. */
export type JobState = {
  id: number;
  kind: string;
  name: string;
  status: Status;
  stage_index: number;
  runs_when: RunsWhen;
  /** The names that it waits for; null: all of earlier stages. */
  needs: readonly string[] | null;
  allow_failure: boolean;
};

export type Advance = { id: number; status: Extract<Status, 'pending' | 'manual' | 'scheduled' | 'skipped'> };

/** With which composite of what comes before it a job runs; of needs, one that was skipped is missed. */
const runsAfter: Record<RunsWhen, { stages: readonly Status[]; needs: readonly Status[] }> = {
  on_success: { stages: ['success', 'skipped'], needs: ['success'] },
  manual: { stages: ['success', 'skipped'], needs: ['success'] },
  delayed: { stages: ['success', 'skipped'], needs: ['success'] },
  on_failure: { stages: ['failed'], needs: ['failed'] },
  always: { stages: ['success', 'failed', 'skipped'], needs: ['success', 'failed', 'skipped'] },
};

const begun: Record<RunsWhen, Advance['status']> = {
  on_success: 'pending',
  on_failure: 'pending',
  always: 'pending',
  manual: 'manual',
  delayed: 'scheduled',
};

/**
 * The changes of the jobs that are `created` and wait for nothing any more, and the status of the pipeline after them.
 * What other programs said counts for the pipeline alone.
 */
export function advance(jobs: readonly JobState[]): { changes: Advance[]; status: Status } {
  const own = jobs.filter(({ kind }) => kind !== 'status');
  const byName = new Map<string, number>(own.map((job) => [job.name, statusBit(job)]));
  const changes: Advance[] = [];
  const stages = Map.groupBy(own, ({ stage_index }) => stage_index);
  let before = 0;
  for (const [, stage] of [...stages].sort(([one], [other]) => one - other)) {
    const waiting = stage.filter(({ status }) => status === 'created');
    const dependents = dependentsAmong(waiting);
    const moved = new Set<number>();
    // Jobs of a stage may need each other: what one is skipped for may be skipped for another in turn.
    for (const job of waiting) {
      if (moved.has(job.id)) continue;
      const status = nextStatus(job, before, byName);
      if (status === undefined) continue;
      moved.add(job.id);
      changes.push({ id: job.id, status });
      byName.set(job.name, statusBit({ ...job, status }));
      waiting.push(...(dependents.get(job.name) ?? []));
    }
    for (const { name } of stage) before |= byName.get(name) ?? 0;
  }
  const others = jobs.filter(({ kind }) => kind === 'status').reduce((all, job) => all | statusBit(job), 0);
  return { changes, status: compositeOf(before | others) };
}

/** The jobs that need each, by its name. */
function dependentsAmong(jobs: readonly JobState[]): Map<string, JobState[]> {
  const dependents = new Map<string, JobState[]>();
  for (const job of jobs)
    for (const name of job.needs ?? []) {
      const others = dependents.get(name);
      if (others) others.push(job);
      else dependents.set(name, [job]);
    }
  return dependents;
}

/** What becomes of a job that is `created`; undefined while it waits. `before` are the joined bits of earlier stages. */
function nextStatus(
  { needs, runs_when }: JobState,
  before: number,
  byName: ReadonlyMap<string, number>,
): Advance['status'] | undefined {
  const after = needs
    ? compositeOfNeeds(needs.reduce((all, name) => all | (byName.get(name) ?? 0), 0))
    : compositeOf(before);
  if (!isCompleted(after)) return undefined;
  return runsAfter[runs_when][needs ? 'needs' : 'stages'].includes(after) ? begun[runs_when] : 'skipped';
}
