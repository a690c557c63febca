/** What stands below `include:`, as one entry for each file that it names. Pure. */
import { type Hash, isHash, toJson, type Value } from '../reading/value.ts';

const kinds = ['local', 'project', 'remote', 'template', 'component', 'artifact'] as const;
type IncludeKind = (typeof kinds)[number];

export type IncludeEntry = {
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

/** The entries of an `include:` in their order, and what is wrong with others. */
export function includeEntries(include: Value | undefined): { entries: IncludeEntry[]; problems: string[] } {
  const entries: IncludeEntry[] = [];
  const problems: string[] = [];
  const given =
    include === undefined || include === null ? [] : Array.isArray(include) ? include.flat(10) : [include];
  for (const each of given as Value[]) {
    const read =
      typeof each === 'string'
        ? entriesOf(new Map([[kindOf(each), each]]))
        : isHash(each)
          ? entriesOf(each)
          : 'Each include must be a hash or a string';
    if (typeof read === 'string') problems.push(read);
    else entries.push(...read);
  }
  return { entries, problems };
}

const kindOf = (location: string): IncludeKind => (/^https?:\/\//.test(location) ? 'remote' : 'local');

function entriesOf(hash: Hash): IncludeEntry[] | string {
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
