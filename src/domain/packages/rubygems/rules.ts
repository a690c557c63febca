/** Names, versions and descriptions of gems (facts-packages: 1.1, 1.11; the reference of gemspecs). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { parsePlainYaml, YamlError } from '../records/plain-yaml.ts';
import { readableText } from '../records/readable-text.ts';

const NAME = /^(?=.*[A-Za-z])[A-Za-z0-9][\w.-]{0,253}$/;
const VERSION = /^\d{1,15}(?:\.[0-9A-Za-z]{1,50})*(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const PLATFORM = /^[A-Za-z0-9][\w.-]{0,99}$/;
const MAX_VERSION = 255;

export const isVersion = (text: string): boolean => text.length <= MAX_VERSION && VERSION.test(text);
/** Letters in it come before the release. */
export const isPrerelease = (version: string): boolean => /[A-Za-z-]/.test(version);

export type Segment = number | string;

/** Numbers and letters by turns, without zeros at the end. */
export function segmentsOf(version: string): Segment[] {
  const parts = version.replaceAll('-', '.pre.').match(/\d+|[A-Za-z]+/g) ?? [];
  const segments = parts.map((each): Segment => (/^\d/.test(each) ? Number(each) : each));
  const trim = (all: Segment[]): Segment[] => all.slice(0, all.findLastIndex((each) => each !== 0) + 1);
  const letters = segments.findIndex((each) => typeof each === 'string');
  return letters === -1
    ? trim(segments)
    : [...trim(segments.slice(0, letters)), ...trim(segments.slice(letters))];
}

/** The same as compareVersions() of versions taken apart: lists of them are sorted by it. */
export function compareSegments(mine: readonly Segment[], theirs: readonly Segment[]): number {
  for (let at = 0; at < Math.max(mine.length, theirs.length); at++) {
    const [a, b] = [mine[at] ?? 0, theirs[at] ?? 0];
    if (typeof a !== typeof b) return typeof a === 'number' ? 1 : -1;
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

/** Below zero where `one` is older: letters come before numbers, and before nothing. */
export const compareVersions = (one: string, other: string): number =>
  compareSegments(segmentsOf(one), segmentsOf(other));

/** `>= 1.0` and the like: all of them hold. */
export type Requirement = readonly (readonly [operator: string, version: string])[];
export type Dependency = { name: string; development: boolean; requirement: Requirement };

export type Gem = {
  name: string;
  version: string;
  /** `ruby` for those that run everywhere. */
  platform: string;
  authors: string[];
  email: string[];
  licenses: string[];
  metadata: Record<string, string>;
  summary?: string;
  description?: string;
  homepage?: string;
  requiredRuby: Requirement;
  requiredRubygems: Requirement;
  dependencies: Dependency[];
};

/** What is read of a description; the files of a gem may be many. */
const sections = new Set(
  'name version platform authors email licenses metadata summary description homepage required_ruby_version required_rubygems_version dependencies'.split(
    ' ',
  ),
);
/** Characters of them. */
const MAX_SECTIONS = 262_144;
const LEXEMES = 20_000;
const MAX_TEXT = 4_000;
const MAX_FIELD = 255;
const MAX_ITEMS = 100;
const MAX_DEPENDENCIES = 500;

const cut = (value: unknown, length: number): string =>
  typeof value === 'string' ? readableText(value, length) : '';

/** The sections that are read, as the program writes them: a key at the beginning of a line, and what follows it. */
function wanted(document: string): string {
  const [, body = ''] = /^(?:\uFEFF)?---[^\n]*\n([\s\S]*)$/.exec(document) ?? [];
  let isWanted = false;
  const lines = body.split('\n').filter((line) => {
    const key = /^([a-z_]+):/.exec(line)?.[1];
    if (key !== undefined) isWanted = sections.has(key);
    return isWanted;
  });
  return lines.join('\n');
}

const wrong = (what: string): Error => badRequest(`gemspec: ${what} is invalid`);
type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
const textsOf = (value: unknown): string[] =>
  listOf(value)
    .filter((each) => typeof each === 'string')
    .slice(0, MAX_ITEMS)
    .map((each) => cut(each, MAX_FIELD));

function requirementOf(value: unknown): Requirement {
  const all = listOf(fieldsOf(value).requirements);
  if (all.length > MAX_ITEMS) throw wrong('a requirement');
  return all.map((each) => {
    const [operator, version] = listOf(each);
    const number = fieldsOf(version).version;
    if (typeof operator !== 'string' || !/^(?:=|!=|>|<|>=|<=|~>)$/.test(operator))
      throw wrong('a requirement');
    if (typeof number !== 'string' || !isVersion(number)) throw wrong('a requirement');
    return [operator, number] as const;
  });
}

function dependencyOf(value: unknown): Dependency {
  const { name, type, requirement } = fieldsOf(value);
  if (typeof name !== 'string' || !NAME.test(name)) throw wrong('a dependency');
  return { name, development: type === ':development', requirement: requirementOf(requirement) };
}

/** The gem of the description in its archive; 400 for one that is none. */
export function gemOf(document: string): Gem {
  const text = wanted(document);
  if (text.length > MAX_SECTIONS) throw badRequest('gemspec is too long');
  let fields: Fields;
  try {
    fields = fieldsOf(parsePlainYaml(text, { lexemes: LEXEMES }));
  } catch (error) {
    throw error instanceof YamlError ? badRequest(`gemspec is ${error.message}`) : error;
  }
  const { name, platform = 'ruby', summary, description, homepage, dependencies, metadata } = fields;
  const version = fieldsOf(fields.version).version;
  if (typeof name !== 'string' || !NAME.test(name)) throw wrong('name');
  if (typeof version !== 'string' || !isVersion(version)) throw wrong('version');
  if (typeof platform !== 'string' || !PLATFORM.test(platform)) throw wrong('platform');
  const needed = listOf(dependencies);
  if (needed.length > MAX_DEPENDENCIES) throw wrong('dependencies');
  const texts = { summary, description, homepage };
  return {
    name,
    version,
    platform,
    authors: textsOf(fields.authors),
    email: textsOf(fields.email),
    licenses: textsOf(fields.licenses),
    metadata: Object.fromEntries(
      Object.entries(fieldsOf(metadata))
        .slice(0, MAX_ITEMS)
        .map(([key, value]) => [cut(key, MAX_FIELD), cut(value, MAX_FIELD)]),
    ),
    ...Object.fromEntries(
      Object.entries(texts).flatMap(([key, value]) =>
        typeof value === 'string' ? [[key, cut(value, MAX_TEXT)]] : [],
      ),
    ),
    requiredRuby: requirementOf(fields.required_ruby_version),
    requiredRubygems: requirementOf(fields.required_rubygems_version),
    dependencies: needed.map(dependencyOf),
  };
}

/** A version and, where it has one, the platform. */
export const numberOf = ({ version, platform }: Pick<Gem, 'version' | 'platform'>): string =>
  platform === 'ruby' ? version : `${version}-${platform}`;

export const fileNameOf = (gem: Pick<Gem, 'name' | 'version' | 'platform'>): string =>
  `${gem.name}-${numberOf(gem)}.gem`;
