/**
 * Start and due dates of epics: fixed, or the earliest start and latest end of the milestones of their issues
 * and of their child epics, whose dates may be inherited in turn. Pure.
 */
import type { EpicRow } from './epic-rows.ts';

/** An epic with its fixed dates and those of the milestones of its issues. */
export type DatedEpic = Pick<
  EpicRow,
  'id' | 'parent_id' | 'start_date_is_fixed' | 'start_date_fixed' | 'due_date_is_fixed' | 'due_date_fixed'
> & { milestone_start: string | null; milestone_due: string | null };

/** Days as `YYYY-MM-DD`: the effective ones, and the inherited ones that fixed dates override. */
export type EpicDates = {
  start: string | null;
  due: string | null;
  inheritedStart: string | null;
  inheritedDue: string | null;
};

export const noDates: EpicDates = { start: null, due: null, inheritedStart: null, inheritedDue: null };

const sorted = (days: readonly (string | null)[]): string[] =>
  days.filter((day): day is string => day !== null).sort();

/** The dates of the epics, by id; child epics that are not among them are ignored. */
export function datesOf(epics: readonly DatedEpic[]): Map<number, EpicDates> {
  const children = Map.groupBy(epics, ({ parent_id }) => parent_id);
  const known = new Map<number, EpicDates>();
  const dates = (epic: DatedEpic): EpicDates => {
    const already = known.get(epic.id);
    if (already) return already;
    // A cycle would end here.
    known.set(epic.id, noDates);
    const below = (children.get(epic.id) ?? []).map(dates);
    const inheritedStart = sorted([epic.milestone_start, ...below.map(({ start }) => start)])[0] ?? null;
    const inheritedDue = sorted([epic.milestone_due, ...below.map(({ due }) => due)]).at(-1) ?? null;
    const found = {
      start: epic.start_date_is_fixed ? epic.start_date_fixed : inheritedStart,
      due: epic.due_date_is_fixed ? epic.due_date_fixed : inheritedDue,
      inheritedStart,
      inheritedDue,
    };
    known.set(epic.id, found);
    return found;
  };
  for (const epic of epics) dates(epic);
  return known;
}
