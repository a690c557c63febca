/**
 * The pattern of a project for titles of merge requests, in the syntax of RE2. Whoever administers the project writes it: it is
 * run by an engine whose time grows with the title alone, for patterns of bounded size, and loaded where there is one.
 */
/** Steps of the program that a pattern is: what these take for the longest title is some milliseconds. */
const MAX_SIZE = 1_000;

const engine = () => import('re2js');
type Engine = Awaited<ReturnType<typeof engine>>;

type Compiled = { test: (title: string) => boolean } | { problem: string };

function compile({ RE2JS, RE2JSException }: Engine, pattern: string): Compiled {
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.programSize() > MAX_SIZE) return { problem: 'is too complex' };
    return { test: (title) => compiled.test(title) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace('error parsing regexp: ', '');
    return { problem: `is not valid RE2 syntax: ${reason}` };
  }
}

/** What is wrong with a new pattern; undefined for a good one. */
export async function titlePatternProblem(pattern: string): Promise<string | undefined> {
  const compiled = compile(await engine(), pattern);
  return 'problem' in compiled ? compiled.problem : undefined;
}

/** Whether a title is as a pattern wants it; true where there is none. */
export type TitleMatcher = (pattern: string | null, title: string) => boolean;

/** The matcher for some patterns. One that is wrong, of the time when any was kept, is met by no title. */
export async function titleMatcher(patterns: readonly (string | null)[]): Promise<TitleMatcher> {
  if (!patterns.some(Boolean)) return () => true;
  const loaded = await engine();
  const compiled = new Map<string, Compiled>();
  return (pattern, title) => {
    if (!pattern) return true;
    const known = compiled.get(pattern) ?? compile(loaded, pattern);
    compiled.set(pattern, known);
    return 'test' in known && known.test(title);
  };
}
