/** YAML 1.1 as configuration files use it: no tag but `!reference`, aliases and merge keys in bounded size. Pure. */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type ParsedNode,
  type Scalar,
  stringify,
  type Tags,
} from 'yaml';
import { composeInSteps } from '../../../../platform/documents/yaml.ts';
import { takeTurns } from '../../../../platform/turns.ts';
import type { Path } from './problem.ts';
import { type Hash, isHash, Reference, sizeOf, type Value } from './value.ts';

/** Characters of a file, as it is written and with its aliases written out. */
export const MAX_YAML_LENGTH = 2 * 1024 * 1024;
const MAX_DEPTH = 100;
/** What is read between looks at the clock. */
const STEPS_OF_TURN = 1_000;
/** A header, and what follows it. */
const MAX_DOCUMENTS = 2;

class YamlProblem extends Error {
  readonly offset: number | undefined;
  constructor(message: string, offset?: number) {
    super(message);
    this.offset = offset;
  }
}

/** Offsets of the keys of hashes and of the items of lists. */
type Offsets = Map<object, Map<string | number, number>>;

const notOfConfigurations = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set']);
const nameOfTag = (tag: Tags[number]): string =>
  typeof tag === 'string' ? tag : tag.tag.replace('tag:yaml.org,2002:', '');

const options = {
  version: '1.1',
  schema: 'yaml-1.1',
  customTags: (tags: Tags) => tags.filter((tag) => !notOfConfigurations.has(nameOfTag(tag))),
} as const;

/** The documents of a file, or what is wrong with it, as a sentence for its author, and where, if it is at one place. */
export async function readYaml(
  text: string,
): Promise<{ documents: Value[] } | { problem: string; offset: number | undefined }> {
  if (text.length > MAX_YAML_LENGTH) return { problem: 'The provided YAML is too big', offset: undefined };
  try {
    return { documents: await documentsOf(text) };
  } catch (error) {
    if (error instanceof YamlProblem) return { problem: error.message, offset: error.offset };
    throw error;
  }
}

/**
 * Where the keys and items of a document stand, of a text without problems. Of a path that leads nowhere, the last part that
 * is there counts; `keyOf` says what a key is in paths.
 */
export async function readPlaces(
  text: string,
  document: number,
  keyOf: (key: string) => string,
): Promise<(path: Path) => number> {
  const offsets: Offsets = new Map();
  const starts: number[] = [];
  const documents = await documentsOf(text, { offsets, starts });
  const names = new Map<Hash, Map<string, string>>();
  const namesOf = (hash: Hash): Map<string, string> => {
    const known = names.get(hash) ?? new Map(Array.from(hash.keys(), (key) => [keyOf(key), key]));
    names.set(hash, known);
    return known;
  };
  return (path) => {
    let value = documents[document];
    let offset = starts[document] ?? 0;
    for (const part of path) {
      if (typeof value !== 'object' || value === null || value instanceof Reference) break;
      const key = isHash(value) ? namesOf(value).get(String(part)) : part;
      const found = key === undefined ? undefined : offsets.get(value)?.get(key);
      if (found === undefined) break;
      offset = found;
      value = isHash(value) ? value.get(String(key)) : value[Number(key)];
    }
    return offset;
  };
}

/** A configuration as a text that means the same. */
export const writeYaml = (config: Hash): string =>
  `---\n${stringify(config, { ...options, aliasDuplicateObjects: false, lineWidth: 0 })}`;

