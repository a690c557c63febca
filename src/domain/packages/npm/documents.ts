/** What npm's clients read of a package, made of texts that are kept ready. Pure. */
import { compareVersions } from '../names/semver.ts';

export type VersionRow = {
  id: number;
  project_id: number;
  version: string;
  /** As JSON; null where nobody asked for it. */
  manifest: string | null;
  deprecated: string | null;
  created_at: Date;
  updated_at: Date;
  file_name: string;
  sha1: Buffer;
  integrity: string | null;
  /** JSON of ids by names; null without tags. */
  tags: string | null;
};

type Tagged = Pick<VersionRow, 'version' | 'tags'>;

/** The versions of tags; the newest where one is at several, and the highest version for `latest` where that is at none. */
export function distTags(rows: readonly Tagged[]): Record<string, string> {
  const newest = new Map<string, { id: number; version: string }>();
  for (const { version, tags } of rows) {
    if (tags === null) continue;
    for (const [tag, id] of Object.entries(JSON.parse(tags) as Record<string, number>))
      if (id > (newest.get(tag)?.id ?? 0)) newest.set(tag, { id, version });
  }
  const found = Object.fromEntries([...newest].map(([tag, { version }]) => [tag, version]));
  const highest = rows.map(({ version }) => version).reduce((a, b) => (compareVersions(a, b) < 0 ? b : a));
  return { latest: highest, ...found };
}

/** What a client that unpublishes says it has seen. */
export const revisionOf = (rows: readonly { id: number }[]): string =>
  String(rows.reduce((most, { id }) => Math.max(most, id), 0));

/** The entry of a version; its manifest is text that goes on as it is. */
function entryOf(name: string, row: VersionRow, address: string): string {
  const dist = {
    ...(row.integrity !== null && { integrity: row.integrity }),
    shasum: row.sha1.toString('hex'),
    tarball: address,
  };
  const manifest = row.manifest ?? JSON.stringify({ name, version: row.version });
  const deprecated = row.deprecated === null ? '' : `,"deprecated":${JSON.stringify(row.deprecated)}`;
  return `${JSON.stringify(row.version)}:${manifest.slice(0, -1)},"dist":${JSON.stringify(dist)}${deprecated}}`;
}

/** The document of a package as JSON. Of several rows with one version the last is taken; there is one at least. */
export function packageDocument(
  name: string,
  all: readonly VersionRow[],
  addressOf: (row: VersionRow) => string,
): string {
  const rows = [...new Map(all.map((row) => [row.version, row])).values()];
  const times = rows.map(({ version, created_at }) => [version, created_at.toISOString()]);
  const created = Math.min(...rows.map(({ created_at }) => created_at.getTime()));
  const modified = Math.max(...rows.map(({ updated_at }) => updated_at.getTime()));
  const time = {
    created: new Date(created).toISOString(),
    modified: new Date(modified).toISOString(),
    ...Object.fromEntries(times),
  };
  const head = JSON.stringify({
    _id: name,
    _rev: revisionOf(rows),
    name,
    'dist-tags': distTags(rows),
    time,
  });
  const versions = rows.map((row) => entryOf(name, row, addressOf(row))).join(',');
  return `${head.slice(0, -1)},"versions":{${versions}}}`;
}
