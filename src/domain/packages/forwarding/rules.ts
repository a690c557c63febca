/** Names that are unknown here may lead to the public registries (facts-packages: 1.1, Forwarding). Pure. */
import { firstSaid, type PackageSettings } from '../../../kernel/namespaces/package-settings.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';

const settings = {
  npm: {
    forwards: 'npm_package_requests_forwarding',
    lock: 'lock_npm_package_requests_forwarding',
  },
  pypi: {
    forwards: 'pypi_package_requests_forwarding',
    lock: 'lock_pypi_package_requests_forwarding',
  },
  maven: {
    forwards: 'maven_package_requests_forwarding',
    lock: 'lock_maven_package_requests_forwarding',
  },
} as const;

export type ForwardedFormat = keyof typeof settings;

const PUBLIC_NPM = 'https://registry.npmjs.org';
const PUBLIC_PYPI = 'https://pypi.org/simple';
const PUBLIC_MAVEN = 'https://repo.maven.apache.org/maven2';

const encoded = (parts: readonly string[]): string => parts.map(encodeURIComponent).join('/');

/** Where the document of a name is. */
export const npmAddress = (name: string): string =>
  `${PUBLIC_NPM}/${name.startsWith('@') ? '@' : ''}${encodeURIComponent(name.replace(/^@/, ''))}`;
export const npmAuditAddress = (path: string): string => `${PUBLIC_NPM}/-/npm/v1/security/${path}`;
export const pypiAddress = (name: string): string => `${PUBLIC_PYPI}/${encodeURIComponent(name)}/`;
export const mavenAddress = (path: string): string => `${PUBLIC_MAVEN}/${encoded(path.split('/'))}`;

/**
 * Whether the format is forwarded below these groups, from the nearest to the one at the top: the highest that is locked is
 * followed, the instance first of all, or else the nearest that says something.
 */
export function isForwarding(
  format: ForwardedFormat,
  instance: ApplicationSettings,
  groups: readonly Partial<PackageSettings>[],
): boolean {
  const { forwards, lock } = settings[format];
  if (instance[lock]) return instance[forwards];
  const locked = groups.findLastIndex((each) => each[lock] === true);
  return firstSaid(groups.slice(Math.max(locked, 0)), forwards) ?? instance[forwards];
}
