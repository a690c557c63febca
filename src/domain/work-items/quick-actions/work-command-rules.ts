/** The quick actions of issues and epics, one row each: names, noteables, permission, meaning. Pure. */

import { byNames, type CommandRule } from '../../conversation/index.ts';
import { moveCommandRules } from './move-commands.ts';
import { planningRules } from './planning-commands.ts';
import { sharedRulesOf } from './shared-commands.ts';
import {
  type Changes,
  issues,
  type Known,
  planned,
  type WorkCommandRule,
  type WorkEffect,
} from './work-command-terms.ts';

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

const workRules: readonly WorkCommandRule[] = [
  {
    names: ['confidential'],
    kinds: planned,
    who: 'team',
    mean: (_argument, { now, kind }) =>
      now.confidential
        ? undefined
        : { changes: { confidential: true }, message: `Made this ${kind} confidential.` },
  },
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
  byNames<CommandRule<Known, Changes, WorkEffect>>([
    ...workRules.filter(({ kinds }) => kinds.includes(kind)),
    ...sharedRulesOf(kind),
  ]);

/** The quick actions of each kind, by name. */
export const workCommandRules = { issue: rulesOf('issue'), epic: rulesOf('epic') };
