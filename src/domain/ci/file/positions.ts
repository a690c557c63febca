/** Where what is wrong stands: files are read again with the places of their keys, once something is wrong. */

import { type Position, positions } from '../../../platform/documents/yaml.ts';
import type { Path, Problem, Source, Spot } from './reading/problem.ts';
import { type Hash, isHash, Reference, type Value } from './reading/value.ts';
import { readPlaces } from './reading/yaml.ts';
import { basesOf } from './reuse/extends.ts';

/** Characters of all files, beyond which reading one of them again could take more memory than the thread has. */
const MAX_LENGTH = 1024 * 1024;
/** Values that are looked at for all problems together; the places of later ones stay unknown. */
const MAX_LOOKS = 1_000_000;
/** Of the name of a file. */
const MAX_NAME_LENGTH = 255;
const MAX_REFERENCES = 10;

type File = Pick<Source, 'name' | 'text'>;
type Found = { source: File; at: number } | { source: Source; at: Path };

/**
 * The messages, each with the places of what is wrong: ` (line 3, column 5)`, ` (parts/build.yml: line 1, column 1)`. Nothing is
 * said of places in a first file that nobody wrote.
 */
export async function describe(
  problems: readonly Problem[],
  sources: readonly Source[],
  config: Hash | undefined,
  isMade = false,
): Promise<string[]> {
  const search = new Search(sources, config);
  const found = problems.map(({ spots }) => spots.flatMap((spot) => search.find(spot) ?? []));
  const length = sources.reduce((sum, { text }) => sum + text.length, 0);
  const shown = new Map<Found, string>();
  for (const [source, spots] of Map.groupBy(found.flat(), (spot) => spot.source)) {
    if (isMade && source.name === undefined) continue;
    const isReadAgain = Math.max(length, source.text.length) <= MAX_LENGTH;
    const readable = isReadAgain ? spots : spots.filter(({ at }) => typeof at === 'number');
    const positionOf = await reader(source, readable);
    for (const spot of readable) shown.set(spot, written(source, positionOf(spot)));
  }
  return problems.map(({ message }, index) => {
    const spots = new Set(found[index]?.flatMap((spot) => shown.get(spot) ?? []));
    return spots.size > 0 ? `${message} (${[...spots].join('; ')})` : message;
  });
}

const written = ({ name }: File, { line, column }: Position): string => {
  const spot = `line ${line}, column ${column}`;
  return name === undefined ? spot : `${name.slice(0, MAX_NAME_LENGTH)}: ${spot}`;
};

/** One file is read at a time, so that the places of all do not take up the memory. */
async function reader(source: File, spots: readonly Found[]): Promise<(spot: Found) => Position> {
  const position = positions(source.text);
  const first = spots.find((spot) => typeof spot.at !== 'number') as { source: Source } | undefined;
  const offsetOf = first && (await readPlaces(source.text, first.source.document, first.source.keyOf));
  return ({ at }) => position(typeof at === 'number' ? at : (offsetOf?.(at) ?? 0));
}

class Search {
  readonly #sources: readonly Source[];
  readonly #config: Hash | undefined;
  #looks = 0;

  constructor(sources: readonly Source[], config: Hash | undefined) {
    this.#sources = sources.toReversed();
    this.#config = config;
  }

  /** Of what is in all files together, the file in which it is written, by what it is part of, if it is in none. */
  find(spot: Spot): Found | undefined {
    if (typeof spot.at === 'number' || spot.source) return spot as Found;
    for (let length = spot.at.length; length > 0 && this.#looks <= MAX_LOOKS; length -= 1) {
      const found = this.#written(spot.at.slice(0, length), new Set(), 0);
      if (found) return found;
    }
    return undefined;
  }

  /** By the last file that has it, else by what the job extends. */
  #written(path: Path, seen: Set<string>, references: number): Found | undefined {
    if (this.#looks > MAX_LOOKS) return undefined;
    const [name, ...below] = path;
    for (const source of this.#sources) {
      const found = this.#writtenIn(source, path, references);
      if (found) return found;
    }
    if (typeof name !== 'string' || below.length === 0) return undefined;
    for (const base of basesOf(this.#config?.get(name))?.toReversed() ?? []) {
      if (seen.has(base)) continue;
      seen.add(base);
      const found = this.#written([base, ...below], seen, references);
      if (found) return found;
    }
    return undefined;
  }

  #writtenIn(source: Source, path: Path, references: number): Found | undefined {
    let value: Value | undefined = source.config;
    for (const [index, key] of path.entries()) {
      this.#looks += 1;
      if (this.#looks > MAX_LOOKS) return undefined;
      if (value instanceof Reference && references < MAX_REFERENCES)
        return this.#written([...value.path, ...path.slice(index)], new Set(), references + 1);
      if (isHash(value)) value = value.get(String(key));
      else value = Array.isArray(value) ? value[Number(key)] : undefined;
      if (value === undefined) return undefined;
    }
    return { source, at: path };
  }
}
