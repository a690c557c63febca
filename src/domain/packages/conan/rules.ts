/** Names of Conan packages, their revisions and their files, and what a conaninfo.txt says (facts-packages: 1.1, 1.9). Pure. */
import { badRequest } from '../../../platform/failure.ts';

/** What the address of a recipe says: a package with its version; `_` stands for no user, and for no channel. */
export type Reference = { name: string; version: string; user: string; channel: string };

const PART = /^[a-zA-Z0-9_][\w+.-]{1,100}$/;
/** It may be the path of a project. */
const USER = /^[a-zA-Z0-9_][\w+.-]{1,254}$/;
const NONE = '_';

type ReferenceInput = {
  package_name: string;
  package_version: string;
  package_username: string;
  package_channel: string;
};

/** 400 for names that no program of this format takes. */
export function referenceOf(input: ReferenceInput): Reference {
  const {
    package_name: name,
    package_version: version,
    package_username: user,
    package_channel: channel,
  } = input;
  if (!PART.test(name)) throw badRequest('package_name is invalid');
  if (!PART.test(version)) throw badRequest('package_version is invalid');
  if (user !== NONE && !USER.test(user)) throw badRequest('package_username is invalid');
  if (channel !== NONE && !PART.test(channel)) throw badRequest('package_channel is invalid');
  if (user === NONE && channel !== NONE) throw badRequest('package_channel needs a package_username');
  return { name, version, user, channel };
}

/** What packages of one name and version differ in. */
export const qualifierOf = ({ user, channel }: Reference): string => `${user}/${channel}`;

/**
 * Where a file is: in a revision of the recipe, or in a revision of a package that is made by that, whose settings and options
 * have this digest. Of a recipe the last two are empty.
 */
export type FileLocation = { recipe_revision: string; reference: string; package_revision: string };

/** The only revision that programs of version 1 know; no program of version 2 does. */
export const UNREVISED = '0';

const REVISION = /^(?:[\da-fA-F]{32}|[\da-fA-F]{40})$/;
const PACKAGE = /^[a-zA-Z0-9]{1,100}$/;

type PlaceInput = { recipe_revision: string; conan_package_reference?: string; package_revision?: string };

const requireReference = (text: string): string => {
  if (!PACKAGE.test(text)) throw badRequest('conan_package_reference is invalid');
  return text;
};

/** Without what the address does not say. 400 for what is no revision. */
export function placeOf({
  recipe_revision,
  conan_package_reference,
  package_revision,
}: PlaceInput): FileLocation {
  if (!REVISION.test(recipe_revision)) throw badRequest('recipe_revision is invalid');
  if (package_revision !== undefined && !REVISION.test(package_revision))
    throw badRequest('package_revision is invalid');
  return {
    recipe_revision,
    reference: conan_package_reference === undefined ? '' : requireReference(conan_package_reference),
    package_revision: package_revision ?? '',
  };
}

/** The same for programs of version 1. */
export const unrevisedPlace = (reference?: string): FileLocation =>
  reference === undefined
    ? { recipe_revision: UNREVISED, reference: '', package_revision: '' }
    : { recipe_revision: UNREVISED, reference: requireReference(reference), package_revision: UNREVISED };

export const MANIFEST = 'conanmanifest.txt';
export const RECIPE = 'conanfile.py';
export const INFO = 'conaninfo.txt';
export const CONTENT = 'conan_package.t';

const ARCHIVE = /^(conan_(?:sources|export|package)\.t)(?:gz|xz|zst)$/;
const METADATA = /^metadata(?:\/(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}\p{Surrogate}]+)+$/u;
const MAX_NAME = 255;
const compressions = ['gz', 'xz', 'zst'];

const named = { recipe: [RECIPE, MANIFEST], package: [INFO, MANIFEST] };
const packed = { recipe: ['conan_sources.t', 'conan_export.t'], package: [CONTENT] };

/** 400 for the name of a file that no place of this kind has. */
export function requireFile({ reference }: FileLocation, name: string): void {
  const kind = reference === '' ? 'recipe' : 'package';
  const [, stem = ''] = ARCHIVE.exec(name) ?? [];
  if (named[kind].includes(name) || packed[kind].includes(stem)) return;
  if (name.length > MAX_NAME || !METADATA.test(name)) throw badRequest('file_name is invalid');
}

/** The names whose files make way for this one: programs take no revision with an archive in two compressions. */
export function replacedBy(name: string): string[] {
  const [, stem] = ARCHIVE.exec(name) ?? [];
  return stem === undefined ? [name] : compressions.map((compression) => `${stem}${compression}`);
}

type Pairs = Record<string, string>;

/** What a conaninfo.txt says, by its sections. */
export type Info = {
  settings?: Pairs;
  settings_target?: Pairs;
  options?: Pairs;
  conf?: Pairs;
  requires?: string[];
  build_requires?: string[];
  python_requires?: string[];
  config_version?: string[];
  /** Of programs of version 1. */
  recipe_hash?: string;
};

export const MAX_INFO_BYTES = 65_536;
/** Sections of these names are lists, and the others of name and value. */
const lists = ['requires', 'build_requires', 'python_requires', 'config_version'];
const pairs = ['settings', 'settings_target', 'options', 'conf'];

/** The settings, options and requirements of a package, as far as there are any. */
export function infoOf(text: string): Info {
  const sections = new Map<string, string[]>();
  let lines: string[] = [];
  for (const each of text.split('\n')) {
    const line = each.trim();
    const [, section] = /^\[(\w{1,50})\]$/.exec(line) ?? [];
    if (section !== undefined) {
      lines = sections.get(section) ?? [];
      sections.set(section, lines);
    } else if (line !== '' && !line.startsWith('#')) lines.push(line);
  }
  const found = (names: readonly string[]) =>
    names.flatMap((name) => {
      const own = sections.get(name);
      return own ? [[name, own] as const] : [];
    });
  const hash = sections.get('recipe_hash')?.[0];
  return {
    ...Object.fromEntries(found(lists)),
    ...Object.fromEntries(found(pairs).map(([name, own]) => [name, pairsOf(own)])),
    ...(hash !== undefined && { recipe_hash: hash }),
  };
}

function pairsOf(lines: readonly string[]): Pairs {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** As programs of version 1 read it. */
export const unrevisedInfo = ({ settings = {}, options = {}, requires = [], recipe_hash }: Info) => ({
  settings,
  options,
  requires: Object.fromEntries(requires.map((each) => [each, null])),
  recipe_hash: recipe_hash ?? null,
});

/** A time as programs of this format are told it. */
export const timeText = (time: Date): string => time.toISOString().replace('Z', '+0000');

const MAX_PATTERN = 512;

/** A pattern with `*` and `?` as PostgreSQL reads it; 400 for a long one. */
export function likePattern(pattern: string): string {
  if (pattern.length > MAX_PATTERN) throw badRequest(`q is longer than ${MAX_PATTERN} characters`);
  return pattern
    .replace(/[\\%_]/g, '\\$&')
    .replace(/\*+/g, '%')
    .replace(/\?/g, '_');
}

/** The path of the project that the user of a package names at the addresses of the instance. */
export const projectPathsOf = (user: string): string[] => [user.replaceAll('+', '/')];
