/** What programs of NuGet read of its packages by the third version of their protocol. Pure. */
import Type, { type Static } from 'typebox';
import type { VersionRow } from './queries.ts';
import { compareVersions, type Dependency, fileNameOf, versionParts } from './rules.ts';

const Resource = Type.Object({ '@id': Type.String(), '@type': Type.String(), comment: Type.String() });
export const ServiceIndex = Type.Object({ version: Type.String(), resources: Type.Array(Resource) });

const services: readonly { types: readonly string[]; path: string; comment: string; atProject?: true }[] = [
  {
    types: ['SearchQueryService', 'SearchQueryService/3.0.0-beta', 'SearchQueryService/3.0.0-rc'],
    path: 'query',
    comment: 'Filter and search for packages by keyword.',
  },
  {
    types: ['RegistrationsBaseUrl', 'RegistrationsBaseUrl/3.0.0-beta', 'RegistrationsBaseUrl/3.0.0-rc'],
    path: 'metadata',
    comment: 'Get package metadata.',
  },
  {
    types: ['PackageBaseAddress/3.0.0'],
    path: 'download',
    comment: 'Get package content (.nupkg).',
    atProject: true,
  },
  { types: ['PackagePublish/2.0.0'], path: '', comment: 'Push and delete packages.', atProject: true },
  {
    types: ['SymbolPackagePublish/4.9.0'],
    path: 'symbolpackage',
    comment: 'Push symbol packages.',
    atProject: true,
  },
];

/** `base` is the address of the registry. */
export const serviceIndex = (base: string, isProject: boolean): Static<typeof ServiceIndex> => ({
  version: '3.0.0',
  resources: services
    .filter(({ atProject }) => isProject || !atProject)
    .flatMap(({ types, path, comment }) =>
      types.map((type) => ({ '@id': path === '' ? base : `${base}/${path}`, '@type': type, comment })),
    ),
});

const links = {
  projectUrl: Type.Optional(Type.String()),
  licenseUrl: Type.Optional(Type.String()),
  iconUrl: Type.Optional(Type.String()),
};

const linksOf = ({ description: { projectUrl, licenseUrl, iconUrl } }: VersionRow) => ({
  ...(projectUrl !== undefined && { projectUrl }),
  ...(licenseUrl !== undefined && { licenseUrl }),
  ...(iconUrl !== undefined && { iconUrl }),
});

const Entry = Type.Object({
  '@id': Type.String(),
  packageContent: Type.String(),
  catalogEntry: Type.Object({
    '@id': Type.String(),
    authors: Type.String(),
    dependencyGroups: Type.Array(
      Type.Object({
        '@id': Type.String(),
        '@type': Type.String(),
        targetFramework: Type.Optional(Type.String()),
        dependencies: Type.Array(
          Type.Object({
            '@id': Type.String(),
            '@type': Type.String(),
            id: Type.String(),
            range: Type.String(),
          }),
        ),
      }),
    ),
    id: Type.String(),
    version: Type.String(),
    tags: Type.String(),
    packageContent: Type.String(),
    description: Type.String(),
    summary: Type.String(),
    published: Type.String(),
    ...links,
  }),
});
export const VersionEntry = Entry;
export const Registration = Type.Object({
  count: Type.Integer(),
  items: Type.Array(
    Type.Object({
      '@id': Type.String(),
      lower: Type.String(),
      upper: Type.String(),
      count: Type.Integer(),
      items: Type.Array(Entry),
    }),
  ),
});

const lower = (text: string): string => encodeURIComponent(text.toLowerCase());

/** Where the archive of a version is: groups have none of their own. */
export const contentAddress = (api: string, { project_id, name, version }: VersionRow): string =>
  `${api}/projects/${project_id}/packages/nuget/download/${lower(name)}/${lower(version)}/${encodeURIComponent(fileNameOf(name, version, 'nupkg'))}`;

