/** System notes of issues, epics and merge requests: one sentence for each change, in the public API's words. */
import { dateFormat } from '../../../platform/locales.ts';
import { sentenceOf } from '../../../platform/sentence.ts';
import { humanDuration } from './durations.ts';
import type { WorkChange } from './issue-changes.ts';
import { type Task, toggledTasks } from './task-list.ts';

export type SystemNote = { body: string; action: string };

/** A change beside the issue's own columns that gets a system note. */
export type WorkOccurrence =
  | {
      what: 'related' | 'unrelated' | 'blocking' | 'blocked_by' | 'duplicated';
      reference: string;
    }
  | { what: 'moved_to' | 'moved_from' | 'cloned_to' | 'cloned_from'; reference: string }
  | { what: 'promoted_to' | 'promoted_from'; reference: string }
  | { what: 'continued_in'; reference: string }
  | { what: 'time_spent'; seconds: number }
  | { what: 'time_reset' };

const people = (names: readonly { username: string }[]): string =>
  sentenceOf(names.map((each) => `@${each.username}`));

/** `added ~1 ~2 labels`, for one or many. */
const labels = (verb: string, ids: readonly { id: number }[]): string =>
  `${verb} ${ids.map(({ id }) => `~${id}`).join(' ')} label${ids.length === 1 ? '' : 's'}`;

/** Both texts with the difference between their common start and end marked. */
export function markDifference(from: string, to: string): { from: string; to: string } {
  const [old, fresh] = [[...from], [...to]];
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const mark = (letters: string[], sign: string): string => {
    const middle = letters.slice(start, letters.length - end).join('');
    const marked = middle === '' ? '' : `{${sign}${middle}${sign}}`;
    return letters.slice(0, start).join('') + marked + letters.slice(letters.length - end).join('');
  };
  return { from: mark(old, '-'), to: mark(fresh, '+') };
}

const day = dateFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });
const dated = (name: string, date: string | null): string =>
  date === null ? `removed ${name}` : `changed ${name} to ${day(new Date(date))}`;

const severityNames: Record<string, string> = {
  UNKNOWN: 'Unknown',
  LOW: 'Low - S4',
  MEDIUM: 'Medium - S3',
  HIGH: 'High - S2',
  CRITICAL: 'Critical - S1',
};

