/**
 * Makes the lines that authorise wrong, one after the other, and looks whether a test notices: `npm run mutate:access`.
 * First the access matrix, in one run for all mutants; then, for those that it does not notice, the tests beside the file.
 *
 * `--sample N` takes so many of them, by a fixed seed that `--seed N` changes; `--matrix` leaves the other tests out; a last
 * argument is the start of the paths that are looked at. Nothing on disk changes: the sources are mutated as they are read.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutate } from '../test/mutation/mutants.ts';

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '16' },
    matrix: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
/** Of the mutants, so many must be noticed. */
const LEAST = 0.95;

/** The same order for the same seed. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return items
    .map((item) => ({ item, key: next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

function runTests(files: readonly string[], env: Record<string, string>): boolean {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutation/vitest.config.ts'];
  const { status } = spawnSync(process.execPath, [...vitest, '--bail', '1', ...files], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  return status === 0;
}

type Outcome = { killed: Record<string, string>; survived: string[]; unmet: string[] };

function askMatrix(mutants: readonly Mutant[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-mutants-'));
  const [list, result] = [join(folder, 'mutants.json'), join(folder, 'result.json')];
  writeFileSync(list, JSON.stringify(mutants.map(({ id }) => id)));
  try {
    if (!runTests(['test/mutation/matrix.ts'], { MUTANTS: list, MUTATE_RESULT: result }))
      throw new Error(
        'the access matrix could not be asked: try `npx vitest run test/contract/access.test.ts`',
      );
    return JSON.parse(readFileSync(result, 'utf8')) as Outcome;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The tests beside a file; of core, which everything stands on, those of who may do what. */
function testsBeside(file: string): string[] {
  const beside = globSync(`${dirname(file)}/*.test.ts`).sort();
  return file.startsWith('src/core/')
    ? [...beside, 'test/contract/work-visibility.test.ts', 'test/contract/foreign-objects.test.ts']
    : beside;
}

const passing = new Map<string, boolean>();
/** Whether they pass as it is: where they do not, they tell nothing of a mutant. */
function passWithout(tests: readonly string[]): boolean {
  const key = tests.join();
  const known = passing.get(key) ?? runTests(tests, {});
  passing.set(key, known);
  return known;
}

const files = globSync('src/{core,domain}/**/*.ts').filter(
  (file) => !file.endsWith('.test.ts') && file.startsWith(positionals[0] ?? ''),
);
const all = files.sort().flatMap((file) => mutate(file, readFileSync(file, 'utf8')).mutants);
const wanted =
  values.sample === undefined ? all : shuffled(all, Number(values.seed)).slice(0, Number(values.sample));
const say = (line: string) => process.stdout.write(`${line}\n`);
say(`${wanted.length} of ${all.length} mutants${values.sample === undefined ? '' : `, seed ${values.seed}`}`);

const { killed } = askMatrix(wanted);
const left = wanted.filter(({ id }) => killed[id] === undefined);
say(`the access matrix notices ${wanted.length - left.length}`);
const survivors: Mutant[] = [];
for (const mutant of left) {
  const tests = values.matrix ? [] : testsBeside(mutant.file);
  const noticed = tests.length > 0 && passWithout(tests) && !runTests(tests, { ASHLAR_MUTANT: mutant.id });
  if (!noticed) survivors.push(mutant);
  say(`${noticed ? 'killed  ' : 'SURVIVED'} ${mutant.id}: ${mutant.text}`);
}
const share = 1 - survivors.length / Math.max(1, wanted.length);
say(`${wanted.length - survivors.length} of ${wanted.length} killed: ${(share * 100).toFixed(1)} %`);
if (share < LEAST) process.exitCode = 1;
