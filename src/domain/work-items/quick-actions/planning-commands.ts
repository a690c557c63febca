/** The quick actions that set dates, time, weight, type, milestone, epic and the like of an issue. Pure. */
import { referencesIn } from '../../conversation/index.ts';
import { humanDuration, parseDuration } from '../changes/durations.ts';
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
    names: ['milestone'],
    kinds: issues,
    who: 'team',
    mean: (argument, known) => {
      const [title = ''] = [argument, ...referencesIn('%', argument)].filter((name) =>
        known.milestones.has(name),
      );
      const milestone_id = known.milestones.get(title);
      return milestone_id === undefined
        ? undefined
        : { changes: { milestone_id }, message: `Set the milestone to %"${title}".` };
    },
  },
  clear('remove_milestone', { milestone_id: null }, 'Removed milestone.'),
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
    names: ['estimate', 'estimate_time'],
    kinds: issues,
    who: 'team',
    mean: (argument) => {
      const time_estimate = parseDuration(argument);
      if (time_estimate === undefined || time_estimate < 0) return undefined;
      return {
        changes: { time_estimate },
        message: `Set time estimate to ${humanDuration(time_estimate) ?? '0h'}.`,
      };
    },
  },
  {
    ...clear('remove_estimate', { time_estimate: 0 }, 'Removed time estimate.'),
    names: ['remove_estimate', 'remove_time_estimate'],
  },
  {
    names: ['spend', 'spent', 'spend_time'],
    kinds: issues,
    who: 'team',
    mean: (argument, { today }) => {
      const [, duration = '', day] = /^(.*?)(?:\s(\d{4}-\d{2}-\d{2}))?$/.exec(argument) ?? [];
      const seconds = parseDuration(duration);
      const spentOn = day === undefined ? undefined : parseDay(day, today);
      if (!seconds || (day !== undefined && (spentOn === undefined || spentOn > today))) return undefined;
      const verb = seconds < 0 ? 'Subtracted' : 'Added';
      return {
        effects: [{ do: 'spend', seconds, spentOn }],
        message: `${verb} ${humanDuration(Math.abs(seconds)) ?? ''} spent time.`,
      };
    },
  },
  {
    names: ['remove_time_spent'],
    kinds: issues,
    who: 'team',
    mean: () => ({ effects: [{ do: 'reset_spent' }], message: 'Removed spent time.' }),
  },
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
