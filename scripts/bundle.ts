/**
 * Joins a program's many modules into few files. Some 1,800 of them cost more than half a second at each start, before a
 * line of them has run; joined, a quarter of that.
 */
import { copyFileSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');

/** Modules that are loaded by the name of their file: the bodies of threads and processes, and those too heavy for the start. */
const loadedByName = ['src/**/*-{thread,process}.ts', 'src/domain/markdown/engine.ts'];

/**
 * A module that imports `node:http` is given all that it exports, among it a fetch of Node's own, whose loading takes 30 ms:
 * as long as anything in the first mail. Its default export alone is the module as it is.
 */
const plainHttp: Plugin = {
  name: 'plain http',
  resolveId: (source, _importer, { kind }) =>
    source === 'node:http' && kind === 'import-statement' ? '\0http' : null,
  load: (id) => (id === '\0http' ? "export default process.getBuiltinModule('node:http')" : null),
};

/**
 * Writes the programs, and the modules that they load by name, side by side into a folder at the package's
 * root; returns the modules that are in them.
 */
export async function bundle(programs: readonly string[], folder: string): Promise<string[]> {
  const sources = [...programs, ...globSync(loadedByName, { cwd: root })];
  const input = Object.fromEntries(sources.map((source) => [basename(source, '.ts'), join(root, source)]));
  const joined = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    // The driver's native twin, which is never installed, and a tool for settings in TypeScript, which nobody gives a library here.
    external: ['pg-native', 'typescript'],
    plugins: [plainHttp],
    onLog: (level, log) => {
      // Warnings about dependencies are theirs; a module that would be missing at run time is our error.
      if (level === 'warn' && log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
    },
  });
  try {
    rmSync(join(root, folder), { recursive: true, force: true });
    const { output } = await joined.write({
      dir: join(root, folder),
      format: 'esm',
      // The engine keeps a text as bytes where it has no other characters, else as twice as many.
      charset: 'ascii',
      comments: { annotation: false, jsdoc: false },
      entryFileNames: '[name].js',
      chunkFileNames: 'part-[name]-[hash].js',
    });
    return output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
  } finally {
    await joined.close();
  }
}

/** Writes the library beside the programs: as CommonJS, which every test runner loads, and by itself. */
export async function bundleLibrary(folder: string): Promise<void> {
  const joined = await rolldown({
    input: { lab: join(root, 'src/lab/library.ts') },
    cwd: root,
    platform: 'node',
    // Bundlers of tests leave it alone, and so `import.meta.url` is what CommonJS has for it.
    transform: { define: { 'import.meta.url': "require('node:url').pathToFileURL(__filename).href" } },
  });
  try {
    await joined.write({ dir: join(root, folder), format: 'cjs', entryFileNames: '[name].cjs' });
    copyFileSync(join(root, 'src/lab/lab.d.cts'), join(root, folder, 'lab.d.cts'));
  } finally {
    await joined.close();
  }
}
