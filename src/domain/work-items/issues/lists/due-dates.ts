/** The words that lists of issues take for due dates. Pure. */

export const dueDateWords = [
  '',
  '0',
  'any',
  'today',
  'tomorrow',
  'overdue',
  'week',
  'month',
  'next_month_and_previous_two_weeks',
] as const;
export type DueDateWord = (typeof dueDateWords)[number];

const DAY = 86_400_000;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The first and the last day that a word means; days are `YYYY-MM-DD`, weeks start on Mondays. */
export function dueRange(
  word: Exclude<DueDateWord, '' | '0' | 'any'>,
  today: string,
): { from: string; to: string } {
  const time = Date.parse(today);
  const date = new Date(time);
  const endOfMonth = (months: number) =>
    dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0));
  const monday = time - ((date.getUTCDay() + 6) % 7) * DAY;
  const ranges = {
    today: { from: today, to: today },
    tomorrow: { from: dayOf(time + DAY), to: dayOf(time + DAY) },
    overdue: { from: '0001-01-01', to: dayOf(time - DAY) },
    week: { from: dayOf(monday), to: dayOf(monday + 6 * DAY) },
    month: { from: `${today.slice(0, 8)}01`, to: endOfMonth(0) },
    next_month_and_previous_two_weeks: { from: dayOf(time - 14 * DAY), to: endOfMonth(1) },
  };
  return ranges[word];
}
