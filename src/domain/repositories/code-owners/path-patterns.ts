/**
 * Patterns of paths in a code owners file, and which of many a path fits (facts: merge requests §6.4). Pure.
 *
 * Names between slashes are looked up where they have no wildcard, and a prefix that patterns share is looked at once. A
 * wildcard never crosses a slash, so that a name takes at worst the product of both lengths, whatever the pattern. What all of
 * them take is counted, and may be bounded.
 */

/** How much may still be compared: each look at a prefix, a character, or a member of a class is a step. */
export type Steps = { left: number };

/** Any characters of a name. */
const STAR = Symbol('*');
/** One of several characters. */
type CharacterSet = { has(character: string): boolean; size: number };
/** `*`, a character, or several of which one fits. */
type Token = typeof STAR | string | CharacterSet;

const anyCharacter: CharacterSet = { has: () => true, size: 1 };

type Step = '**' | { source: string; tokens: readonly Token[] | undefined };

type Scan = { characters: readonly string[]; at: number };

type CharacterClass = { token: Token; end: number };

/** The class that begins at the `[`, and the place behind it; undefined where no `]` ends it. */
function readClass({ characters, at }: Scan): CharacterClass | undefined {
  let next = at + 1;
  const negated = characters[next] === '!' || characters[next] === '^';
  if (negated) next += 1;
  const singles = new Set<string>();
  const ranges: [first: string, last: string][] = [];
  for (let isFirst = true; ; isFirst = false) {
    const [character, behind] = unescaped({ characters, at: next });
    if (character === undefined) return undefined;
    // A `]` in the first place is a member.
    if (characters[next] === ']' && !isFirst) break;
    const isRange = characters[behind] === '-' && ![undefined, ']'].includes(characters[behind + 1]);
    const [last = '', end] = isRange ? unescaped({ characters, at: behind + 1 }) : [character, behind];
    if (isRange) ranges.push([character, last]);
    else singles.add(character);
    next = end;
  }
  const has = (character: string) =>
    singles.has(character) || ranges.some(([first, last]) => character >= first && character <= last);
  const token = { has: (character: string) => has(character) !== negated, size: 1 + ranges.length };
  return { token, end: next + 1 };
}

/** The character at a place, which a backslash may come before, and the place behind it. */
function unescaped({ characters, at }: Scan): [character: string | undefined, end: number] {
  const isEscaped = characters[at] === '\\' && characters[at + 1] !== undefined;
  return isEscaped ? [characters[at + 1], at + 2] : [characters[at], at + 1];
}

/** A name of a pattern; without tokens where it has no wildcard, and `source` is then what it stands for. */
function readName(text: string): Step {
  if (!/[\\*?[]/.test(text)) return { source: text, tokens: undefined };
  const characters = [...text];
  const tokens: Token[] = [];
  let plain: string | undefined = '';
  // An unfinished class is read to the end once: what follows it is in none either.
  let isFinished = true;
  for (let at = 0; at < characters.length; ) {
    const character = characters[at];
    const found: CharacterClass | undefined =
      character === '[' && isFinished ? readClass({ characters, at }) : undefined;
    if (character === '[' && !found) isFinished = false;
    if (found || character === '*' || character === '?') {
      plain = undefined;
      const token = found?.token ?? (character === '*' ? STAR : anyCharacter);
      if (token !== STAR || tokens.at(-1) !== STAR) tokens.push(token);
      at = found?.end ?? at + 1;
    } else {
      const [literal = '', end] = unescaped({ characters, at });
      if (plain !== undefined) plain += literal;
      tokens.push(literal);
      at = end;
    }
  }
  return plain === undefined ? { source: text, tokens } : { source: plain, tokens: undefined };
}

/** The names of a pattern from the root on; a path has at least one name behind a `**`. */
function readPattern(pattern: string): Step[] {
  const names = pattern.split('/').filter((name) => name !== '');
  const below = pattern.endsWith('/') || names.at(-1) === '**' ? ['**', '*'] : [];
  const all = [...(pattern.startsWith('/') ? [] : ['**']), ...names, ...below];
  return all
    .filter((name, at) => name !== '**' || all[at - 1] !== '**')
    .map((name) => (name === '**' ? name : readName(name)));
}

function fits(token: Token | undefined, character: string, steps: Steps): boolean {
  if (typeof token !== 'object') return token === character;
  steps.left -= token.size;
  return token.has(character);
}

/** Whether the characters fit; the latest `*` takes as few as do. False also where no step is left. */
function fitsTokens(tokens: readonly Token[], characters: readonly string[], steps: Steps): boolean {
  let star = -1;
  let taken = 0;
  let token = 0;
  for (let at = 0; at < characters.length; ) {
    if (--steps.left < 0) return false;
    const wanted = tokens[token];
    if (wanted === STAR) {
      star = token;
      taken = at;
      token += 1;
    } else if (fits(wanted, characters[at] ?? '', steps)) {
      token += 1;
      at += 1;
    } else if (star >= 0) {
      taken += 1;
      at = taken;
      token = star + 1;
    } else return false;
  }
  return tokens.slice(token).every((each) => each === STAR);
}

/** Patterns that begin alike, as a tree of their names. */
type Node = {
  names: Map<string, Node>;
  wildcards: Map<string, { tokens: readonly Token[]; node: Node }>;
  /** What comes behind a `**`, which takes any number of names. */
  deep: Node | undefined;
  isDeep: boolean;
  /** The places of the patterns that end here. */
  places: number[];
};

const createNode = (isDeep: boolean): Node => ({
  names: new Map(),
  wildcards: new Map(),
  deep: undefined,
  isDeep,
  places: [],
});

function follow(node: Node, step: Step): Node {
  if (step === '**') {
    node.deep ??= createNode(true);
    return node.deep;
  }
  const { source, tokens } = step;
  const known = tokens ? node.wildcards.get(source)?.node : node.names.get(source);
  if (known) return known;
  const made = createNode(false);
  if (tokens) node.wildcards.set(source, { tokens, node: made });
  else node.names.set(source, made);
  return made;
}

function enter(node: Node, reached: Set<Node>): void {
  reached.add(node);
  if (node.deep) reached.add(node.deep);
}

export type PatternIndex = {
  add(pattern: string, place: number): void;
  /**
   * The places of the patterns that a path fits, in ascending order; it begins without a slash. Undefined where that takes
   * more steps than are left.
   */
  find(path: string, steps: Steps): number[] | undefined;
};

export function createPatternIndex(): PatternIndex {
  const root = createNode(false);
  return {
    add: (pattern, place) => readPattern(pattern).reduce(follow, root).places.push(place),
    find(path, steps) {
      let reached = new Set<Node>();
      enter(root, reached);
      for (const name of path.split('/')) {
        const next = new Set<Node>();
        const characters = [...name];
        steps.left -= characters.length;
        for (const node of reached) {
          if (--steps.left < 0) return undefined;
          if (node.isDeep) next.add(node);
          const named = node.names.get(name);
          if (named) enter(named, next);
          for (const { tokens, node: child } of node.wildcards.values()) {
            if (--steps.left < 0) return undefined;
            if (fitsTokens(tokens, characters, steps)) enter(child, next);
          }
        }
        reached = next;
      }
      return steps.left < 0 ? undefined : [...reached].flatMap(({ places }) => places).sort((a, b) => a - b);
    },
  };
}
