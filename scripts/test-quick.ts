/**
 * `npm run test:quick`: the tests of rules, which need no server, no database and no files, and all tests of the
 * folders given: `npm run test:quick -- src/domain/work-items`.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

const folders = process.argv.slice(2);
const needsMore =
  /test\/support\/|\binject\(|\bmkdtemp|platform\/db\/(embedded\/embedded|database)\.ts|git\/program\/(program|spawner)\.ts/;

const rules = globSync('src/**/*.test.ts').filter((file) => !needsMore.test(readFileSync(file, 'utf8')));
const others = folders
  .flatMap((folder) => globSync(`${folder}/**/*.test.ts`))
  .filter((file) => !rules.includes(file));

/** Runs the files by a configuration; whether all passed. */
function run(config: string, files: readonly string[]): boolean {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, '--reporter', 'dot', ...files];
  return spawnSync(process.execPath, vitest, { stdio: 'inherit' }).status === 0;
}

const passed =
  run('vitest.quick.config.ts', rules) && (others.length === 0 || run('vitest.config.ts', others));
if (!passed) process.exitCode = 1;
