/** Which tags of a repository go, by their names and ages (facts-packages: 2.6, bulk algorithm). Pure. */
import { type PatternCompiler, wholly } from '../../../platform/patterns/pattern.ts';

/** What is asked for: patterns of whole names, and what stays though it matches. */
export type TagSelection = {
  delete: string;
  keep: string | null;
  /** So many of the newest that match. */
  keepNewest: number;
  /** Only those that were pushed before. */
  before: Date | null;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const units = new Map([
  ['h', HOUR_MS],
  ['hour', HOUR_MS],
  ['d', DAY_MS],
  ['day', DAY_MS],
  ['w', 7 * DAY_MS],
  ['week', 7 * DAY_MS],
  ['month', 30 * DAY_MS],
]);

/** Milliseconds of `1h`, `2d`, `1month`; undefined for what is no time. */
export function ageIn(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6}) *([a-z]+)$/.exec(text.trim().toLowerCase()) ?? [];
  const length = units.get(unit) ?? units.get(unit.replace(/s$/, ''));
  return count === undefined || length === undefined ? undefined : Number(count) * length;
}

type Tag = { name: string; updated_at: Date };

/** Programs pull it when they are told no tag. */
const NEVER = 'latest';

/**
 * Tells of tags that come from the newest to the oldest whether each goes; `kept` is how many of the newest that match were
 * seen before.
 */
export function tagSelector(selection: TagSelection, compile: PatternCompiler, kept: number) {
  const matcher = (pattern: string | null, otherwise: boolean) => {
    const compiled = pattern === null ? undefined : compile(wholly(pattern));
    return (name: string): boolean => {
      if (!compiled) return false;
      return 'problem' in compiled ? otherwise : compiled.test(name);
    };
  };
  const matches = matcher(selection.delete, false);
  const stays = matcher(selection.keep, true);
  return {
    get kept() {
      return kept;
    },
    goes({ name, updated_at }: Tag): boolean {
      if (name === NEVER || !matches(name) || stays(name)) return false;
      if (kept < selection.keepNewest) {
        kept += 1;
        return false;
      }
      return selection.before === null || updated_at < selection.before;
    },
  };
}
