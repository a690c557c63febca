/** Control files of Debian's packages: what is in one, and in descriptions of sources and uploads (deb-control(5), dsc(5), deb-changes(5)). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { isArchitecture, isFileName, isName, isVersion } from './rules.ts';

/** Characters, fields, and files that are listed. */
const MAX_LENGTH = 262_144;
const MAX_FIELDS = 200;
const MAX_FILES = 500;

/** By the name in lower case; what follows the first line of a value keeps the space before it. */
type Fields = ReadonlyMap<string, { name: string; value: string }>;

const FIELD = /^([!-,.-9;-~][!-9;-~]{0,99}):(.*)$/;

/** The one paragraph of the text. 400 where there is another one, or a line that no program writes. */
function fieldsOf(text: string, what: string): Fields {
  const wrong = (problem: string): Error => badRequest(`${what} ${problem}`);
  if (text.length > MAX_LENGTH) throw wrong(`has more than ${MAX_LENGTH} characters`);
  if (/[^\P{Cc}\t\r\n]/u.test(text)) throw wrong('has a control character');
  const all = text.replaceAll('\r\n', '\n').split('\n');
  const lines = all.slice(0, all.findLastIndex((line) => line !== '') + 1);
  const fields = new Map<string, { name: string; value: string }>();
  let last: { name: string; value: string } | undefined;
  for (const line of lines) {
    if (line === '' && fields.size === 0) continue;
    if (line.includes('\r') || line.trim() === '') throw wrong('has more than one paragraph');
    if (last && /^[ \t]/.test(line)) {
      last.value += `\n${line.trimEnd()}`;
      continue;
    }
    const [, name, value = ''] = FIELD.exec(line) ?? [];
    if (name === undefined) throw wrong('has a line that is no field');
    last = { name, value: value.trim() };
    if (fields.has(name.toLowerCase())) throw wrong(`has ${name} twice`);
    fields.set(name.toLowerCase(), last);
    if (fields.size > MAX_FIELDS) throw wrong(`has more than ${MAX_FIELDS} fields`);
  }
  if (fields.size === 0) throw wrong('is empty');
  return fields;
}

const BEGIN = /^-----BEGIN PGP SIGNED MESSAGE-----\r?\n(?:[A-Za-z]+: [^\n]*\n)*\r?\n/;

/** What is signed, of a text with a signature behind it: nobody asks whose it is, since who uploads it says so. */
function withoutSignature(text: string): string {
  const begin = BEGIN.exec(text);
  if (!begin) return text;
  const end = text.indexOf('\n-----BEGIN PGP SIGNATURE-----');
  return text.slice(begin[0].length, end === -1 ? text.length : end).replace(/^- /gm, '');
}

/** Fields as they stand in an index. */
export const stanzaOf = (fields: Iterable<{ name: string; value: string }>): string =>
  Array.from(fields, ({ name, value }) =>
    value === '' || value.startsWith('\n') ? `${name}:${value}\n` : `${name}: ${value}\n`,
  ).join('');

function required(fields: Fields, name: string, isRight: (text: string) => boolean, what: string): string {
  const value = fields.get(name.toLowerCase())?.value ?? '';
  if (!isRight(value)) throw badRequest(`${what}: ${name} is invalid`);
  return value;
}

/** `name`, or `name (version)`. */
function sourceIn(text: string, what: string): { name: string; version: string | undefined } {
  const [, name = '', version] = /^(\S+)(?:\s+\((\S+)\))?$/.exec(text) ?? [];
  if (!isName(name) || (version !== undefined && !isVersion(version)))
    throw badRequest(`${what}: Source is invalid`);
  return { name, version };
}

/** A package that programs install, and the source that it was built from. */
export type Binary = {
  architecture: string;
  source: string;
  sourceVersion: string;
  stanza: string;
};

/** What an index says itself. */
const ofIndexes = new Set(['filename', 'size', 'md5sum', 'sha1', 'sha256', 'sha512', 'directory', 'status']);

