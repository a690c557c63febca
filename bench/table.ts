/** The bench's tables, one for each part: each figure beside its baseline and its target. */
import { availableParallelism, cpus, release } from 'node:os';

export type Figure = {
  what: string;
  value: string;
  baseline: string;
  /** The value to compare with the target, as text. */
  result: string;
  target: string;
  /** Undefined without a target. */
  met: boolean | undefined;
};

/** A figure without a target. */
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

/** A figure that must not exceed so many times its baseline. */
export const ratioOf = (
  what: string,
  value: string,
  baseline: string,
  ratio: number,
  most: number,
): Figure => ({
  what,
  value,
  baseline,
  result: `${ratio.toFixed(2)}×`,
  target: `≤ ${most}×`,
  met: ratio <= most,
});

/** The figures of a part as Markdown, or the tables that it has itself, with the machine and the day of the measurement. */
export function renderPart(part: string, measured: readonly Figure[] | string, date: Date): string {
  return [
    `## ${part}`,
    '',
    `${date.toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? '?'}, Linux ${release()}.`,
    '',
    typeof measured === 'string' ? measured : renderFigures(measured),
  ].join('\n');
}

function renderFigures(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, value, baseline, result, target, met }) =>
    [what, value, baseline, result, target, met === undefined ? '' : met ? 'yes' : '**no**'].join(' | '),
  );
  return [
    '| figure | Ashlar | baseline | result | target | met |',
    '|---|--:|--:|--:|--:|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

const title = `# Bench

Each part is measured in one run with its baselines. Load generator, program and database share the cores: read the ratios.`;

/** The results with a part's new section instead of its old one; parts stand in the order of `parts`. */
export function insertSection(results: string, part: string, text: string, parts: readonly string[]): string {
  const sections = new Map(
    results
      .split(/^(?=## )/m)
      .slice(1)
      .map((section) => [/^## (.*)/.exec(section)?.[1] ?? '', section.trim()]),
  );
  sections.set(part, text);
  return `${[title, ...parts.flatMap((name) => sections.get(name) ?? [])].join('\n\n')}\n`;
}
