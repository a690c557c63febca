/** The quick actions that need nothing but a noteable and a user. Pure. */
import type { CommandRule, Known } from './command-terms.ts';

/** Effects of these; applyOwnEffect() runs them. */
export type OwnEffect = { do: 'subscribe' | 'unsubscribe' | 'todo' | 'done' } | { do: 'award'; name: string };

type OwnRule = CommandRule<Known, never, OwnEffect>;

const follow = (name: string, effect: OwnEffect, message: (known: Known) => string): OwnRule => ({
  names: [name],
  who: 'speakers',
  mean: (_argument, known) => ({ effects: [effect], message: message(known) }),
});

const append = (name: string, face: string): OwnRule => ({
  names: [name],
  who: 'speakers',
  mean: (argument) => ({ text: `${argument} ${face}`.trim() }),
});

/** Of noteables that people subscribe to, and have to-dos about. */
export const followRules: readonly OwnRule[] = [
  follow('subscribe', { do: 'subscribe' }, ({ kind }) => `Subscribed to this ${kind}.`),
  follow('unsubscribe', { do: 'unsubscribe' }, ({ kind }) => `Unsubscribed from this ${kind}.`),
  follow('todo', { do: 'todo' }, () => 'Added a to-do item.'),
  follow('done', { do: 'done' }, () => 'Marked to-do item as done.'),
];

/** Of noteables that take awards. */
export const awardRules: readonly OwnRule[] = [
  {
    names: ['react', 'award'],
    who: 'speakers',
    mean: (argument) => {
      const [, name] = /^:([\w+-]+):$/.exec(argument) ?? [];
      return name === undefined
        ? undefined
        : { effects: [{ do: 'award', name }], message: `Toggled :${name}: emoji reaction.` };
    },
  },
];

/** Of all noteables. */
export const textRules: readonly OwnRule[] = [
  append('shrug', '¯\\＿(ツ)＿/¯'),
  append('tableflip', '(╯°□°)╯︵ ┻━┻'),
];
