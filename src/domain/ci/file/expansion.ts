/** References to variables in texts: `$NAME`, `${NAME}` and `%NAME%`; `$$` and `%%` stay as they are. Pure. */

export type Expandable = { key: string; value: string; raw?: boolean; file?: boolean };

const reference = /\$\$|%%|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|%([A-Za-z_]\w*)%/g;

/** Characters that expanded values may have together, beyond those that refer to nothing. */
const MAX_EXPANDED_LENGTH = 1024 * 1024;
const MAX_CHAIN_LENGTH = 100;

/** The characters that references may still add; below zero, some were left out. */
type Room = { left: number };

export const newRoom = (): Room => ({ left: MAX_EXPANDED_LENGTH });

/** The text with what the names stand for; without a meaning, a reference stays or leaves nothing, and without room nothing. */
export function expandText(
  text: string,
  lookup: (name: string) => string | undefined,
  undefinedNames: 'keep' | 'blank' = 'blank',
  room: Room = newRoom(),
): string {
  if (!/[$%]/.test(text)) return text;
  return text.replace(reference, (whole, plain?: string, braced?: string, percent?: string) => {
    const name = plain ?? braced ?? percent;
    if (name === undefined) return whole;
    const value = lookup(name);
    if (value === undefined) return undefinedNames === 'keep' ? whole : '';
    room.left -= value.length;
    return room.left < 0 ? '' : value;
  });
}

const namesIn = new WeakMap<Expandable, readonly string[]>();

/** The names that the value refers to, each as often as it does; a raw one refers to nothing. */
function referencesOf(variable: Expandable): readonly string[] {
  if (variable.raw || !/[$%]/.test(variable.value)) return [];
  const known = namesIn.get(variable);
  if (known) return known;
  const names = Array.from(
    variable.value.matchAll(reference),
    ([, plain, braced, percent]) => plain ?? braced ?? percent ?? '',
  ).filter((name) => name !== '' && name !== variable.key);
  namesIn.set(variable, names);
  return names;
}

/** Later ones win. */
const byKey = <V extends Expandable>(variables: Iterable<V>): Map<string, V> =>
  new Map(Array.from(variables, (variable) => [variable.key, variable]));

/** Variables by their names. */
export type VariableSource = (name: string) => Expandable | undefined;

export function sourceOf(variables: Iterable<Expandable>): VariableSource {
  const all = byKey(variables);
  return (name) => all.get(name);
}

type Measure = { length: number; depth: number };

/** Names by which values refer to each other in a circle, or what else forbids expansion; undefined for good ones. */
export function expansionProblem(
  variables: Iterable<Expandable>,
  find: VariableSource = sourceOf(variables),
): string | undefined {
  const measures = new Map<string, Measure>();
  let expanded = 0;
  for (const start of variables) {
    if (measures.has(start.key) || referencesOf(start).length === 0) continue;
    // By hand, since a chain may be longer than calls can be nested.
    const path = [{ variable: start, next: 0 }];
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const { key, value } = step.variable;
      const names = referencesOf(step.variable);
      const name = names[step.next];
      step.next += 1;
      if (name === undefined) {
        const below = names.map((each) => measures.get(each) ?? { length: 0, depth: 0 });
        const length = below.reduce((sum, each) => sum + each.length, 0);
        const depth = 1 + below.reduce((most, each) => Math.max(most, each.depth), 0);
        const literal = names.length === 0 ? value : value.replace(reference, '');
        measures.set(key, { length: literal.length + length, depth });
        expanded += length;
        if (expanded > MAX_EXPANDED_LENGTH)
          return `the value of ${key} is too long when its references are expanded`;
        if (depth > MAX_CHAIN_LENGTH)
          return `the references of ${key} lead further than ${MAX_CHAIN_LENGTH} variables`;
        path.pop();
        continue;
      }
      const circle = path.findIndex(({ variable }) => variable.key === name);
      if (circle >= 0) return circleProblem(path.slice(circle).map(({ variable }) => variable.key));
      const referred = find(name);
      if (referred && !measures.has(name)) path.push({ variable: referred, next: 0 });
      if (path.length > MAX_CHAIN_LENGTH)
        return `the references of ${start.key} lead further than ${MAX_CHAIN_LENGTH} variables`;
    }
  }
  return undefined;
}

const circleProblem = (names: string[]): string =>
  `circular variable reference detected: [${names.map((name) => `"${name}"`).join(', ')}]`;

/** What names stand for, wholly expanded; undefined for unknown ones. What expansionProblem() refuses is left blank. */
export function variableLookup(
  find: VariableSource,
  room: Room = newRoom(),
): (name: string) => string | undefined {
  const known = new Map<string, string>();
  let depth = 0;
  const lookup = (name: string): string | undefined => {
    const variable = find(name);
    if (!variable || variable.raw) return variable?.value;
    const found = known.get(name);
    if (found !== undefined) return found;
    // A value that refers to itself finds nothing.
    known.set(name, '');
    if (depth > MAX_CHAIN_LENGTH) {
      room.left = -1;
      return '';
    }
    depth += 1;
    const value = expandText(variable.value, lookup, 'blank', room);
    depth -= 1;
    known.set(name, value);
    return value;
  };
  return lookup;
}

/**
 * The variables as a runner gets them: each after those that it refers to, expanded but for what is unknown, raw, or the
 * content of a file. Undefined where they are too long then, or lead too far.
 */
export function expandForRunner<V extends Expandable>(variables: readonly V[]): V[] | undefined {
  const all = byKey(variables);
  const room = newRoom();
  let depth = 0;
  const expanded = new Map<string, V>();
  const expand = (variable: V): V => {
    const known = expanded.get(variable.key);
    if (known) return known;
    // Of those that refer to each other in a circle, one stays as it is.
    expanded.set(variable.key, variable);
    if (variable.raw) return variable;
    if (depth > MAX_CHAIN_LENGTH) {
      room.left = -1;
      return variable;
    }
    depth += 1;
    const value = expandText(
      variable.value,
      (name) => {
        const referred = name === variable.key ? undefined : all.get(name);
        return referred && !referred.raw && !referred.file ? expand(referred).value : undefined;
      },
      'keep',
      room,
    );
    depth -= 1;
    const result = value === variable.value ? variable : { ...variable, value };
    expanded.delete(variable.key);
    expanded.set(variable.key, result);
    return result;
  };
  for (const variable of all.values()) expand(variable);
  return room.left < 0 ? undefined : [...expanded.values()];
}