/** Text of a description, shown as it is written. */
const literal = (text: string): string => text.replaceAll(/[\\`*_{}[\]()<>#+.!|~="-]/g, '\\$&');

/** Of a task's text, which nothing bounds. */
const MAX_TASK_LENGTH = 255;
/** A description of more toggled tasks is told as one that changed. */
const MAX_TOLD_TASKS = 20;

const taskNote = ({ text, completed }: Task): SystemNote => ({
  action: 'task',
  body: `marked the checklist item **${literal(text.slice(0, MAX_TASK_LENGTH).toWellFormed())}** as ${completed ? 'completed' : 'incomplete'}`,
});

/** The notes of a change: of a description whose tasks were checked each of these, and else one. */
export function systemNotes(change: WorkChange, noun?: Noun): SystemNote[] {
  const tasks = change.what === 'description' ? toggledTasks(change.from, change.to) : [];
  if (tasks.length === 0 || tasks.length > MAX_TOLD_TASKS) return [systemNote(change, noun)];
  return tasks.map(taskNote);
}

type Noun = 'issue' | 'epic' | 'merge request';

/** The system note of a change of an issue or epic, or of what merge requests have too. */
export function systemNote(change: WorkChange | WorkOccurrence, noun: Noun = 'issue'): SystemNote {
  const note = (action: string, body: string): SystemNote => ({ body, action });
  switch (change.what) {
    case 'title': {
      const marked = markDifference(change.from, change.to);
      return note('title', `changed title from **${marked.from}** to **${marked.to}**`);
    }
    case 'description':
      return note('description', 'changed the description');
    case 'state':
      if (change.to === 'reopened') return note('opened', 'reopened');
      return note('closed', change.via ? `closed via ${change.via.reference}` : 'closed');
    case 'assignees': {
      const added = change.added.length > 0 ? [`assigned to ${people(change.added)}`] : [];
      const removed = change.removed.length > 0 ? [`unassigned ${people(change.removed)}`] : [];
      return note('assignee', sentenceOf([...added, ...removed]));
    }
    case 'labels': {
      const added = change.added.length > 0 ? [labels('added', change.added)] : [];
      const removed = change.removed.length > 0 ? [labels('removed', change.removed)] : [];
      return note('label', sentenceOf([...added, ...removed]));
    }
    case 'milestone':
      return note(
        'milestone',
        change.to ? `changed milestone to ${change.to.reference}` : 'removed milestone',
      );
    case 'confidential':
      return change.to
        ? note('confidential', `made the ${noun} confidential`)
        : note('visible', `made the ${noun} visible to everyone`);
    case 'discussion_locked':
      return change.to
        ? note('locked', `locked the discussion in this ${noun}`)
        : note('unlocked', `unlocked the discussion in this ${noun}`);
    case 'due_date':
      return note('start_date_or_due_date', dated('due date', change.to));
    case 'start_date':
      return note('start_date_or_due_date', dated('start date', change.to));
    case 'weight':
      return note('weight', change.to === null ? 'removed the weight' : `set weight to **${change.to}**`);
    case 'health_status':
      return note(
        'health_status',
        change.to === null
          ? 'removed the health status'
          : `set health status to **${change.to.replaceAll('_', ' ')}**`,
      );
    case 'issue_type':
      return note(
        'issue_type',
        `changed type from ${change.from.replace('_', ' ')} to ${change.to.replace('_', ' ')}`,
      );
    case 'severity':
      return note('severity', `changed the severity to **${severityNames[change.to] ?? change.to}**`);
    case 'epic':
      return change.to
        ? note('issue_added_to_epic', `added to epic ${change.to.reference}`)
        : note('issue_removed_from_epic', `removed from epic ${change.from?.reference ?? ''}`);
    case 'original':
      return note(
        'duplicate',
        change.to
          ? `marked this ${noun} as a duplicate of ${change.to.reference}`
          : `unmarked this ${noun} as a duplicate of ${change.from?.reference ?? ''}`,
      );
    case 'time_estimate':
      return note(
        'time_tracking',
        change.to === 0 ? 'removed time estimate' : `changed time estimate to ${humanDuration(change.to)}`,
      );
    case 'time_spent':
      return note(
        'time_tracking',
        change.seconds < 0
          ? `subtracted ${humanDuration(-change.seconds)} of time spent`
          : `added ${humanDuration(change.seconds)} of time spent`,
      );
    case 'time_reset':
      return note('time_tracking', 'removed time spent');
    case 'related':
      return note('relate', `marked this ${noun} as related to ${change.reference}`);
    case 'blocking':
      return note('relate', `marked this ${noun} as blocking ${change.reference}`);
    case 'blocked_by':
      return note('relate', `marked this ${noun} as blocked by ${change.reference}`);
    case 'unrelated':
      return note('unrelate', `removed the relation with ${change.reference}`);
    case 'duplicated':
      return note('duplicate', `marked ${change.reference} as a duplicate of this ${noun}`);
    case 'moved_to':
    case 'moved_from':
      return note('moved', `${change.what.replace('_', ' ')} ${change.reference}`);
    case 'cloned_to':
    case 'cloned_from':
      return note('cloned', `${change.what.replace('_', ' ')} ${change.reference}`);
    case 'continued_in':
      return note('discussion', `created ${change.reference} to continue this discussion`);
    case 'promoted_to':
      return note('moved', `promoted to epic ${change.reference}`);
    case 'promoted_from':
      return note('moved', `promoted from issue ${change.reference}`);
  }
}
