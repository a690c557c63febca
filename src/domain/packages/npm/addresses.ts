/** What addresses of npm's registries name, decoded; names have a slash where they have a scope. Pure. */
import { notFound } from '../../../platform/failure.ts';

const NAME = '(?:@[^/]+/)?[^/@][^/]*';
const PACKAGE = new RegExp(`^(?<name>${NAME})(?:/-/(?<file>${NAME}))?(?:/-rev/(?<revision>[^/]+))?$`);
const TAGS = new RegExp(`^(?<name>${NAME})/dist-tags(?:/(?<tag>.+))?$`);

export type PackageAddress = {
  name: string;
  /** Of a tarball. */
  file: string | undefined;
  /** Where a client that unpublishes says what it has seen. */
  revision: string | undefined;
};

function matched<T>(pattern: RegExp, path: string): T {
  const groups = pattern.exec(path)?.groups;
  if (!groups) throw notFound();
  return { ...groups } as T; // the pattern names them
}

/** `<name>`, `<name>/-/<file>`, either with `/-rev/<revision>` behind it; 404 for another. */
export const packageAddress = (path: string): PackageAddress => matched(PACKAGE, path);

/** `<name>/dist-tags`, or one of them; 404 for another. */
export const tagAddress = (path: string): { name: string; tag: string | undefined } => matched(TAGS, path);

/** The scope with which an address begins, without its `@`; empty without one. */
export const scopeOf = (path: string): string => /^@([^/]+)\//.exec(path)?.[1] ?? '';
