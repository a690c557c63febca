/** The quick actions of issues and epics, one row each: names, noteables, permission, meaning. Pure. */

import { awardRules, byNames, followRules, referencesIn, textRules } from '../../conversation/index.ts';
import { moveCommandRules } from './move-commands.ts';
import { planningRules } from './planning-commands.ts';
import { type Changes, issues, type Known, planned, type WorkCommandRule } from './work-command-terms.ts';

const userIds = (argument: string, { users, me }: Known): number[] => {
  const ids = referencesIn('@', argument).flatMap((name) =>
    name === 'me' ? me.id : (users.get(name.toLowerCase()) ?? []),
  );
  return [...new Set(ids)];
};

const labelNames = (argument: string, { labels }: Known): string[] => {
  const whole = argument.trim();
  if (labels.has(whole)) return [whole];
  return [...new Set(referencesIn('~', argument).filter((name) => labels.has(name)))];
};

const listed = (names: readonly string[]): string => names.map((name) => `~"${name}"`).join(' ');
const plural = (names: readonly unknown[]): string => (names.length === 1 ? 'label' : 'labels');

const link = (
  name: string,
  type: 'relates_to' | 'blocks' | 'is_blocked_by',
  tells: string,
  ...others: string[]
): WorkCommandRule => ({
  names: [name, ...others],
  kinds: issues,
  who: 'team',
  mean: (argument, known) => {
    const named = new Set(argument.split(/[\s,]+/).flatMap((reference) => known.issues.get(reference) ?? []));
    if (named.size === 0) return undefined;
    return {
      effects: [...named].map((issueId) => ({ do: 'link', issueId, type })),
      message: `${tells} ${argument.trim()}.`,
    };
  },
});

const state = (name: 'close' | 'reopen', from: string, tells: string): WorkCommandRule => ({
  names: [name],
  kinds: planned,
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

const flag = (
  names: [string, ...string[]],
  isSo: (known: Known) => boolean,
  changes: Changes,
  message: (known: Known) => string,
  kinds: WorkCommandRule['kinds'] = issues,
): WorkCommandRule => ({
  names,
  kinds,
  who: 'team',
  mean: (_argument, known) => (isSo(known) ? undefined : { changes, message: message(known) }),
});

const assignees = (known: Known, before: Changes): readonly number[] =>
  before.assignee_ids ?? known.now.assigneeIds;

const workRules: readonly WorkCommandRule[] = [
  state('close', 'opened', 'Closed'),
  state('reopen', 'closed', 'Reopened'),
  {
    names: ['title'],
    kinds: planned,
    who: 'author',
    mean: (argument) =>
      argument === ''
        ? undefined
        : { changes: { title: argument }, message: `Changed the title to "${argument}".` },
  },
  {
    names: ['assign'],
    kinds: issues,
    who: 'team',
    mean: (argument, known, before) => {
      const added = userIds(argument, known);
      if (added.length === 0) return undefined;
      const assignee_ids = [...new Set([...assignees(known, before), ...added])];
      return { changes: { assignee_ids }, message: `Assigned ${argument}.` };
    },
  },
  {
    names: ['reassign'],
    kinds: issues,
    who: 'team',
    mean: (argument, known) => {
      const assignee_ids = userIds(argument, known);
      if (assignee_ids.length === 0) return undefined;
      return { changes: { assignee_ids }, message: `Changed assignee(s) to ${argument}.` };
    },
  },
  {
    names: ['unassign', 'remove_assignee'],
    kinds: issues,
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
    kinds: planned,
    who: 'team',
    mean: (argument, known, before) => {
      const names = labelNames(argument, known);
      if (names.length === 0) return undefined;
      const message = `Added ${listed(names)} ${plural(names)}.`;
      if (before.labels) return { changes: { labels: [...before.labels, ...names] }, message };
      return { changes: { add_labels: [...(before.add_labels ?? []), ...names] }, message };
    },
  },
  {
    names: ['unlabel', 'remove_label'],
    kinds: planned,
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
    kinds: planned,
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
  flag(
    ['confidential'],
    ({ now }) => now.confidential,
    { confidential: true },
    (known) => `Made this ${known.kind} confidential.`,
    planned,
  ),
  flag(
    ['lock'],
    ({ now }) => now.locked,
    { discussion_locked: true },
    () => 'Locked the discussion.',
  ),
  flag(
    ['unlock'],
    ({ now }) => !now.locked,
    { discussion_locked: false },
    () => 'Unlocked the discussion.',
  ),
  {
    names: ['duplicate'],
    kinds: issues,
    who: 'team',
    mean: (argument, known) => {
      const duplicated_to_id = known.issues.get(argument);
      return duplicated_to_id === undefined
        ? undefined
        : {
            changes: { duplicated_to_id, state_event: 'close' },
            message: `Closed this issue. Marked as related to, and a duplicate of, ${argument}.`,
          };
    },
  },
  link('relate', 'relates_to', 'Added', 'relate_to', 'linked_to'),
  link('blocks', 'blocks', 'Set as blocking'),
  link('blocked_by', 'is_blocked_by', 'Set as blocked by'),
  ...planningRules,
  ...moveCommandRules,
];

const rulesOf = (kind: 'issue' | 'epic') =>
  byNames([
    ...workRules.filter(({ kinds }) => kinds.includes(kind)),
    ...followRules,
    ...awardRules,
    ...textRules,
  ]);

/** The quick actions of each kind, by name. */
export const workCommandRules = { issue: rulesOf('issue'), epic: rulesOf('epic') };
