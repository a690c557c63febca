/** The second version of the protocol of NuGet: documents of Atom, as older programs and those of PowerShell read them. Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { type Html, html, madeSafe } from '../../../platform/http/pages/html.ts';
import { contentAddress, inOrder } from './documents.ts';
import type { VersionRow } from './queries.ts';
import { type Dependency, isPrerelease, normalVersion } from './rules.ts';

export type ODataRequest =
  | { kind: 'metadata' }
  /** All versions of a name, the newest, or the one of the version: as a feed, or as one entry alone. */
  | { kind: 'packages'; id: string; version?: string; newest?: boolean; single: boolean };

const quoted = (text: string, name: RegExp): string | undefined => {
  const value = new RegExp(`${name.source}'((?:[^']|'')*)'`, 'i').exec(text)?.[1];
  return value?.replaceAll("''", "'");
};

const versionIn = (text: string | undefined): { version?: string } => {
  if (text === undefined) return {};
  const version = normalVersion(text);
  if (version === undefined) throw badRequest('Version is invalid');
  return { version };
};

/** What an address behind `v2/` asks; undefined for what is none of them, 400 for one without a name. */
export function requestOf(
  resource: string,
  { id, filter = '' }: { id: string | undefined; filter: string | undefined },
): ODataRequest | undefined {
  if (resource === '$metadata') return { kind: 'metadata' };
  const [, name = '', inside = ''] = /^(Packages|FindPackagesById)(?:\((.*)\))?$/s.exec(resource) ?? [];
  if (name === '') return undefined;
  const named =
    name === 'FindPackagesById'
      ? (id ?? '').replace(/^'(.*)'$/s, '$1')
      : (quoted(inside, /\bId=/) ?? quoted(filter, /\bId\)?\s+eq\s+(?:tolower\()?/));
  if (!named) throw badRequest('the name of one package is missing');
  const single = name === 'Packages' && inside !== '';
  return {
    kind: 'packages',
    id: named,
    ...versionIn(quoted(inside, /\bVersion=/) ?? quoted(filter, /\b(?:Normalized)?Version\s+eq\s+/)),
    ...(/\bIs(?:Absolute)?LatestVersion\b/.test(filter) && { newest: true }),
    single,
  };
}

const declaration = '<?xml version="1.0" encoding="utf-8"?>\n';

/** `base` is the address of the registry. */
export const serviceDocument = (base: string): string =>
  declaration +
  html`<service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom" xml:base="${base}/v2">
  <workspace>
    <atom:title type="text">Default</atom:title>
    <collection href="Packages"><atom:title type="text">Packages</atom:title></collection>
  </workspace>
</service>
`.text;

const texts = ['Authors', 'Dependencies', 'Description', 'NormalizedVersion', 'Summary', 'Tags', 'Title'];
const others = ['IconUrl', 'LicenseUrl', 'PackageHash', 'PackageHashAlgorithm', 'ProjectUrl'];
const property = (name: string, type: string): Html =>
  html`        <Property Name="${name}" Type="Edm.${type}" />\n`;

export const metadataDocument: string =
  declaration +
  html`<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
  <edmx:DataServices m:DataServiceVersion="2.0" m:MaxDataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="NuGetGallery.OData" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">
      <EntityType Name="V2FeedPackage" m:HasStream="true">
        <Key><PropertyRef Name="Id" /><PropertyRef Name="Version" /></Key>
        <Property Name="Id" Type="Edm.String" Nullable="false" />
        <Property Name="Version" Type="Edm.String" Nullable="false" />
${[...texts, ...others].map((name) => property(name, 'String'))}${['IsLatestVersion', 'IsAbsoluteLatestVersion', 'IsPrerelease'].map((name) => property(name, 'Boolean'))}${property('Published', 'DateTime')}      </EntityType>
    </Schema>
    <Schema Namespace="NuGetGallery" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">
      <EntityContainer Name="FeedContext_x0060_1" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Packages" EntityType="NuGetGallery.OData.V2FeedPackage" />
        <FunctionImport Name="FindPackagesById" EntitySet="Packages" ReturnType="Collection(NuGetGallery.OData.V2FeedPackage)" m:HttpMethod="GET">
          <Parameter Name="id" Type="Edm.String" />
        </FunctionImport>
      </EntityContainer>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
`.text;