async function documentsOf(
  text: string,
  recorded?: { offsets: Offsets; starts: number[] },
): Promise<Value[]> {
  const othersTurn = takeTurns();
  const values: Value[] = [];
  const take = (documents: Iterable<Document.Parsed>) => {
    for (const { contents, errors } of documents) {
      const [error] = errors;
      if (error) throw new YamlProblem(`(<unknown>): ${error.message}`, error.pos[0]);
      const start = contents?.range[0] ?? 0;
      if (values.length === MAX_DOCUMENTS)
        throw new YamlProblem(`The YAML has more than ${MAX_DOCUMENTS} documents`, start);
      recorded?.starts.push(start);
      values.push(new Reading(recorded?.offsets).valueOf(contents, 0));
    }
  };
  let steps = 0;
  const tooDeep = () => new YamlProblem('The parsed YAML is too big');
  for (const documents of composeInSteps(text, options, { depth: MAX_DEPTH, tooDeep })) {
    take(documents);
    steps += 1;
    if (steps % STEPS_OF_TURN === 0) await othersTurn();
  }
  return values;
}

/** One document's nodes as values; what anchors name is shared. */
class Reading {
  readonly #offsets: Offsets | undefined;
  readonly #anchors = new Map<string, Value>();

  constructor(offsets: Offsets | undefined) {
    this.#offsets = offsets;
  }

  valueOf(node: ParsedNode | null, depth: number): Value {
    if (depth > MAX_DEPTH) throw new YamlProblem('The parsed YAML is too big');
    if (node === null) return null;
    if (isAlias(node)) {
      const value = this.#anchors.get(node.source);
      if (value === undefined) throw new YamlProblem(`Unknown alias: ${node.source}`, node.range[0]);
      return value;
    }
    const value = this.#contentOf(node, depth);
    if (sizeOf(value) > MAX_YAML_LENGTH) throw new YamlProblem('The parsed YAML is too big');
    if (node.anchor) this.#anchors.set(node.anchor, value);
    return value;
  }

  #contentOf(node: Exclude<ParsedNode, { source: string; value?: never }>, depth: number): Value {
    if (isScalar(node)) return scalarOf(node);
    if (isSeq(node)) {
      const items = node.items.map((item) => this.valueOf(item as ParsedNode, depth + 1));
      this.#offsets?.set(items, new Map(node.items.map((item, i) => [i, offsetOf(item)])));
      if (node.tag !== '!reference') return items;
      const path = items.filter((item) => typeof item === 'string' || typeof item === 'number');
      return new Reference(path.length === items.length ? path.map(String) : []);
    }
    const hash: Hash = new Map();
    if (!isMap(node)) return hash;
    const offsets = this.#offsets && new Map<string | number, number>();
    if (offsets) this.#offsets?.set(hash, offsets);
    for (const { key, value } of node.items) {
      const isMerge = isScalar(key) && key.type === 'PLAIN' && key.source === '<<';
      const content = this.valueOf(value as ParsedNode | null, depth + 1);
      const sources = isMerge ? mergeSources(content) : undefined;
      for (const source of sources ?? []) {
        for (const [name, item] of source) hash.set(name, item);
        for (const [name, offset] of this.#offsets?.get(source) ?? []) offsets?.set(name, offset);
      }
      if (sources) continue;
      const name = this.#keyOf(key as ParsedNode, depth);
      hash.set(name, content);
      offsets?.set(name, offsetOf(key ?? value));
    }
    return hash;
  }

  /** As it is written: `on` is no boolean here. */
  #keyOf(key: ParsedNode | null, depth: number): string {
    if (isScalar(key)) return key.source;
    const value = this.valueOf(key, depth + 1);
    if (value === null) return '';
    if (typeof value === 'object') throw new YamlProblem('Invalid YAML syntax', offsetOf(key));
    return String(value);
  }
}

/** What `<<` brings wins over what stands before it, and of its list the first: it comes last. */
function mergeSources(content: Value): Hash[] | undefined {
  const sources = Array.isArray(content) ? content.toReversed() : [content];
  return sources.every(isHash) ? sources : undefined;
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

function scalarOf(node: Scalar.Parsed): Value {
  const { value, source } = node;
  // The letters y and n are letters.
  if (typeof value === 'boolean' && source.length === 1) return source;
  if (typeof value !== 'number') return typeof value === 'bigint' ? source : (value as Value);
  if (!/[.eE]/.test(source) || /^[-+]?0x/i.test(source)) return Number.isSafeInteger(value) ? value : source;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
