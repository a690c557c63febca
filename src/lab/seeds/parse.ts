/** A document as a seed: what it says has the form of the schema, and names only what is in it. Pure. */
import { positions } from '../../platform/documents/yaml.ts';
import { type Json, type Path, readDocument } from './read-document.ts';
import { referenceProblems } from './references.ts';
import { SeedDocument } from './schema.ts';
import { type Problem, structureProblems } from './structure.ts';

export type Seed = {
  document: SeedDocument;
  /** `world.yml:3:5: what is wrong`, for what shows only when it is planted. */
  complain(path: Path, message: string): SeedError;
};

/** Nothing, or not all, of a seed could be planted: `problems` has a line for each reason. */
export class SeedError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SeedError';
    this.problems = problems;
  }
}

/** Told at once; the author of more has something else to see to. */
const MAX_PROBLEMS = 20;

/** The seed in a text of YAML or JSON; throws a SeedError with all that is wrong, each with its place. */
export function parseSeed(text: string, name: string): Seed {
  const { value, misread, offsetOf } = readDocument(text);
  let placeOf: ReturnType<typeof positions> | undefined;
  const told = (at: number, message: string): string => {
    placeOf ??= positions(text);
    const { line, column } = placeOf(at);
    return `${name}:${line}:${column}: ${message}`;
  };
  const refuse = (problems: readonly { at: number; message: string }[]): SeedError =>
    new SeedError(
      problems
        .toSorted((left, right) => left.at - right.at)
        .slice(0, MAX_PROBLEMS)
        .map(({ at, message }) => told(at, message)),
    );
  const placed = (problems: readonly Problem[]) =>
    problems.map(({ path, message }) => ({ at: offsetOf(path), message }));
  if (misread.length > 0) throw refuse(misread);
  const structure = structureProblems(SeedDocument, value, MAX_PROBLEMS);
  if (structure.length > 0) throw refuse(placed(structure));
  const document = value as Json & SeedDocument; // as was just seen
  const references = referenceProblems(document, MAX_PROBLEMS);
  if (references.length > 0) throw refuse(placed(references));
  return { document, complain: (path, message) => new SeedError([told(offsetOf(path), message)]) };
}
