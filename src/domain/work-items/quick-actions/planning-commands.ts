/** The quick actions that set dates, weight, type, epic and the like of an issue. Pure. */
import { healthStatuses, issueTypes, severities } from '../changes/issue-changes.ts';
import { parseDay } from './day-words.ts';
import { type Changes, issues, type WorkCommandRule } from './work-command-terms.ts';

/** A command that clears a property. */
const clear = (name: string, changes: Changes, message: string): WorkCommandRule => ({
  names: [name],
  kinds: issues,
  who: 'team',
  mean: () => ({ changes, message }),
});

export const planningRules: readonly WorkCommandRule[] = [
  {
    names: ['due', 'due_date'],
    kinds: issues,
    who: 'team',
    mean: (argument, { today }) => {
      const due_date = parseDay(argument, today);
      return due_date === undefined
        ? undefined
        : { changes: { due_date }, message: `Set the due date to ${due_date}.` };
    },
  },
  clear('remove_due_date', { due_date: null }, 'Removed the due date.'),
  {
    names: ['weight'],
    kinds: issues,
    who: 'team',
    mean: (argument) =>
      /^\d{1,9}$/.test(argument)
        ? { changes: { weight: Number(argument) }, message: `Set weight to ${Number(argument)}.` }
        : undefined,
  },
  clear('clear_weight', { weight: null }, 'Cleared weight.'),
  {
    names: ['severity'],
    kinds: issues,
    who: 'team',
    mean: (argument, { now }) => {
      const said = argument.toUpperCase();
      const byNumber = { S1: 'CRITICAL', S2: 'HIGH', S3: 'MEDIUM', S4: 'LOW' }[said];
      const severity = severities.find((name) => name === (byNumber ?? said));
      if (severity === undefined || now.issueType !== 'incident') return undefined;
      return { changes: { severity }, message: `Set the severity to ${severity.toLowerCase()}.` };
    },
  },
  {
    names: ['health_status'],
    kinds: issues,
    who: 'team',
    mean: (argument) => {
      const said = argument.toLowerCase().replaceAll(' ', '_');
      const health_status = healthStatuses.find((name) => name === said);
      return health_status && { changes: { health_status }, message: `Set health status to ${said}.` };
    },
  },
  clear('clear_health_status', { health_status: null }, 'Cleared health status.'),
  {
    names: ['type'],
    kinds: issues,
    who: 'team',
    mean: (argument) => {
      const said = argument.toLowerCase().replaceAll(' ', '_');
      const issue_type = issueTypes.find((name) => name === said);
      return issue_type && { changes: { issue_type }, message: `Type changed to ${said}.` };
    },
  },
  {
    names: ['epic', 'set_parent'],
    kinds: issues,
    who: 'team',
    mean: (argument, known) => {
      const epic_id = known.epics.get(argument);
      return epic_id === undefined
        ? undefined
        : { changes: { epic_id }, message: 'Added an issue to an epic.' };
    },
  },
  clear('remove_epic', { epic_id: null }, 'Removed an issue from an epic.'),
];
