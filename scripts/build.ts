/** Compiles src/ into dist/, for the published package: Node runs no TypeScript inside node_modules. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
// npm pack --json reads standard output: what the compiler says goes to standard error.
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: ['ignore', 2, 2],
});
process.exitCode = status ?? 1;
