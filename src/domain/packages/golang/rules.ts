/** Addresses and versions of Go modules, and what files a module has (facts-packages: 1.12; the reference of Go modules). Pure. */
import { isVersion, sortedVersions } from '../names/semver.ts';

const MAX_PATH = 1_000;
const ELEMENT = /^(?![.])[\w.~-]+(?<![.])$/;

/** Capital letters are written as `!` and the small one. Undefined for what is written otherwise. */
const unescaped = (text: string): string | undefined =>
  /[A-Z]|!(?![a-z])/.test(text)
    ? undefined
    : text.replaceAll(/!([a-z])/g, (_, letter) => letter.toUpperCase());

export type ModuleRequest = {
  /** The folder of the module in the repository, without its major version. */
  folder: readonly string[];
  /** As programs name it. */
  module: string;
  /** 1 for those without a major version in their path, which may be 0. */
  major: number;
  asked: { kind: 'list' } | { kind: 'latest' } | { kind: 'info' | 'mod' | 'zip'; version: string };
};

/** What an address asks; undefined for what is none, or about a module that is not below the prefix. */
export function moduleRequest(path: string, prefix: string): ModuleRequest | undefined {
  const [, escaped = '', file = ''] = /^(.+)\/(@v\/[^/]+|@latest)$/.exec(path) ?? [];
  const module = path.length > MAX_PATH ? undefined : unescaped(escaped);
  if (module === undefined || !(module === prefix || module.startsWith(`${prefix}/`))) return undefined;
  const folder = module.slice(prefix.length).split('/').slice(1);
  if (!folder.every((each) => ELEMENT.test(each))) return undefined;
  const [, last] = /^v([2-9]|[1-9]\d{1,8})$/.exec(folder.at(-1) ?? '') ?? [];
  const at = { folder: last === undefined ? folder : folder.slice(0, -1), module, major: Number(last ?? 1) };
  if (file === '@v/list') return { ...at, asked: { kind: 'list' } };
  if (file === '@latest') return { ...at, asked: { kind: 'latest' } };
  const [, name = '', kind] = /^@v\/(.+)\.(info|mod|zip)$/.exec(file) ?? [];
  const version = unescaped(name);
  if (kind === undefined || version === undefined || !isOfMajor(version, at.major)) return undefined;
  return { ...at, asked: { kind: kind as 'info', version } }; // the expression has no other
}

/** Whether it is a version without a build, of this major number. */
function isOfMajor(version: string, major: number): boolean {
  const text = version.slice(1);
  if (!version.startsWith('v') || !isVersion(text) || text.includes('+')) return false;
  const number = Number(text.split('.')[0]);
  return major === 1 ? number < 2 : number === major;
}

/** The tag of a version of the module in the folder. */
export const tagOf = ({ folder }: Pick<ModuleRequest, 'folder'>, version: string): string =>
  [...folder, version].join('/');

const PSEUDO = /(?:^v\d+\.0\.0-|\.0\.|-0\.)(\d{14})-([0-9a-f]{12})$/;

/** The time and the beginning of the commit that a version names without a tag; undefined for others. */
export function pseudoVersion(version: string): { time: string; commit: string } | undefined {
  const [, time, commit] = PSEUDO.exec(version) ?? [];
  return time === undefined || commit === undefined ? undefined : { time, commit };
}

/** A time as versions have it. */
export const stampOf = (time: Date): string => time.toISOString().replaceAll(/\D/g, '').slice(0, 14);

/** The versions among the tags, the oldest first; those that look as if they were no tags are none. */
export function versionsAmong(
  tags: readonly string[],
  { folder, major }: Pick<ModuleRequest, 'folder' | 'major'>,
): string[] {
  const before = folder.map((each) => `${each}/`).join('');
  const versions = tags
    .filter((tag) => tag.startsWith(before))
    .map((tag) => tag.slice(before.length))
    .filter((version) => isOfMajor(version, major) && pseudoVersion(version) === undefined);
  return sortedVersions(versions.map((version) => version.slice(1))).map((version) => `v${version}`);
}

/** The newest release among the versions, the oldest first, or else the newest of them; undefined without any. */
export const newestOf = (versions: readonly string[]): string | undefined =>
  versions.findLast((version) => !version.includes('-')) ?? versions.at(-1);

/** The version that names a commit of a module without tags. */
export const versionOfCommit = (major: number, time: Date, commit: string): string =>
  `v${major === 1 ? 0 : major}.0.0-${stampOf(time)}-${commit.slice(0, 12)}`;

const isVendored = (path: string): boolean => {
  if (path.startsWith('vendor/')) return path.slice('vendor/'.length).includes('/');
  // Where the folder stands deeper, this is what the program itself does, too.
  return path.includes('/vendor/') && path.slice('/vendor/'.length).includes('/');
};

/** Which paths below the folder of a module are its own: not those of modules in it, and not what it has from others. */
export function moduleFiles<File extends { path: string; mode: string }>(files: readonly File[]): File[] {
  const nested = new Set(
    files.flatMap(({ path }) => (/\/go\.mod$/i.test(path) ? [path.slice(0, path.lastIndexOf('/'))] : [])),
  );
  const isNested = (path: string): boolean => {
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
      if (nested.has(path.slice(0, end))) return true;
    return false;
  };
  return files.filter(({ path, mode }) => mode.startsWith('100') && !isVendored(path) && !isNested(path));
}
