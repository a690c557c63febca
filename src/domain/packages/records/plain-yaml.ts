/** Reads YAML that strangers send, in bounded time: texts as they are written, nulls and flags. Pure. */
import { Lexer, parse } from 'yaml';

const options = {
  // Numbers stay as they are written: the version `1.10` is not 1.1.
  schema: 'failsafe',
  customTags: ['null', 'bool'] as ('null' | 'bool')[],
  // The check of keys compares each with each.
  uniqueKeys: false,
  logLevel: 'error',
} as const;

const MAX_DEPTH = 20;

/** Whether the parser would take long: records and lists are too deep in each other, or there are too many. */
function isTooMuch(text: string, lexemes: number): boolean {
  let depth = 0;
  let ofLine = 0;
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') depth += 1;
    else if (lexeme === ']' || lexeme === '}') depth -= 1;
    else if (lexeme === '-' || lexeme === '?') ofLine += 1;
    else if (lexeme.startsWith('\n') || lexeme.startsWith('\r')) ofLine = 0;
    count += 1;
    if (depth > MAX_DEPTH || ofLine > MAX_DEPTH || count > lexemes) return true;
  }
  return false;
}

/** What is wrong with a text: the message says it, behind the name of the file. */
export class YamlError extends Error {}

/** Throws YamlError. */
export function parsePlainYaml(text: string, { lexemes }: { lexemes: number }): unknown {
  if (isTooMuch(text, lexemes)) throw new YamlError('too long, or too deep');
  try {
    return parse(text, options);
  } catch {
    throw new YamlError('not YAML');
  }
}
