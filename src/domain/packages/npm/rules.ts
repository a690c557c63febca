/** What npm's clients send when they publish, tag and deprecate (facts-packages: 1.3). Pure. */
import { Failure, type FailureKind } from '../../../platform/failure.ts';
import type { RawObject, RawValue } from '../../../platform/http/parameters/raw-parameters.ts';
import { isVersion } from '../names/semver.ts';

const NAME = /^(?:@[^/\s]{1,255}\/)?[-+._a-zA-Z0-9]{1,255}$/;
export const isName = (text: string): boolean => NAME.test(text);
/** Characters of a manifest as JSON. */
const MAX_MANIFEST_LENGTH = 20_000;
/** Of an entry of package.json what no client needs to install it. */
const dropped = ['readme', 'readmeFilename', 'licenseText', 'contributors', 'exports', 'dist', 'deprecated'];
const installScripts = ['preinstall', 'install', 'postinstall'];

/** npm shows `error`, others `message`. */
export const refusal = (message: string, kind: FailureKind = 'bad_request'): Failure =>
  new Failure(kind, message, { error: message });

/** 404 as the format words it: `404 <Resource> Not Found`, and `<error> not found`. */
export const missing = (resource: string, error: string): Failure =>
  new Failure('not_found', `404 ${resource} Not Found`, { error: `${error} not found` });

const objectOf = (value: RawValue | undefined): RawObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawObject) : undefined;

const textOf = (value: RawValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** A tag that is a version would hide that version from those who install it. */
export function requireTag(tag: string): string {
  if (tag === '' || tag.length > 255 || isVersion(tag))
    throw refusal('Validation failed: Tag should be a name of at most 255 characters that is no version');
  return tag;
}

export type Publication = {
  version: string;
  tag: string;
  fileName: string;
  /** The manifest as JSON, without what depends on the place where it is read. */
  manifest: string;
  /** Of the file, as clients check it. */
  integrity: string;
};

type File = { size: number; digests: ReadonlyMap<string, Buffer> };

/** 400 for digests, and for a length, that the file does not have. */
function requireSame(
  attachment: RawObject,
  dist: RawObject | undefined,
  { size, digests }: File,
  integrity: string,
): void {
  if (typeof attachment.length === 'number' && attachment.length !== size)
    throw refusal('The length of the attachment is another one');
  const sha1 = digests.get('sha1');
  const shasum = textOf(dist?.shasum);
  if (shasum !== undefined && shasum.toLowerCase() !== sha1?.toString('hex'))
    throw refusal('dist.shasum is not that of the attachment');
  const known = new Set([integrity, `sha1-${sha1?.toString('base64')}`]);
  for (const each of textOf(dist?.integrity)?.split(/\s+/) ?? []) {
    // Others are not computed.
    if (/^sha(?:1|512)-/.test(each) && !known.has(each.replace(/\?.*$/, '')))
      throw refusal('dist.integrity is not that of the attachment');
  }
}

/**
 * The version that a document publishes: its first one, under its first tag. 400 for a name or version that is none, for another
 * name than that of the address, and for a file that is not as the document says.
 */
export function publication(name: string, document: RawObject, file: File): Publication {
  if (!isName(name))
    throw refusal(
      'Validation failed: Name should be a valid NPM package name: https://github.com/npm/validate-npm-package-name#naming-rules',
    );
  const [version, given] = Object.entries(objectOf(document.versions) ?? {})[0] ?? [];
  const manifest = objectOf(given);
  if (version === undefined || manifest === undefined) throw refusal('Version is empty.');
  if (!isVersion(version))
    throw refusal('Validation failed: Version should follow SemVer: https://semver.org');
  for (const each of [document.name, manifest.name])
    if (each !== undefined && each !== name) throw refusal('The name is not that of the address');
  if (manifest.version !== undefined && manifest.version !== version)
    throw refusal('The version of the manifest is another one');
  const fileName = `${name}-${version}.tgz`;
  const attachment = objectOf(objectOf(document._attachments)?.[fileName]);
  if (attachment === undefined || file.size === 0) throw refusal('Attachment data is empty.');
  const integrity = `sha512-${file.digests.get('sha512')?.toString('base64')}`;
  requireSame(attachment, objectOf(manifest.dist), file, integrity);
  const scripts = objectOf(manifest.scripts);
  const text = JSON.stringify({
    ...Object.fromEntries(Object.entries(manifest).filter(([field]) => !dropped.includes(field))),
    name,
    version,
    ...(installScripts.some((each) => scripts?.[each] !== undefined) && { hasInstallScript: true }),
  });
  if (text.length > MAX_MANIFEST_LENGTH)
    throw refusal(
      `Validation failed: Package json structure is too large. Maximum size is ${MAX_MANIFEST_LENGTH} characters`,
    );
  return {
    version,
    tag: requireTag(Object.keys(objectOf(document['dist-tags']) ?? {})[0] ?? 'latest'),
    fileName,
    manifest: text,
    integrity,
  };
}

/** Whether what stands before a file in a tarball says that it is the description of the package. */
export const namesDescription = (header: string): boolean =>
  /(?:^|=)[^/\n\0]*\/+package\.json[\n\0]/i.test(header);

/** As clients read versions: without what is around them, and without their build. */
const plainVersion = (version: unknown): string | undefined =>
  typeof version === 'string'
    ? version
        .trim()
        .replace(/^[v=]+/, '')
        .split('+')[0]
    : undefined;

/** What in a package.json is otherwise than it was published; undefined for nothing. */
export function mismatchOf(
  text: string,
  { name, version }: { name: string; version: string },
): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // No value is no object, either.
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'it is no JSON object';
  const described = parsed as Readonly<Record<string, unknown>>; // JSON has no others
  if (described.name !== name) return 'the name is another one';
  return plainVersion(described.version) === plainVersion(version) ? undefined : 'the version is another one';
}

/** The texts with which versions are deprecated; an empty one ends that. 400 where there is none. */
export function deprecations(document: RawObject): { version: string; text: string }[] {
  const named = Object.entries(objectOf(document.versions) ?? {}).flatMap(([version, given]) => {
    const text = objectOf(given)?.deprecated;
    return typeof text === 'string' ? [{ version, text }] : [];
  });
  if (named.length === 0) throw refusal('package versions to deprecate missing');
  return named;
}
