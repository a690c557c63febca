/** What is wrong with a configuration, and the places in its files that are found only where something is wrong. Pure. */
import type { Hash } from './value.ts';

/** Keys of hashes and indexes of lists, one below the other; the last one is what is meant. */
export type Path = readonly (string | number)[];

/** A file as it was read. */
export type Source = {
  /** Undefined for the file that includes the others. */
  name: string | undefined;
  /** With marks for its blocks, which are as long as they. */
  text: string;
  /** Which one of the text's documents `config` is. */
  document: number;
  /** Without what it includes. */
  config: Hash;
  /** A key of the text as `config` has it. */
  keyOf: (key: string) => string;
};

/** A path or an offset in a file; without `source`, a path in all files together. */
export type Spot =
  | { source: Pick<Source, 'name' | 'text'>; at: number }
  | { source: Source; at: Path | number }
  | { source?: undefined; at: Path };

/** What is wrong with a file: a path in it, or an offset. */
export type FileProblem = { message: string; at: Path | number };

/** `message` is in the words of the public API, without a place. */
export type Problem = { message: string; spots: Spot[] };

export const problemAt = (message: string, ...at: Path): Problem => ({ message, spots: [{ at }] });

/** What stands nowhere. */
export const problemOf = (message: string): Problem => ({ message, spots: [] });
