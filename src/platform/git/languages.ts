/** Languages of a repository, by file extensions. */
import { createCommitCache } from './commit-cache.ts';
import { eachFile, type ListedFile } from './listed-files.ts';
import type { GitFolder } from './objects.ts';

const endings: Record<string, string> = {
  Ada: 'adb ads',
  Assembly: 'asm s',
  Astro: 'astro',
  Batchfile: 'bat cmd',
  C: 'c h',
  'C#': 'cs csx',
  'C++': 'cc cpp cxx hh hpp hxx ipp',
  CMake: 'cmake',
  COBOL: 'cbl cob',
  CSS: 'css',
  Clojure: 'clj cljc cljs',
  CoffeeScript: 'coffee',
  'Common Lisp': 'lisp lsp',
  Crystal: 'cr',
  Cuda: 'cu cuh',
  D: 'd',
  Dart: 'dart',
  Dockerfile: 'dockerfile',
  EJS: 'ejs',
  Elixir: 'ex exs',
  Elm: 'elm',
  'Emacs Lisp': 'el',
  Erlang: 'erl hrl',
  'F#': 'fs fsi fsx',
  Fortran: 'f f90 f95 for',
  GLSL: 'frag glsl vert',
  Go: 'go',
  Groovy: 'gradle groovy',
  HCL: 'hcl tf tfvars',
  HTML: 'htm html xhtml',
  Haml: 'haml',
  Handlebars: 'handlebars hbs',
  Haskell: 'hs lhs',
  Java: 'java',
  JavaScript: 'cjs js jsx mjs',
  Julia: 'jl',
  'Jupyter Notebook': 'ipynb',
  Kotlin: 'kt kts',
  Less: 'less',
  Lua: 'lua',
  MATLAB: 'm mlx',
  Makefile: 'mak mk',
  Nim: 'nim',
  Nix: 'nix',
  OCaml: 'ml mli',
  'Objective-C++': 'mm',
  PHP: 'php phtml',
  PLpgSQL: 'pgsql',
  Pascal: 'dpr pas pp',
  Perl: 'pl pm t',
  PowerShell: 'ps1 psd1 psm1',
  Prolog: 'pro prolog',
  Pug: 'jade pug',
  Python: 'py pyi pyw',
  R: 'r',
  Racket: 'rkt',
  Ruby: 'gemspec rake rb ru',
  Rust: 'rs',
  SCSS: 'scss',
  Sass: 'sass',
  Scala: 'sc scala',
  Scheme: 'scm ss',
  Shell: 'bash ksh sh zsh',
  Solidity: 'sol',
  Stylus: 'styl',
  Svelte: 'svelte',
  Swift: 'swift',
  Tcl: 'tcl',
  TeX: 'cls sty tex',
  TypeScript: 'cts mts ts tsx',
  VHDL: 'vhd vhdl',
  Verilog: 'v vh',
  'Vim Script': 'vim',
  'Visual Basic .NET': 'vb',
  Vue: 'vue',
  Zig: 'zig',
};

const byEnding = new Map(
  Object.entries(endings).flatMap(([language, words]) => words.split(' ').map((word) => [word, language])),
);
const byName = new Map([
  ['cmakelists.txt', 'CMake'],
  ['containerfile', 'Dockerfile'],
  ['dockerfile', 'Dockerfile'],
  ['gemfile', 'Ruby'],
  ['gnumakefile', 'Makefile'],
  ['jenkinsfile', 'Groovy'],
  ['makefile', 'Makefile'],
  ['rakefile', 'Ruby'],
]);

/** Third-party folders, and generated files. */
const foreign =
  /(^|\/)(node_modules|vendor|vendors|third[-_]party|bower_components|dist|\.venv)\/|[.-]min\.(js|css)$/i;

/** The language of a file, by its path; undefined for documents, data, and third-party files. */
export function languageOf(path: string): string | undefined {
  if (foreign.test(path)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  return byName.get(name) ?? (dot < 0 ? undefined : byEnding.get(name.slice(dot + 1)));
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

const cache = createCommitCache<Record<string, number>>(2_000);

/** Adds the file's bytes to its language; symbolic links do not count. */
export function addSize(bytes: Map<string, number>, { path, mode, size }: ListedFile): void {
  const language = mode.startsWith('100') ? languageOf(path) : undefined;
  if (language !== undefined) bytes.set(language, (bytes.get(language) ?? 0) + size);
}

/** The share of each language in the files of a commit; 422 for a tree too large to be listed. */
export const languagesOf = (git: GitFolder, commit: string): Promise<Record<string, number>> =>
  cache(`${git.folder} ${commit}`, async () => {
    const bytes = new Map<string, number>();
    await eachFile(git, commit, (file) => addSize(bytes, file));
    return shares(bytes);
  });
