/** The metadata of all versions of a Maven package, and of the plugins of a group. Pure. */
import { type DocumentReader, pathReader, readDocuments } from '../../../platform/documents/xml.ts';

type Plugin = { name?: string; prefix?: string; artifactId?: string };

export type MavenMetadata = {
  groupId?: string;
  artifactId?: string;
  latest?: string;
  release?: string;
  /** In the order of their deployment. */
  versions: readonly string[];
  plugins: readonly Plugin[];
};

const single: Readonly<Record<string, 'groupId' | 'artifactId' | 'latest' | 'release'>> = {
  '/metadata/groupId': 'groupId',
  '/metadata/artifactId': 'artifactId',
  '/metadata/versioning/latest': 'latest',
  '/metadata/versioning/release': 'release',
};
const VERSION = '/metadata/versioning/versions/version';
const PLUGIN = '/metadata/plugins/plugin';
const ofPlugin = ['name', 'prefix', 'artifactId'] as const;

type Filled = MavenMetadata & { versions: string[]; plugins: Plugin[] };

const reader = (metadata: Filled): DocumentReader =>
  pathReader({
    open(path) {
      if (path === PLUGIN) metadata.plugins.push({});
    },
    value(path, text) {
      if (path === VERSION) metadata.versions.push(text);
      const field = single[path];
      if (field !== undefined) metadata[field] = text;
      const plugin = metadata.plugins.at(-1);
      const ofIt = ofPlugin.find((each) => path === `${PLUGIN}/${each}`);
      if (plugin && ofIt) plugin[ofIt] = text;
    },
  });

/** Throws DocumentError. */
export async function readMetadata(text: string): Promise<MavenMetadata> {
  const metadata: Filled = { versions: [], plugins: [] };
  await readDocuments(text, () => reader(metadata));
  return metadata;
}

/** The same without what is there no more; undefined where nothing of it is left. */
export function withoutMissing(
  metadata: MavenMetadata,
  there: { versions: ReadonlySet<string>; artifacts: ReadonlySet<string> },
): MavenMetadata | undefined {
  const { latest, release, ...rest } = metadata;
  const versions = metadata.versions.filter((version) => there.versions.has(version));
  const plugins = metadata.plugins.filter(({ artifactId = '' }) => there.artifacts.has(artifactId));
  if (versions.length === 0 && plugins.length === 0) return undefined;
  const kept = (version: string | undefined, among: readonly string[]): string | undefined =>
    version === undefined || among.includes(version) ? version : among.at(-1);
  const newest = kept(latest, versions);
  const released = kept(
    release,
    versions.filter((version) => !version.endsWith('-SNAPSHOT')),
  );
  return {
    ...rest,
    ...(newest !== undefined && { latest: newest }),
    ...(released !== undefined && { release: released }),
    versions,
    plugins,
  };
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const element = (indent: string, name: string, value: string | undefined): string =>
  value === undefined
    ? ''
    : `${indent}<${name}>${value.replaceAll(/[&<>]/g, (character) => entities[character] ?? '')}</${name}>\n`;
const list = (indent: string, name: string, items: readonly string[]): string =>
  items.length === 0 ? '' : `${indent}<${name}>\n${items.join('')}${indent}</${name}>\n`;

/** As the program itself writes it. */
export function metadataDocument(metadata: MavenMetadata, time: Date): string {
  const { groupId, artifactId, latest, release } = metadata;
  const versions = metadata.versions.map((version) => element('      ', 'version', version));
  const plugins = metadata.plugins.map(
    (plugin) =>
      `    <plugin>\n${ofPlugin.map((name) => element('      ', name, plugin[name])).join('')}    </plugin>\n`,
  );
  const updated = time.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const versioning = [
    element('    ', 'latest', latest),
    element('    ', 'release', release),
    list('    ', 'versions', versions),
    element('    ', 'lastUpdated', updated),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<metadata>
${element('  ', 'groupId', groupId)}${element('  ', 'artifactId', artifactId)}${versions.length === 0 ? '' : list('  ', 'versioning', versioning)}${list('  ', 'plugins', plugins)}</metadata>
`;
}
