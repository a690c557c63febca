/** Languages of files, by their names. Heavy: loaded when somebody wants to know. */
import * as linguist from 'linguist-languages';
import type { ListedFile } from './listed-files.ts';

type Language = {
  name: string;
  type: string;
  group?: string;
  extensions?: readonly string[];
  filenames?: readonly string[];
};
const languages: Language[] = Object.values(linguist);

/** Endings that several languages claim: the contents would tell, and are not read. */
const guesses: Record<string, string> = {
  '.cls': 'TeX',
  '.d': 'D',
  '.f': 'Fortran',
  '.for': 'Fortran',
  '.frag': 'GLSL',
  '.fs': 'F#',
  '.h': 'C',
  '.hh': 'C++',
  '.lsp': 'Common Lisp',
  '.m': 'MATLAB',
  '.ml': 'OCaml',
  '.pl': 'Perl',
  '.pm': 'Perl',
  '.pp': 'Pascal',
  '.pro': 'Prolog',
  '.r': 'R',
  '.rs': 'Rust',
  '.sc': 'Scala',
  '.scm': 'Scheme',
  '.t': 'Perl',
  '.v': 'Verilog',
};

/** The name under which a language counts, if it does: TSX as TypeScript. */
const counted = ({ name, type, group }: Language): string | undefined =>
  type === 'programming' || type === 'markup' ? (group ?? name) : undefined;

const byName = new Map(
  languages.flatMap((each) => (each.filenames ?? []).map((name) => [name, counted(each)])),
);

/** The one that all of them count as. */
function agreed(claimants: readonly Language[]): string | undefined {
  const [name, ...others] = new Set(claimants.map(counted));
  return others.length === 0 ? name : undefined;
}

const claims = new Map<string, Language[]>();
for (const each of languages)
  for (const ending of each.extensions ?? [])
    claims.set(ending.toLowerCase(), [...(claims.get(ending.toLowerCase()) ?? []), each]);
// The first ending of a language is its main one.
const byEnding = new Map(
  [...claims].map(([ending, claimants]) => [
    ending,
    guesses[ending] ??
      agreed(claimants) ??
      agreed(claimants.filter(({ extensions }) => extensions?.[0]?.toLowerCase() === ending)),
  ]),
);

/** Third-party folders, and generated files. */
const foreign =
  /(^|\/)(node_modules|vendor|vendors|third[-_]party|bower_components|dist|\.venv)\/|[.-]min\.(js|css)$/i;

/** The language of a file, by its path; undefined for documents, data, and third-party files. */
export function languageOf(path: string): string | undefined {
  if (foreign.test(path)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (byName.has(name)) return byName.get(name);
  // Of `a.blade.php` the longest known ending; none has more than two parts.
  const parts = name.toLowerCase().split('.').slice(1).slice(-2);
  const endings = parts.map((_, at) => `.${parts.slice(at).join('.')}`);
  return byEnding.get(endings.find((ending) => byEnding.has(ending)) ?? '');
}

/** Percentages of the bytes, with two decimals, the largest first. */
export function shares(bytes: ReadonlyMap<string, number>): Record<string, number> {
  const total = [...bytes.values()].reduce((sum, size) => sum + size, 0);
  return Object.fromEntries(
    [...bytes]
      .filter(([, size]) => size > 0)
      .sort(([, left], [, right]) => right - left)
      .map(([language, size]) => [language, Math.round((size / total) * 10_000) / 100]),
  );
}

/** Adds the file's bytes to its language; symbolic links do not count. */
export function addSize(bytes: Map<string, number>, { path, mode, size }: ListedFile): void {
  const language = mode.startsWith('100') ? languageOf(path) : undefined;
  if (language !== undefined) bytes.set(language, (bytes.get(language) ?? 0) + size);
}
