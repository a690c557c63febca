/** Semantic versions, and the tag of the last stable one before another. Pure. */
import type { Ref } from '../../platform/git/refs.ts';

export type Version = { numbers: readonly [bigint, bigint, bigint]; pre: readonly string[] };

const NUMBER = '(?:0|[1-9][0-9]*)';
const PART = '(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)';
/** A version as a whole text. */
export const VERSION_PATTERN = `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PART}(?:\\.${PART})*)?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$`;
/** Characters of a version, and of the name of a tag that has one. */
export const MAX_VERSION_LENGTH = 255;

const whole = new RegExp(VERSION_PATTERN);

/** Undefined for what is no version. */
export function parseVersion(text: string): Version | undefined {
  if (text.length > MAX_VERSION_LENGTH || !whole.test(text)) return undefined;
  const [core = ''] = text.split('+');
  const dash = core.indexOf('-');
  const [major = '0', minor = '0', patch = '0'] = (dash === -1 ? core : core.slice(0, dash)).split('.');
  return {
    numbers: [BigInt(major), BigInt(minor), BigInt(patch)],
    pre: dash === -1 ? [] : core.slice(dash + 1).split('.'),
  };
}

const isNumber = (part: string): boolean => /^\d+$/.test(part);

/** Numbers are less than words. */
function comparePart(one: string, other: string): number {
  if (isNumber(one) && isNumber(other))
    return Number(BigInt(one) > BigInt(other)) - Number(BigInt(one) < BigInt(other));
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? -1 : 1;
  return Number(one > other) - Number(one < other);
}

/** Less than 0 where the first one comes before the other, as semver.org orders them. */
export function compareVersions(one: Version, other: Version): number {
  for (const [place, number] of one.numbers.entries()) {
    const against = other.numbers[place] ?? 0n;
    if (number !== against) return number < against ? -1 : 1;
  }
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  for (let place = 0; place < Math.max(one.pre.length, other.pre.length); place += 1) {
    const [left, right] = [one.pre[place], other.pre[place]];
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    const order = comparePart(left, right);
    if (order !== 0) return order;
  }
  return 0;
}

/** The parts of a version that the name of a tag has, by the names of groups. */
export type TagParts = { major?: string; minor?: string; patch?: string; pre?: string };

/** `v1.2.3`, with or without the letter. */
export function defaultTagParts(name: string): TagParts | undefined {
  const version = parseVersion(name.startsWith('v') ? name.slice(1) : name);
  if (!version) return undefined;
  const [major, minor, patch] = version.numbers.map(String);
  return {
    ...(major && { major }),
    ...(minor && { minor }),
    ...(patch && { patch }),
    pre: version.pre.join('.'),
  };
}

/** The version of a tag; undefined for one that has none, or is not stable. */
export function tagVersion({ major, minor, patch, pre }: TagParts): Version | undefined {
  if (pre || !major || !minor || !patch) return undefined;
  return parseVersion([major, minor, patch].join('.'));
}

/** Keeps the tag with the last stable version before another. */
export function previousTag(version: Version): {
  take(tag: Ref, parts: TagParts | undefined): void;
  found(): Ref | undefined;
} {
  let last: { tag: Ref; version: Version } | undefined;
  return {
    take(tag, parts) {
      const found = parts && tagVersion(parts);
      if (!found || compareVersions(found, version) >= 0) return;
      if (!last || compareVersions(found, last.version) > 0) last = { tag, version: found };
    },
    found: () => last?.tag,
  };
}
