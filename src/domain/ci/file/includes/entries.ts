/** What stands below `include:`, as one entry for each file that it names. Pure. */
import type { FileProblem, Path } from '../reading/problem.ts';
import { type Hash, isHash, nestedItems, toJson, type Value } from '../reading/value.ts';

const kinds = ['local', 'project', 'remote', 'template', 'component', 'artifact'] as const;
type IncludeKind = (typeof kinds)[number];

export type IncludeEntry = {
  /** In the file that includes. */
  path: Path;
  kind: IncludeKind;
  /** The path or address, in which nothing is expanded yet. */
  location: string;
  project: string | null;
  ref: string | null;
  /** The job of an artifact. */
  job: string | null;
  integrity: string | null;
  inputs: Value | undefined;
  rules: Value | undefined;
};

const named = kinds.map((kind) => `\`${kind}\``).join(', ');

/** The entries of an `include:` at a path in their order, and what is wrong with others. */
export function includeEntries(
  include: Value | undefined,
  at: Path,
): { entries: IncludeEntry[]; problems: FileProblem[] } {
  const entries: IncludeEntry[] = [];
  const problems: FileProblem[] = [];
  for (const [each, below] of include === undefined || include === null ? [] : nestedItems(include)) {
    const path = [...at, ...below];
    const hash = typeof each === 'string' ? new Map([[kindOf(each), each]]) : each;
    const read = isHash(hash) ? entriesOf(hash, path) : 'Each include must be a hash or a string';
    if (typeof read === 'string') problems.push({ message: read, at: path });
    else entries.push(...read);
  }
  return { entries, problems };
}

const kindOf = (location: string): IncludeKind => (/^https?:\/\//.test(location) ? 'remote' : 'local');

function entriesOf(hash: Hash, path: Path): IncludeEntry[] | string {
  const present = kinds.filter((kind) => hash.has(kind));
  const [kind] = present;
  if (!kind)
    return `\`${JSON.stringify(toJson(hash))}\` does not have a valid subkey for include. Valid subkeys are: ${named}`;
  if (present.length > 1) return `Each include must use only one of: ${named}`;
  const text = (key: string): string | null => {
    const value = hash.get(key);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  };
  const files = kind === 'project' ? [hash.get('file') ?? null].flat() : [hash.get(kind)];
  if (kind === 'project' && !hash.has('file'))
    return 'include config must specify the file where to fetch the config from';
  const wrong = files.find((file) => typeof file !== 'string');
  if (wrong !== undefined || (kind === 'project' && text('project') === null))
    return `Included file \`${JSON.stringify(toJson(wrong))}\` needs to be a string`;
  return files.map((file) => ({
    path,
    kind,
    location: String(file),
    project: text('project'),
    ref: text('ref'),
    job: text('job'),
    integrity: text('integrity'),
    inputs: hash.get('inputs'),
    rules: hash.get('rules'),
  }));
}