const dependencyText = (dependencies: readonly Dependency[] = []): string =>
  dependencies.map(({ id, range, targetFramework = '' }) => `${id}:${range}:${targetFramework}`).join('|');

type Addresses = { api: string; base: string };
function entry({ api, base }: Addresses, row: VersionRow, isNewest: boolean, namespaces: Html): Html {
  const { name, version, created_at, description, sha256 } = row;
  const id = `${base}/v2/Packages(Id='${name}',Version='${version}')`;
  return html`<entry${namespaces}>
  <id>${id}</id>
  <category term="NuGetGallery.OData.V2FeedPackage" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme" />
  <link rel="edit" title="V2FeedPackage" href="${id}" />
  <title type="text">${name}</title>
  <updated>${created_at.toISOString()}</updated>
  <author><name>${description.authors}</name></author>
  <content type="application/zip" src="${contentAddress(api, row)}" />
  <m:properties>
    <d:Id>${name}</d:Id>
    <d:Version>${version}</d:Version>
    <d:NormalizedVersion>${version}</d:NormalizedVersion>
    <d:Authors>${description.authors}</d:Authors>
    <d:Title>${description.title ?? name}</d:Title>
    <d:Description>${description.description}</d:Description>
    <d:Summary>${description.summary}</d:Summary>
    <d:Tags>${description.tags}</d:Tags>
    <d:ProjectUrl>${description.projectUrl}</d:ProjectUrl>
    <d:LicenseUrl>${description.licenseUrl}</d:LicenseUrl>
    <d:IconUrl>${description.iconUrl}</d:IconUrl>
    <d:Dependencies>${dependencyText(description.dependencies)}</d:Dependencies>
    <d:PackageHash>${sha256?.toString('base64')}</d:PackageHash>
    <d:PackageHashAlgorithm>SHA256</d:PackageHashAlgorithm>
    <d:IsPrerelease m:type="Edm.Boolean">${String(isPrerelease(version))}</d:IsPrerelease>
    <d:IsLatestVersion m:type="Edm.Boolean">${String(isNewest)}</d:IsLatestVersion>
    <d:IsAbsoluteLatestVersion m:type="Edm.Boolean">${String(isNewest)}</d:IsAbsoluteLatestVersion>
    <d:Published m:type="Edm.DateTime">${created_at.toISOString()}</d:Published>
  </m:properties>
</entry>
`;
}

const namespaces = madeSafe(
  ' xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"',
);

/** Those of the versions of a name that are asked for, as a feed or as one entry; undefined where one is asked for that is not there. */
export function answerTo(
  asked: Extract<ODataRequest, { kind: 'packages' }>,
  addresses: Addresses,
  rows: readonly VersionRow[],
): string | undefined {
  const ordered = inOrder(rows);
  const newest = ordered.findLast(({ version }) => !isPrerelease(version)) ?? ordered.at(-1);
  const { version, single } = asked;
  const isAsked = (row: VersionRow): boolean =>
    version === undefined
      ? !(single || asked.newest) || row === newest
      : row.version.toLowerCase() === version.toLowerCase();
  const answered = ordered.filter(isAsked);
  if (!single) {
    const entries = answered.map((row) => entry(addresses, row, row === newest, madeSafe('')));
    return (
      declaration +
      html`<feed xml:base="${addresses.base}/v2"${namespaces}>
<id>${addresses.base}/v2/Packages</id>
<title type="text">Packages</title>
<updated>${(answered.at(-1)?.created_at ?? new Date(0)).toISOString()}</updated>
${entries}</feed>
`.text
    );
  }
  const [one] = answered;
  return one && declaration + entry(addresses, one, one === newest, namespaces).text;
}
