/**
 * Patterns that users write, in the syntax of RE2, for titles and names of branches. They are run by an engine whose time grows
 * with the text alone, for patterns of bounded size; it is loaded where there is a pattern.
 */
/** Steps of the program that a pattern is: what these take for the longest title is some milliseconds. */
const MAX_SIZE = 1_000;
/** Of a pattern that is looked for all over texts. */
export const MAX_SIZE_IN_TEXTS = 200;
/** Characters of a text that are looked through at once, on the thread that answers requests. */
export const MAX_SEARCHED = 1_024;
/** Each is looked for up to the end of the text, wherever it ends. */
const MAX_MATCHES = 20;

const engine = () => import('re2js');
type Engine = Awaited<ReturnType<typeof engine>>;

/** `end` is that of the match. */
export type Match = { start: number; end: number; group: string };

type Compiled =
  | {
      test: (text: string) => boolean;
      /** The last match; where the pattern has groups, what its last group is there. */
      findLast: (text: string) => string | undefined;
      /** The first twenty matches in order, with what their first group is: for patterns that have one. */
      findFirst: (text: string) => Match[];
      /** What the named groups are in the first match. */
      findNamed: (text: string) => Readonly<Record<string, string>> | undefined;
    }
  | { problem: string };

function compile({ RE2JS, RE2JSException }: Engine, pattern: string, maxSize = MAX_SIZE): Compiled {
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.programSize() > maxSize) return { problem: 'is too complex' };
    const findLast = (text: string): string | undefined => {
      const matcher = compiled.matcher(text);
      let last: string | null | undefined;
      while (matcher.find()) last = matcher.group(matcher.groupCount());
      return last ?? undefined;
    };
    const findFirst = (text: string): Match[] => {
      const matcher = compiled.matcher(text);
      const found: Match[] = [];
      while (found.length < MAX_MATCHES && matcher.find())
        found.push({ start: matcher.start(), end: matcher.end(), group: matcher.group(1) ?? '' });
      return found;
    };
    const names = Object.keys(compiled.namedGroups());
    const findNamed = (text: string): Record<string, string> | undefined => {
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return undefined;
      return Object.fromEntries(names.map((name) => [name, matcher.group(name) ?? '']));
    };
    return { test: (text) => compiled.test(text), findLast, findFirst, findNamed };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace('error parsing regexp: ', '');
    return { problem: `is not valid RE2 syntax: ${reason}` };
  }
}

/** A test of texts, or what is wrong with the pattern. */
export type PatternCompiler = (pattern: string, maxSize?: number) => Compiled;

/** For many patterns that are not known beforehand. */
export async function patternCompiler(): Promise<PatternCompiler> {
  const loaded = await engine();
  return (pattern, maxSize) => compile(loaded, pattern, maxSize);
}

/** What is wrong with a new pattern; undefined for a good one. */
export async function patternProblem(pattern: string): Promise<string | undefined> {
  const compiled = compile(await engine(), pattern);
  return 'problem' in compiled ? compiled.problem : undefined;
}

/** The pattern that texts match as a whole. */
export const wholly = (pattern: string): string => `\\A(?:${pattern})\\z`;

/** What is wrong with a pattern that whole texts are held to; undefined for a good one. */
export function wholePatternProblem(compile: PatternCompiler, pattern: string): string | undefined {
  // By itself, too: `a)|(b` would be a good one inside of others.
  for (const each of [pattern, wholly(pattern)]) {
    const compiled = compile(each);
    if ('problem' in compiled) return compiled.problem;
  }
  return undefined;
}

/** Whether a text is as a pattern wants it; true where there is none. */
export type PatternMatcher = (pattern: string | null, text: string) => boolean;

/** The matcher for some patterns. One that is wrong, of the time when any was kept, is met by no text. */
export async function patternMatcher(patterns: readonly (string | null)[]): Promise<PatternMatcher> {
  if (!patterns.some(Boolean)) return () => true;
  const loaded = await engine();
  const compiled = new Map<string, Compiled>();
  return (pattern, text) => {
    if (!pattern) return true;
    const known = compiled.get(pattern) ?? compile(loaded, pattern);
    compiled.set(pattern, known);
    return 'test' in known && known.test(text);
  };
}
