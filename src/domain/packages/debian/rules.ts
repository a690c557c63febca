/** Names of Debian's packages, versions and files, and places in a repository (facts-packages: 1.1, 1.10). Pure. */
import { badRequest } from '../../../platform/failure.ts';

const NAME = /^[a-z0-9][-+.a-z0-9]{1,254}$/;
const VERSION = /^(?:\d{1,9}:)?[0-9A-Za-z][-+.~0-9A-Za-z]{0,243}$/;
const FILE = /^[A-Za-z0-9][-+.~_A-Za-z0-9]{0,254}$/;

/** Of codenames, suites and components; of architectures. */
export const WORD = '^[a-z0-9][a-z0-9.-]{0,63}$';
export const ARCHITECTURE = '^[a-z0-9][a-z0-9-]{0,63}$';
const ARCHITECTURES = new RegExp(ARCHITECTURE);

export const isName = (text: string): boolean => NAME.test(text);
export const isVersion = (text: string): boolean => VERSION.test(text);
export const isFileName = (text: string): boolean => FILE.test(text);
export const isArchitecture = (text: string): boolean => ARCHITECTURES.test(text);

/** For every architecture: each distribution has it. */
export const ALL = 'all';

/** What a file is by its name. */
export type FileKind = 'deb' | 'udeb' | 'dsc' | 'changes' | 'other';

const OTHER = /\.(?:buildinfo|asc|tar(?:\.(?:gz|bz2|xz|lzma|zst))?|diff\.gz)$/;

/** 400 for a name that no program of Debian's would send. */
export function kindOf(fileName: string): FileKind {
  const [, ending] = /\.(deb|udeb|ddeb|dsc|changes)$/.exec(fileName) ?? [];
  if (!isFileName(fileName) || (ending === undefined && !OTHER.test(fileName)))
    throw badRequest(
      'file_name is not that of a .deb, .udeb, .ddeb, .dsc, .changes, .buildinfo or source archive',
    );
  // Symbols for debuggers are packages like others.
  return ending === 'ddeb' ? 'deb' : ((ending ?? 'other') as FileKind); // the pattern has no others
}

export const isBinary = (kind: FileKind): kind is 'deb' | 'udeb' => kind === 'deb' || kind === 'udeb';

/** `non-free/net` is the component `non-free`; without a slash it is `main`. */
export const componentOf = (section: string): string =>
  section.includes('/') ? section.slice(0, section.indexOf('/')) : 'main';

/** Below which a pool has a source: its first letter, or four of a library. */
const letterOf = (source: string): string => source.slice(0, /^lib./.test(source) ? 4 : 1);

/** The folder of a version of a source below the root of a repository; those of groups tell its projects apart. */
export const poolFolder = (
  distribution: { codename: string; isOfGroup: boolean },
  file: { project_id: number; name: string; version: string },
): string => {
  const { project_id, name, version } = file;
  const among = distribution.isOfGroup ? `${project_id}/` : '';
  return `pool/${distribution.codename}/${among}${letterOf(name)}/${name}/${version}`;
};

export type Pooled = { projectId?: number; name: string; version: string; fileName: string };

/** The file that an address below `pool/<distribution>/` names; undefined where it names none. */
export function pooledAt(path: string, isOfGroup: boolean): Pooled | undefined {
  const parts = path.split('/');
  const project = isOfGroup ? parts.shift() : undefined;
  const [letter, name = '', version = '', fileName = '', ...others] = parts;
  if (project !== undefined && !/^[1-9]\d{0,14}$/.test(project)) return undefined;
  if (others.length > 0 || !isName(name) || !isVersion(version) || !isFileName(fileName)) return undefined;
  if (letter !== letterOf(name)) return undefined;
  return { ...(project !== undefined && { projectId: Number(project) }), name, version, fileName };
}

export type Requested =
  | { kind: 'Release' | 'InRelease' | 'Release.gpg' }
  | { kind: 'index'; path: string }
  | { kind: 'hash'; folder: string; sha256: Buffer };

const INDEX =
  /^[a-z0-9.-]+\/(?:debian-installer\/)?(?:binary-[a-z0-9-]+\/Packages|source\/Sources)(?:\.gz)?$/;
const HASH =
  /^([a-z0-9.-]+\/(?:(?:debian-installer\/)?binary-[a-z0-9-]+|source))\/by-hash\/SHA256\/([0-9a-f]{64})$/;

/** What an address below `dists/<distribution>/` requests; undefined where there is no such thing. */
export function requestedAt(path: string): Requested | undefined {
  if (path === 'Release' || path === 'InRelease' || path === 'Release.gpg') return { kind: path };
  if (path.length > 300) return undefined;
  if (INDEX.test(path)) return { kind: 'index', path };
  const [, folder, sha256] = HASH.exec(path) ?? [];
  if (folder === undefined || sha256 === undefined) return undefined;
  return { kind: 'hash', folder, sha256: Buffer.from(sha256, 'hex') };
}
