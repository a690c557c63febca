/** Names, versions and descriptions of gems (facts-packages: 1.1, 1.11; the reference of gemspecs). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { parsePlainYaml, YamlError } from '../records/plain-yaml.ts';

const NAME = /^(?=.*[A-Za-z])[A-Za-z0-9][\w.-]{0,253}$/;
const VERSION = /^\d{1,15}(?:\.[0-9A-Za-z]{1,50})*(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const PLATFORM = /^[A-Za-z0-9][\w.-]{0,99}$/;
const MAX_VERSION = 255;

export const isVersion = (text: string): boolean => text.length <= MAX_VERSION && VERSION.test(text);
/** Letters in it come before the release. */
export const isPrerelease = (version: string): boolean => /[A-Za-z-]/.test(version);

/** Numbers and letters by turns, without zeros at the end. */
function segmentsOf(version: string): string[] {
  const segments = version.replaceAll('-', '.pre.').match(/\d+|[A-Za-z]+/g) ?? [];
  const trim = (all: string[]): string[] => {
    const end = all.findLastIndex((each) => !/^0+$/.test(each));
    return all.slice(0, end + 1);
  };
  const letters = segments.findIndex((each) => /[A-Za-z]/.test(each));
  return letters === -1
    ? trim(segments)
    : [...trim(segments.slice(0, letters)), ...trim(segments.slice(letters))];
}

/** Below zero where `one` is older: letters come before numbers, and before nothing. */
export function compareVersions(one: string, other: string): number {
  const [mine, theirs] = [segmentsOf(one), segmentsOf(other)];
  for (let at = 0; at < Math.max(mine.length, theirs.length); at++) {
    const [a = '0', b = '0'] = [mine[at], theirs[at]];
    const areNumbers = [/^\d/.test(a), /^\d/.test(b)];
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? 1 : -1;
    const order = areNumbers[0] ? Number(a) - Number(b) : a < b ? -1 : Number(a > b);
    if (order !== 0) return order;
  }
  return 0;
}

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
const LEXEMES = 20_000;
const MAX_TEXT = 4_000;
const MAX_FIELD = 255;
const MAX_ITEMS = 100;
const MAX_DEPENDENCIES = 500;

/** Controls, halves of pairs, and what is no character. */
const readable = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Surrogate}/gu, '');
const cut = (value: unknown, length: number): string =>
  typeof value === 'string' ? [...readable(value)].slice(0, length).join('') : '';

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
  let fields: Fields;
  try {
    fields = fieldsOf(parsePlainYaml(wanted(document), { lexemes: LEXEMES }));
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
