/** Quick actions: parses the lines of a text that are commands (`/close`). Pure. */

import { fencedLines } from './code-spans.ts';
import { commandRules } from './command-rules.ts';
import { type Changes, type Effect, isMoveAction, type Known } from './command-terms.ts';
import type { NoteableKind } from './noteables.ts';

export type { Effect, Known } from './command-terms.ts';

export type Command = { name: string; argument: string };

export type Interpretation = {
  /** The text without its commands. */
  text: string;
  changes: Changes;
  effects: readonly Effect[];
  /** One sentence for each command that ran. */
  messages: readonly string[];
  /** Names of the commands that do not apply here, or that the user may not give. */
  refused: readonly string[];
};

const rulesByName = new Map(commandRules.flatMap((rule) => rule.names.map((name) => [name, rule] as const)));

const commandLine = /^\/([a-z_]+)(?:[ \t]+([\s\S]*))?$/i;

/** Characters: a longer line stays text, as do lines after MAX_COMMANDS. */
const MAX_LINE_LENGTH = 2_000;
const MAX_COMMANDS = 100;
/** Each effect runs separately: a command that would exceed this is refused. */
const MAX_EFFECTS = 100;

/** The lines of the text with their commands; a line in code has none. */
function readLines(text: string, kind: NoteableKind): { line: string; command?: Command }[] {
  const lines = text.split(/\r?\n/);
  const fenced = fencedLines(lines);
  let read = 0;
  return lines.map((line, at) => {
    if (fenced[at] || !line.startsWith('/') || line.length > MAX_LINE_LENGTH) return { line };
    const [, name = '', argument = ''] = commandLine.exec(line.trimEnd()) ?? [];
    const rule = rulesByName.get(name.toLowerCase());
    if (!rule?.kinds.includes(kind) || read >= MAX_COMMANDS) return { line };
    read += 1;
    return { line, command: { name: name.toLowerCase(), argument } };
  });
}

/** The commands in the text, in their order. */
export const commandsIn = (text: string, kind: NoteableKind): Command[] =>
  text.includes('/') ? readLines(text, kind).flatMap(({ command }) => command ?? []) : [];

/** The text without its commands, and their changes and effects. */
export function interpretCommands(text: string, known: Known): Interpretation {
  let changes: Changes = {};
  const effects: Effect[] = [];
  const messages: string[] = [];
  const refused: string[] = [];
  const kept: string[] = [];
  for (const { line, command } of readLines(text, known.kind)) {
    const rule = command && rulesByName.get(command.name);
    if (!rule) {
      kept.push(line);
      continue;
    }
    const { update, metadata } = known.may;
    const allowed = { speakers: true, author: update, team: metadata }[rule.who];
    const outcome = allowed ? rule.mean(command.argument, known, changes) : undefined;
    const added = outcome?.effects ?? [];
    const leavesTwice = added.some(isMoveAction) && effects.some(isMoveAction);
    if (!outcome || leavesTwice || effects.length + added.length > MAX_EFFECTS) {
      refused.push(command.name);
      continue;
    }
    changes = { ...changes, ...outcome.changes };
    effects.push(...added);
    if (outcome.message !== undefined) messages.push(outcome.message);
    if (outcome.text !== undefined) kept.push(outcome.text);
  }
  return { text: kept.join('\n').trim(), changes, effects, messages, refused };
}
