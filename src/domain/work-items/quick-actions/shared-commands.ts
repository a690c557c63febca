/** The quick actions that issues share with epics or merge requests, one row each. Pure. */
import { awardRules, followRules, referencesIn, textRules } from '../../conversation/index.ts';
import { humanDuration, parseDuration } from '../changes/durations.ts';
import { parseDay } from './day-words.ts';
import {
  assignedKinds,
  everyKind,
  type SharedChanges,
  type SharedCommandRule,
  type SharedKind,
  type SharedKnown,
} from './shared-command-terms.ts';

/** Ids of the users in the argument. */
export const userIds = (argument: string, { users, me }: Pick<SharedKnown, 'users' | 'me'>): number[] => {
  const ids = referencesIn('@', argument).flatMap((name) =>
    name === 'me' ? me.id : (users.get(name.toLowerCase()) ?? []),
  );
  return [...new Set(ids)];
};

/** The users beside those that are there already, or instead of them where there is one at most. */
export const withUsers = (
  current: readonly number[],
  added: readonly number[],
  { takesSeveral }: Pick<SharedKnown, 'takesSeveral'>,
): number[] => (takesSeveral ? [...new Set([...current, ...added])] : added.slice(0, 1));

const labelNames = (argument: string, { labels }: SharedKnown): string[] => {
  const whole = argument.trim();
  if (labels.has(whole)) return [whole];
  return [...new Set(referencesIn('~', argument).filter((name) => labels.has(name)))];
};

const listed = (names: readonly string[]): string => names.map((name) => `~"${name}"`).join(' ');
const plural = (names: readonly unknown[]): string => (names.length === 1 ? 'label' : 'labels');

const withLabels = ({ labels, add_labels = [] }: SharedChanges, names: readonly string[]): SharedChanges =>
  labels ? { labels: [...labels, ...names] } : { add_labels: [...add_labels, ...names] };

const state = (name: 'close' | 'reopen', from: string, tells: string): SharedCommandRule => ({
  names: [name],
  kinds: everyKind,
  who: 'author',
  mean: (_argument, known, before) => {
    const current = { close: 'closed', reopen: 'opened', none: known.now.state }[
      before.state_event ?? 'none'
    ];
    return current === from
      ? { changes: { state_event: name }, message: `${tells} this ${known.kind}.` }
      : undefined;
  },
});

const lock = (name: 'lock' | 'unlock', locks: boolean, message: string): SharedCommandRule => ({
  names: [name],
  kinds: assignedKinds,
  who: 'team',
  mean: (_argument, { now, may }) =>
    !may.lock || now.locked === locks ? undefined : { changes: { discussion_locked: locks }, message },
});

const clear = (
  names: SharedCommandRule['names'],
  changes: SharedChanges,
  message: string,
): SharedCommandRule => ({
  names,
  kinds: assignedKinds,
  who: 'team',
  mean: () => ({ changes, message }),
});

const assignees = (known: SharedKnown, before: SharedChanges): readonly number[] =>
  before.assignee_ids ?? known.now.assigneeIds;

const sharedRules: readonly SharedCommandRule[] = [
  state('close', 'opened', 'Closed'),
  state('reopen', 'closed', 'Reopened'),
  {
    names: ['title'],
    kinds: everyKind,
    who: 'author',
    mean: (argument) =>
      argument === ''
        ? undefined
        : { changes: { title: argument }, message: `Changed the title to "${argument}".` },
  },
  {
    names: ['assign'],
    kinds: assignedKinds,
    who: 'team',
    mean: (argument, known, before) => {
      const added = userIds(argument, known);
      if (added.length === 0) return undefined;
      const assignee_ids = withUsers(assignees(known, before), added, known);
      return { changes: { assignee_ids }, message: `Assigned ${argument}.` };
    },
  },
  {
    names: ['reassign'],
    kinds: assignedKinds,
    who: 'team',
    mean: (argument, known) => {
      const assignee_ids = userIds(argument, known);
      if (assignee_ids.length === 0) return undefined;
      return { changes: { assignee_ids }, message: `Changed assignee(s) to ${argument}.` };
    },
  },
  {
    names: ['unassign', 'remove_assignee'],
    kinds: assignedKinds,
    who: 'team',
    mean: (argument, known, before) => {
      const current = assignees(known, before);
      const removed = argument === '' ? current : userIds(argument, known);
      const assignee_ids = current.filter((id) => !removed.includes(id));
      if (assignee_ids.length === current.length) return undefined;
      return { changes: { assignee_ids }, message: `Removed assignee ${argument}`.trim().concat('.') };
    },
  },
  {
    names: ['label', 'labels'],
    kinds: everyKind,
    who: 'team',
    mean: (argument, known, before) => {
      const names = labelNames(argument, known);
      if (names.length === 0) return undefined;
      return { changes: withLabels(before, names), message: `Added ${listed(names)} ${plural(names)}.` };
    },
  },
  {
    names: ['unlabel', 'remove_label'],
    kinds: everyKind,
    who: 'team',
    mean: (argument, known, before) => {
      if (argument === '')
        return { changes: { labels: [], add_labels: [], remove_labels: [] }, message: 'Removed all labels.' };
      const names = labelNames(argument, known);
      if (names.length === 0) return undefined;
      const message = `Removed ${listed(names)} ${plural(names)}.`;
      return { changes: { remove_labels: [...(before.remove_labels ?? []), ...names] }, message };
    },
  },
  {
    names: ['relabel'],
    kinds: everyKind,
    who: 'team',
    mean: (argument, known) => {
      const labels = labelNames(argument, known);
      if (labels.length === 0) return undefined;
      return {
        changes: { labels, add_labels: [], remove_labels: [] },
        message: `Replaced all labels with ${listed(labels)} ${plural(labels)}.`,
      };
    },
  },
  lock('lock', true, 'Locked the discussion.'),
  lock('unlock', false, 'Unlocked the discussion.'),
  {
    names: ['milestone'],
    kinds: assignedKinds,
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
  {
    names: ['copy_metadata'],
    kinds: assignedKinds,
    who: 'team',
    mean: (argument, known, before) => {
      const copied = known.metadata.get(argument);
      if (!copied) return undefined;
      const { labels, milestoneId: milestone_id } = copied;
      return {
        changes: { ...withLabels(before, labels), ...(milestone_id !== null && { milestone_id }) },
        message: `Copied labels and milestone from ${argument}.`,
      };
    },
  },
  clear(['remove_milestone'], { milestone_id: null }, 'Removed milestone.'),
  {
    names: ['estimate', 'estimate_time'],
    kinds: assignedKinds,
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
  clear(['remove_estimate', 'remove_time_estimate'], { time_estimate: 0 }, 'Removed time estimate.'),
  {
    names: ['spend', 'spent', 'spend_time'],
    kinds: assignedKinds,
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
    kinds: assignedKinds,
    who: 'team',
    mean: () => ({ effects: [{ do: 'reset_spent' }], message: 'Removed spent time.' }),
  },
];

/** Those of a kind, with what every noteable of the kinds has. */
export const sharedRulesOf = (kind: SharedKind) => [
  ...sharedRules.filter(({ kinds }) => kinds.includes(kind)),
  ...followRules,
  ...awardRules,
  ...textRules,
];
