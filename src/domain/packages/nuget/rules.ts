/** Names, versions and descriptions of NuGet packages (facts-packages: 1.1, 1.6). Pure. */

import { DocumentError, pathReader, readDocuments } from '../../../platform/documents/xml.ts';
import { badRequest } from '../../../platform/failure.ts';
import { comparePrereleases } from '../names/semver.ts';
import { readableText } from '../records/readable-text.ts';

const NAME = /^(?!\.{1,2}$)[\w.+-]{1,255}$/;
const PART = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const VERSION = new RegExp(
  `^(\\d{1,9})\\.(\\d{1,9})(?:\\.(\\d{1,9}))?(?:\\.(\\d{1,9}))?(?:-(${PART}))?(?:\\+${PART})?$`,
);
const MAX_VERSION = 255;

/** The numbers of a version, and what is before its release; undefined for what is none. */
function partsOf(version: string): { numbers: number[]; before: string | undefined } | undefined {
  const match = version.length > MAX_VERSION ? null : VERSION.exec(version);
  if (!match) return undefined;
  return { numbers: [1, 2, 3, 4].map((at) => Number(match[at] ?? 0)), before: match[5] };
}

/** The version without zeros that say nothing, and without its build; undefined for what is none. */
export function normalVersion(version: string): string | undefined {
  const parts = partsOf(version);
  if (!parts) return undefined;
  const numbers = parts.numbers[3] === 0 ? parts.numbers.slice(0, 3) : parts.numbers;
  return `${numbers.join('.')}${parts.before === undefined ? '' : `-${parts.before}`}`;
}

export const isPrerelease = (version: string): boolean => version.includes('-');

export type VersionParts = { numbers: readonly number[]; before: string | undefined };

/** What versions are compared by; the case of letters does not count. Of what is none, nothing. */
export function versionParts(version: string): VersionParts {
  const { numbers = [], before } = partsOf(version) ?? {};
  return { numbers, before: before?.toLowerCase() };
}

/** Below zero where `one` is older. */
export function compareVersions(one: VersionParts, other: VersionParts): number {
  for (const at of [0, 1, 2, 3]) {
    const order = (one.numbers[at] ?? 0) - (other.numbers[at] ?? 0);
    if (order !== 0) return order;
  }
  return comparePrereleases(one.before, other.before);
}

export type Dependency = { id: string; range: string; targetFramework?: string };

/** What programs read of a package beside its name and version. */
export type Description = {
  authors: string;
  title?: string;
  description?: string;
  summary?: string;
  tags?: string;
  projectUrl?: string;
  licenseUrl?: string;
  iconUrl?: string;
  dependencies: readonly Dependency[];
};
export type Nuspec = { id: string; version: string; description: Description };

const METADATA = '/package/metadata/';
const optional = ['title', 'description', 'summary', 'tags'] as const;
const addresses = ['projectUrl', 'licenseUrl', 'iconUrl'] as const;
/** Longer texts are cut; what else is longer is left out. */
const MAX_TEXT = 4_000;
const MAX_FIELD = 255;
const MAX_DEPENDENCIES = 1_000;
const GROUP = '/package/metadata/dependencies/group';

const isWebAddress = (text: string): boolean =>
  text.length <= MAX_FIELD && /^https?:\/\/[^\s"'<>]+$/i.test(text) && URL.canParse(text);

/** The package of a .nuspec; 400 for one that is none, and for a name or version that is none. */
export async function nuspecOf(text: string): Promise<Nuspec> {
  const values = new Map<string, string>();
  const dependencies: Dependency[] = [];
  let framework: string | undefined;
  const reader = pathReader({
    open(path, attributes) {
      if (path === GROUP) framework = attributes.targetFramework;
      if (path !== `${GROUP}/dependency` && path !== '/package/metadata/dependencies/dependency') return;
      const { id = '', version = '' } = attributes;
      if (!NAME.test(id)) throw badRequest('nuspec: the id of a dependency is invalid');
      if (dependencies.length >= MAX_DEPENDENCIES)
        throw badRequest(`nuspec: there are more than ${MAX_DEPENDENCIES} dependencies`);
      dependencies.push({
        id,
        range: readableText(version, MAX_FIELD),
        ...(path.startsWith(GROUP) && framework && { targetFramework: readableText(framework, MAX_FIELD) }),
      });
    },
    value(path, value) {
      if (path === GROUP) framework = undefined;
      if (path.startsWith(METADATA)) values.set(path.slice(METADATA.length), value);
    },
  });
  await readDocuments(text, () => reader).catch((error: unknown) => {
    throw error instanceof DocumentError ? badRequest('nuspec is not XML') : error;
  });
  const [id, version] = [values.get('id') ?? '', normalVersion(values.get('version') ?? '')];
  if (!NAME.test(id)) throw badRequest('nuspec: id is invalid');
  if (version === undefined) throw badRequest('nuspec: version is invalid');
  const texts = optional.flatMap((name) => {
    const value = values.get(name);
    return value ? [[name, readableText(value, MAX_TEXT)]] : [];
  });
  const links = addresses.flatMap((name) => {
    const value = values.get(name) ?? '';
    return isWebAddress(value) ? [[name, value]] : [];
  });
  const authors = readableText(values.get('authors') ?? '', MAX_FIELD);
  return {
    id,
    version,
    description: { authors, ...Object.fromEntries([...texts, ...links]), dependencies },
  };
}

/** Of a version as programs name it in addresses; 400 for what is none. */
export function requireVersion(text: string): string {
  const version = normalVersion(text);
  if (version === undefined) throw badRequest('package_version is invalid');
  return version;
}

export type PackageEnding = 'nupkg' | 'snupkg';

export const fileNameOf = (id: string, version: string, ending: PackageEnding): string =>
  `${id}.${version}.${ending}`.toLowerCase();
