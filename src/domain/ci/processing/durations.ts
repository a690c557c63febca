/** How long a pipeline ran. Pure. */

export type Ran = { started_at: Date | null; finished_at: Date | null };

/** Whole seconds in which at least one of the jobs ran, those that still do until now; undefined when none began. */
export function durationOf(jobs: readonly Ran[], until: Date): number | undefined {
  const intervals = jobs
    .flatMap(({ started_at, finished_at }) =>
      started_at === null ? [] : [{ from: started_at.getTime(), to: (finished_at ?? until).getTime() }],
    )
    .sort((one, other) => one.from - other.from);
  if (intervals.length === 0) return undefined;
  let [total, end] = [0, 0];
  for (const { from, to } of intervals) {
    total += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return Math.round(total / 1_000);
}