/** The package of its control file. */
export function binaryOf(text: string): Binary {
  const what = 'control file';
  const fields = fieldsOf(text, what);
  const name = required(fields, 'Package', isName, what);
  const version = required(fields, 'Version', isVersion, what);
  const architecture = required(fields, 'Architecture', isArchitecture, what);
  const source = sourceIn(fields.get('source')?.value ?? name, what);
  const kept = [...fields].filter(([field]) => !ofIndexes.has(field)).map(([, field]) => field);
  return {
    architecture,
    source: source.name,
    sourceVersion: source.version ?? version,
    // Programs look for it in the first line.
    stanza: stanzaOf([
      { name: 'Package', value: name },
      ...kept.filter((field) => field.name.toLowerCase() !== 'package'),
    ]),
  };
}

/** A file that a description lists. */
export type Listed = { name: string; size: number; md5: string; sha1?: string; sha256: string };

/** The lines of a list, by the name that ends each. */
function linesOf(fields: Fields, field: string, what: string): Map<string, string[]> {
  const lines = (fields.get(field.toLowerCase())?.value ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length > MAX_FILES) throw badRequest(`${what}: ${field} has more than ${MAX_FILES} files`);
  return new Map(
    lines.map((line) => {
      const words = line.trim().split(/\s+/);
      return [words.at(-1) ?? '', words];
    }),
  );
}

/** All files that are listed; with their section and priority between, in the description of an upload. */
function filesOf(fields: Fields, what: string, words: 3 | 5): (Listed & { section: string })[] {
  const sha1 = linesOf(fields, 'Checksums-Sha1', what);
  const sha256 = linesOf(fields, 'Checksums-Sha256', what);
  return [...linesOf(fields, 'Files', what)].map(([name, line]) => {
    const [md5 = '', size = '', section = ''] = line;
    const [digest = '', again] = sha256.get(name) ?? [];
    const [second] = sha1.get(name) ?? [];
    if (!isFileName(name) || line.length !== words || !/^[0-9a-f]{32}$/.test(md5) || !/^\d{1,12}$/.test(size))
      throw badRequest(`${what}: Files is invalid`);
    if (!/^[0-9a-f]{64}$/.test(digest) || again !== size)
      throw badRequest(`${what}: Checksums-Sha256 is not there for ${name}`);
    if (second !== undefined && !/^[0-9a-f]{40}$/.test(second))
      throw badRequest(`${what}: Checksums-Sha1 is invalid`);
    return {
      ...{ name, size: Number(size), md5, sha256: digest, section: words === 5 ? section : '' },
      ...(second !== undefined && { sha1: second }),
    };
  });
}

export type Source = { source: string; sourceVersion: string; stanza: string; files: Listed[] };

const ofSources = new Set([
  ...ofIndexes,
  'source',
  'package',
  'files',
  'checksums-md5',
  'checksums-sha1',
  'checksums-sha256',
  'checksums-sha512',
]);

/** A source of its description, the .dsc file. */
export function sourceOf(text: string): Source {
  const what = '.dsc file';
  const fields = fieldsOf(withoutSignature(text), what);
  const source = required(fields, 'Source', isName, what);
  const sourceVersion = required(fields, 'Version', isVersion, what);
  const kept = [...fields].filter(([field]) => !ofSources.has(field)).map(([, field]) => field);
  const files = filesOf(fields, what, 3).map(({ section: _, ...file }) => file);
  if (files.length === 0) throw badRequest(`${what}: Files is missing`);
  return {
    ...{ source, sourceVersion, files },
    stanza: stanzaOf([{ name: 'Package', value: source }, ...kept]),
  };
}

export type Changes = {
  source: string;
  sourceVersion: string;
  distribution: string;
  files: (Listed & { section: string })[];
};

/** An upload of its description, the .changes file. */
export function changesOf(text: string): Changes {
  const what = '.changes file';
  const fields = fieldsOf(withoutSignature(text), what);
  const { name, version } = sourceIn(fields.get('source')?.value ?? '', what);
  const built = required(fields, 'Version', isVersion, what);
  const distribution = required(fields, 'Distribution', (word) => /^\S+$/.test(word), what);
  const files = filesOf(fields, what, 5);
  if (files.length === 0) throw badRequest(`${what}: Files is missing`);
  // Each may list hundreds of archives that came before.
  if (files.filter((file) => file.name.endsWith('.dsc')).length > 1)
    throw badRequest(`${what}: Files has more than one .dsc file`);
  return { source: name, sourceVersion: version ?? built, distribution, files };
}
