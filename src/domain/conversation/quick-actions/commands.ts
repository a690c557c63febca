/** Quick actions: parses the lines of a text that are commands (`/close`). Pure. */

import { fencedLines } from '../mentions/fences.ts';
import type { CommandRule, Effect, Known } from './command-terms.ts';

export type Command = { name: string; argument: string };

export type Interpretation<C, E> = {
  /** The text without its commands. */
  text: string;
  changes: C;
  effects: readonly E[];
  /** One sentence for each command that ran. */
  messages: readonly string[];
  /** Names of the commands that do not apply here, or that the user may not give. */
  refused: readonly string[];
};

const commandLine = /^\/([a-z_]+)(?:[ \t]+([\s\S]*))?$/i;

/** Characters: a longer line stays text, as do lines after MAX_COMMANDS. */
const MAX_LINE_LENGTH = 2_000;
const MAX_COMMANDS = 100;
/** Each effect runs separately: a command that would exceed this is refused. */
const MAX_EFFECTS = 100;

type Named = Pick<CommandRule<never, never, never>, 'names'>;

/** The rules of one kind of noteable, by each of their names. */
export type CommandRules<Rule extends Named> = ReadonlyMap<string, Rule>;

export const byNames = <Rule extends Named>(rules: readonly Rule[]): CommandRules<Rule> =>
  new Map(rules.flatMap((rule) => rule.names.map((name) => [name, rule] as const)));

/** The lines of the text with their commands; a line in code has none. */
function readLines(
  text: string,
  rules: CommandRules<Named>,
  most = MAX_COMMANDS,
): { line: string; command?: Command }[] {
  const lines = text.split(/\r?\n/);
  const fenced = fencedLines(lines);
  let read = 0;
  return lines.map((line, at) => {
    if (read >= most || fenced[at] || !line.startsWith('/') || line.length > MAX_LINE_LENGTH) return { line };
    const [, name = '', argument = ''] = commandLine.exec(line.trimEnd()) ?? [];
    if (!rules.has(name.toLowerCase())) return { line };
    read += 1;
    return { line, command: { name: name.toLowerCase(), argument } };
  });
}

/** The commands in the text, in their order. */
export const commandsIn = (text: string, rules: CommandRules<Named>): Command[] =>
  text.includes('/') ? readLines(text, rules).flatMap(({ command }) => command ?? []) : [];

/**
 * What is left of a text, which is saved again with every change of it, maybe by somebody who may do more than who wrote it: a
 * line that would be a command then gets a backslash, which Markdown does not show.
 */
const asText = (left: string, rules: CommandRules<Named>): string =>
  readLines(left, rules, Number.POSITIVE_INFINITY)
    .map(({ line, command }) => (command ? `\\${line}` : line))
    .join('\n');

/** The text without its commands, and their changes and effects. */
export function interpretCommands<K extends Known, C extends object, E extends Effect>(
  text: string,
  known: K,
  rules: CommandRules<CommandRule<K, C, E>>,
): Interpretation<C, E> {
  // Properties of changes are all optional.
  let changes = {} as C;
  const effects: E[] = [];
  const messages: string[] = [];
  const refused: string[] = [];
  const kept: string[] = [];
  for (const { line, command } of readLines(text, rules)) {
    const rule = command && rules.get(command.name);
    if (!rule) {
      kept.push(line);
      continue;
    }
    const { update, metadata } = known.may;
    const allowed = { speakers: true, author: update, team: metadata }[rule.who];
    const outcome = allowed ? rule.mean(command.argument, known, changes) : undefined;
    const added = outcome?.effects ?? [];
    const leavesTwice = added.some(leaves) && effects.some(leaves);
    if (!outcome || leavesTwice || effects.length + added.length > MAX_EFFECTS) {
      refused.push(command.name);
      continue;
    }
    changes = { ...changes, ...outcome.changes };
    effects.push(...added);
    if (outcome.message !== undefined) messages.push(outcome.message);
    if (outcome.text !== undefined) kept.push(outcome.text);
  }
  return { text: asText(kept.join('\n').trim(), rules), changes, effects, messages, refused };
}

export const leaves = (effect: Effect): boolean => effect.leaves === true;
export const stays = (effect: Effect): boolean => !leaves(effect);