const groupsOf = (base: string, dependencies: readonly Dependency[]) =>
  [...Map.groupBy(dependencies, ({ targetFramework }) => targetFramework ?? '')].map(([framework, each]) => {
    const at = framework === '' ? base : `${base}/${encodeURIComponent(framework.toLowerCase())}`;
    return {
      '@id': at,
      '@type': 'PackageDependencyGroup',
      ...(framework !== '' && { targetFramework: framework }),
      dependencies: each.map(({ id, range }) => ({
        '@id': `${at}/${lower(id)}`,
        '@type': 'PackageDependency',
        id,
        range,
      })),
    };
  });

/** Addresses of one registry: `api` is that of the API, `base` that of the registry. */
export type Addresses = { api: string; base: string };

export function presentVersion({ api, base }: Addresses, row: VersionRow): Static<typeof Entry> {
  const { name, version, created_at, description } = row;
  const self = `${base}/metadata/${lower(name)}/${lower(version)}.json`;
  const packageContent = contentAddress(api, row);
  return {
    '@id': self,
    packageContent,
    catalogEntry: {
      '@id': self,
      authors: description.authors ?? '',
      dependencyGroups: groupsOf(`${self}#dependencyGroup`, description.dependencies ?? []),
      id: name,
      version,
      tags: description.tags ?? '',
      packageContent,
      description: description.description ?? '',
      summary: description.summary ?? '',
      published: created_at.toISOString(),
      ...linksOf(row),
    },
  };
}

/** The oldest first. */
export const inOrder = (rows: readonly VersionRow[]): VersionRow[] =>
  rows
    .map((row) => ({ row, parts: versionParts(row.version) }))
    .sort((one, other) => compareVersions(one.parts, other.parts))
    .map(({ row }) => row);

/** All versions of one name, of which there is at least one. */
export function registration(addresses: Addresses, rows: readonly VersionRow[]): Static<typeof Registration> {
  const ordered = inOrder(rows);
  const [first, last] = [ordered[0], ordered.at(-1)];
  return {
    count: 1,
    items: [
      {
        '@id': `${addresses.base}/metadata/${lower(first?.name ?? '')}/index.json`,
        lower: first?.version ?? '',
        upper: last?.version ?? '',
        count: ordered.length,
        items: ordered.map((row) => presentVersion(addresses, row)),
      },
    ],
  };
}

export const SearchResults = Type.Object({
  totalHits: Type.Integer(),
  data: Type.Array(
    Type.Object({
      '@type': Type.String(),
      authors: Type.String(),
      id: Type.String(),
      title: Type.String(),
      description: Type.String(),
      summary: Type.String(),
      totalDownloads: Type.Integer(),
      verified: Type.Boolean(),
      version: Type.String(),
      versions: Type.Array(
        Type.Object({ '@id': Type.String(), version: Type.String(), downloads: Type.Integer() }),
      ),
      tags: Type.String(),
      ...links,
    }),
  ),
});

/** The rows of one name come behind each other. */
export const searchResults = (
  { base }: Addresses,
  total: number,
  rows: readonly VersionRow[],
): Static<typeof SearchResults> => ({
  totalHits: total,
  data: [...Map.groupBy(rows, ({ name }) => name.toLowerCase()).values()].flatMap((each) => {
    const ordered = inOrder(each);
    const newest = ordered.at(-1);
    if (!newest) return [];
    const { name, version, description } = newest;
    return {
      '@type': 'Package',
      authors: description.authors ?? '',
      id: name,
      title: description.title ?? name,
      description: description.description ?? '',
      summary: description.summary ?? '',
      totalDownloads: 0,
      verified: true,
      version,
      versions: ordered.map((row) => ({
        '@id': `${base}/metadata/${lower(name)}/${lower(row.version)}.json`,
        version: row.version,
        downloads: 0,
      })),
      tags: description.tags ?? '',
      ...linksOf(newest),
    };
  }),
});
