/** The issues of a Jira project that texts name, and those that they close: `Closes STONE-1, STONE-2 and STONE-3`. Pure, in time linear in the text. */
import type { Match } from '../../../platform/patterns/pattern.ts';

const keyword =
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? +/gi;
const separator = / *(?:, *)?(?:(?<= )and +)?/y;
/** Of one event. */
const MAX_KEYS = 20;

const key = /(?<![\w-])[A-Z][A-Z0-9_]{1,31}-\d{1,10}(?![\w-])/g;
/** The keys in a text, in order, where they are. */
export type FindKeys = (text: string) => Match[];
const commonKeys: FindKeys = (text) =>
  Array.from(text.matchAll(key), ({ 0: group, index }) => ({
    start: index,
    end: index + group.length,
    group,
  }));

function separatedFrom(text: string, at: number): number {
  separator.lastIndex = at;
  return at + (separator.exec(text)?.[0] ?? '').length;
}

/** Each once, the first twenty. */
export function closedKeys(texts: readonly string[], find = commonKeys): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    const matches = new Map(find(text).map((match) => [match.start, match]));
    for (const { 0: word, index } of text.matchAll(keyword)) {
      let at = index + word.length;
      for (let match = matches.get(at); match; match = matches.get(at)) {
        found.add(match.group);
        if (found.size === MAX_KEYS) return [...found];
        at = separatedFrom(text, match.end);
        if (at === match.end) break;
      }
    }
  }
  return [...found];
}

/** Each once, the first twenty. */
export const namedKeys = (text: string, find = commonKeys): string[] =>
  [...new Set(find(text).map(({ group }) => group))].slice(0, MAX_KEYS);
