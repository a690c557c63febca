/** The bench's one table: each figure beside its baseline and what is asked of it. */
import { availableParallelism, cpus, release } from 'node:os';

export type Figure = {
  what: string;
  value: string;
  baseline: string;
  /** What is compared with the target, as text. */
  result: string;
  target: string;
  /** Undefined where nothing is asked. */
  met: boolean | undefined;
};

/** A figure of which nothing is asked. */
export const merely = (what: string, value: number, unit: string): Figure => ({
  what,
  value: `${value.toFixed(0)} ${unit}`,
  baseline: '',
  result: '',
  target: '',
  met: undefined,
});

/** A figure that must not exceed a limit of the same unit. */
export const atMost = (what: string, value: number, limit: number, unit: string, digits = 0): Figure => ({
  what,
  value: `${value.toFixed(digits)} ${unit}`,
  baseline: '',
  result: `${value.toFixed(digits)} ${unit}`,
  target: `≤ ${limit} ${unit}`,
  met: value <= limit,
});

/** The figures as Markdown, with the machine that they were taken on. */
export function renderTable(figures: readonly Figure[], date: Date): string {
  const rows = figures.map(({ what, value, baseline, result, target, met }) =>
    [what, value, baseline, result, target, met === undefined ? '' : met ? 'yes' : '**no**'].join(' | '),
  );
  return [
    '# Bench',
    '',
    `${date.toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? '?'}, Linux ${release()}.`,
    'Load generator, program and database share these cores: read the ratios.',
    '',
    '| figure | Ashlar | baseline | result | target | met |',
    '|---|--:|--:|--:|--:|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n');
}
