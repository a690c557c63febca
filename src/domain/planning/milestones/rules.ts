/** Rules for a milestone's fields. Pure. */

import { invalid, type ValidationMessages } from '../../../platform/failure.ts';
import { MAX_TITLE_LENGTH } from '../labels/label-names.ts';

type Dates = { start_date: string | null; due_date: string | null };

const EARLIEST = '1900-01-01';
const LATEST = '9999-12-31';
/** For the schema. */
export const dayPattern = '^(?:19|[2-9][0-9])';

/** The title without spaces around it; 400 for one that no milestone can have. */
export function milestoneTitle(text: string): string {
  const title = text.trim();
  if (title === '') throw invalid({ title: ["can't be blank"] });
  if (title.length > MAX_TITLE_LENGTH)
    throw invalid({ title: [`is too long (maximum is ${MAX_TITLE_LENGTH} characters)`] });
  return title;
}

/** 400 for days outside the range of milestones, and for an end before the start. */
export function refuseDates({ start_date, due_date }: Dates): void {
  const problems: ValidationMessages = {};
  for (const [property, day] of Object.entries({ start_date, due_date })) {
    if (day === null) continue;
    if (day < EARLIEST) problems[property] = [`date must not be before ${EARLIEST}`];
    if (day > LATEST) problems[property] = [`date must not be after ${LATEST}`];
  }
  if (start_date !== null && due_date !== null && due_date < start_date)
    problems.due_date ??= ['must be greater than start date'];
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/** The state after a state event, or undefined where nothing changes. */
export function nextState(
  state: string,
  event: 'close' | 'activate' | undefined,
): 'active' | 'closed' | undefined {
  if (event === undefined) return undefined;
  const next = event === 'close' ? 'closed' : 'active';
  return next === state ? undefined : next;
}
