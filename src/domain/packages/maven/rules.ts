/** Addresses of files in a Maven repository (facts-packages: 1.1, 1.5). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import type { PackageKey } from '../publishing/queries.ts';

const PART = /^(?!\.{1,2}$)[\w.-]+$/;
const VERSION = /^(?!.*\.\.)(?!\.$)[\w.+-]{1,255}$/;
const FILE = /^(?!\.{1,2}$)[\w.+-]{1,255}$/;
const MAX_NAME = 255;

export const METADATA = 'maven-metadata.xml';

export type MavenFile = {
  /** The group and the artifact, as a path; without a version for the metadata of all versions. */
  key: PackageKey;
  fileName: string;
  /** Of which file its record gives this digest; undefined for a file itself. */
  digest: 'md5' | 'sha1' | undefined;
};

/** 400 for an address that no program of this format makes. */
export function mavenFile(path: string): MavenFile {
  const folders = path.split('/');
  const last = folders.pop() ?? '';
  if (!FILE.test(last)) throw badRequest('file_name is invalid');
  const [, file = last, digest] = /^(.+)\.(md5|sha1)$/.exec(last) ?? [];
  // Metadata has digests and signatures beside it.
  const isOfMany = isMetadata(file) && !folders.at(-1)?.endsWith('-SNAPSHOT');
  const version = isOfMany ? null : (folders.pop() ?? '');
  if (version !== null && !VERSION.test(version)) throw badRequest('path is invalid');
  const name = folders.join('/');
  if (folders.length === 0 || name.length > MAX_NAME || !folders.every((part) => PART.test(part)))
    throw badRequest('path is invalid');
  return {
    key: { type: 'maven', name, version },
    fileName: file,
    digest: digest as MavenFile['digest'], // the expression has no other
  };
}

/** In the name of a file of a snapshot; what is left names the same file of each. As PostgreSQL reads it, too. */
export const STAMP = '-[0-9]{8}[.][0-9]{6}-[0-9]+(?=[.-])';
const stamp = new RegExp(STAMP);
export const withoutStamp = (fileName: string): string => fileName.replace(stamp, '');

/** Written anew with each file. */
export const isMetadata = (fileName: string): boolean =>
  fileName === METADATA || fileName.startsWith(`${METADATA}.`);

/** Groups are 20 deep at most. */
const MAX_PARTS = 21;

/** The paths that may be that of the project whose package has the address: all that it begins with. */
export const pathsOfProject = (path: string): string[] => {
  const folders = path.split('/').slice(0, -1).slice(0, MAX_PARTS);
  return folders.slice(1).map((_, at) => folders.slice(0, at + 2).join('/'));
};

/** The digest that a program sent, in hexadecimal digits, with or without the name of the file behind it. */
export const sentDigest = (body: string): string => body.trim().split(/\s/)[0]?.toLowerCase() ?? '';
