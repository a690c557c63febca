/** Indexes of a distribution, and the release that lists them (the Debian repository format). Pure. */
import { stanzaOf } from './control.ts';
import { ALL, poolFolder } from './rules.ts';

export type IndexedFile = {
  project_id: number;
  /** Of the source. */
  name: string;
  version: string;
  file_name: string;
  component: string;
  kind: string;
  architecture: string | null;
  stanza: string;
};

type Distribution = {
  codename: string;
  suite: string | null;
  origin: string | null;
  label: string | null;
  version: string | null;
  description: string | null;
  valid_time_duration_seconds: number | null;
  components: readonly string[];
  architectures: readonly string[];
  project_id: number | null;
};

/** What is said of a file, with its place, and which indexes say it. */
export type Entry = Pick<IndexedFile, 'component' | 'kind' | 'architecture'> & { paragraph: string };

export function entryOf(
  distribution: Pick<Distribution, 'codename' | 'project_id'>,
  file: IndexedFile,
): Entry {
  const { component, kind, architecture, stanza } = file;
  const { codename, project_id } = distribution;
  const folder = poolFolder({ codename, isOfGroup: project_id === null }, file);
  const place =
    kind === 'dsc'
      ? { name: 'Directory', value: folder }
      : { name: 'Filename', value: `${folder}/${file.file_name}` };
  return { component, kind, architecture, paragraph: `${stanza}${stanzaOf([place])}\n` };
}

export type Index = { path: string; paragraphs: readonly string[] };

/** The indexes of all components and architectures; those of the installer where it has anything. */
export function indexesOf(
  { components, architectures }: Pick<Distribution, 'components' | 'architectures'>,
  entries: readonly Entry[],
): Index[] {
  const groups = Map.groupBy(entries, ({ component, kind, architecture }) =>
    [component, kind, architecture].join(' '),
  );
  const of = (...key: string[]): string[] =>
    (groups.get(key.join(' ')) ?? []).map(({ paragraph }) => paragraph);
  return components.flatMap((component) => {
    // The index of an architecture has what is for every one: older programs read no other.
    const binary = (kind: 'deb' | 'udeb', architecture: string): string[] => [
      ...of(component, kind, architecture),
      ...(architecture === ALL ? [] : of(component, kind, ALL)),
    ];
    const installer = architectures
      .map((architecture) => ({
        path: `${component}/debian-installer/binary-${architecture}/Packages`,
        paragraphs: binary('udeb', architecture),
      }))
      .filter(({ paragraphs }) => paragraphs.length > 0);
    return [
      ...architectures.map((architecture) => ({
        path: `${component}/binary-${architecture}/Packages`,
        paragraphs: binary('deb', architecture),
      })),
      ...installer,
      { path: `${component}/source/Sources`, paragraphs: of(component, 'dsc', 'source') },
    ];
  });
}

export type WrittenIndex = { path: string; sha256: Buffer; size: number };

const rfc822 = (time: Date): string => time.toUTCString().replace('GMT', 'UTC');

/** The release of the time, with the digests of its indexes. */
export function releaseText(
  distribution: Distribution,
  indexes: readonly WrittenIndex[],
  time: Date,
): string {
  const seconds = distribution.valid_time_duration_seconds;
  const lines = indexes.map(({ path, sha256, size }) => `\n ${sha256.toString('hex')} ${size} ${path}`);
  const fields: [name: string, value: string | null][] = [
    ['Origin', distribution.origin],
    ['Label', distribution.label],
    ['Suite', distribution.suite],
    ['Version', distribution.version],
    ['Codename', distribution.codename],
    ['Date', rfc822(time)],
    ['Valid-Until', seconds === null ? null : rfc822(new Date(time.getTime() + seconds * 1_000))],
    ['Acquire-By-Hash', 'yes'],
    ['No-Support-for-Architecture-all', 'Packages'],
    ['Architectures', distribution.architectures.join(' ')],
    ['Components', distribution.components.join(' ')],
    ['Description', distribution.description],
    ['SHA256', lines.join('')],
  ];
  return stanzaOf(fields.flatMap(([name, value]) => (value === null ? [] : [{ name, value }])));
}
