/**
 * Makes the lines that authorise wrong, one after the other, and checks whether a test notices: `npm run
 * mutate:access`. First the access matrix, in one run for all mutants; then, for those that it does not
 * notice, each file of tests near by in which the mutant would make a difference. A mutant is killed only
 * where a test that passes without it fails with it.
 *
 * `--sample N` takes so many of them, by a fixed seed that `--seed N` changes; `--only matrix` and `--only
 * tests` ask those alone; further arguments select mutants by the beginnings of their names:
 * `src/kernel/access`, `src/kernel/api/endpoint-rules.ts:30`. Nothing on disk changes: the sources are mutated
 * as they are read.
 */
import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { type Mutant, mutate } from '../test/mutation/mutants.ts';

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '16' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});
/** The least part of the mutants that tests must notice. */
const LEAST = 0.95;

const say = (line: string) => process.stdout.write(`${line}\n`);
const started = Date.now();
const minutes = (): string => `${((Date.now() - started) / 60_000).toFixed(1)} min`;

/** In the order of a seed, in which a mutant keeps its place while the lines around it change. */
function shuffled(mutants: readonly Mutant[], seed: string): Mutant[] {
  const seen = new Map<string, number>();
  return mutants
    .map((mutant) => {
      const name = `${mutant.file} ${mutant.change} ${mutant.text}`;
      const nth = (seen.get(name) ?? 0) + 1;
      seen.set(name, nth);
      return { mutant, key: createHash('sha256').update(`${seed} ${name} ${nth}`).digest('hex') };
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ mutant }) => mutant);
}

const sources = globSync('src/{kernel,domain}/**/*.ts')
  .filter((file) => !/(\.test|\/samples)\.ts$/.test(file))
  .sort();
const textOf = new Map(sources.map((file) => [file, readFileSync(file, 'utf8')]));
const all = sources.flatMap((file) => mutate(file, textOf.get(file) ?? '').mutants);
const named = all.filter(
  ({ id }) => positionals.length === 0 || positionals.some((name) => id.startsWith(name)),
);
const wanted =
  values.sample === undefined ? named : shuffled(named, values.seed).slice(0, Number(values.sample));
say(`${wanted.length} of ${all.length} mutants${values.sample === undefined ? '' : `, seed ${values.seed}`}`);

const folder = mkdtempSync(join(tmpdir(), 'ashlar-mutants-'));
const read = <T>(name: string): T => JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
// One for all runs: the database server is started once, and a source is mutated once.
const vitest = await createVitest({
  config: 'test/mutation/vitest.config.ts',
  watch: false,
  bail: 1,
  reporters: [{}],
});
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => vitest.close().finally(() => process.exit(1)));

/** Runs one file of tests with one active mutant, or none; returns the failure. */
async function failureOf(test: string, awake = ''): Promise<string | undefined> {
  vitest.provide('mutation', { awake, folder });
  const specifications = (await vitest.globTestSpecifications([test])).filter(
    ({ moduleId }) => moduleId === resolve(test),
  );
  if (specifications.length !== 1) throw new Error(`${test} is no file of tests`);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const run = testModules.find(({ moduleId }) => moduleId === resolve(test));
  if (run?.ok() && unhandledErrors.length === 0) return undefined;
  const [failed] = run?.children.allTests('failed') ?? [];
  const error = failed?.result().errors?.[0] ?? run?.errors()[0] ?? unhandledErrors[0];
  return `${failed?.fullName ?? test}: ${String((error as Error | undefined)?.message).split('\n')[0]}`;
}

/** By mutant: the cell that notices it; and the mutants that no cell meets. */
type Outcome = { killed: Record<string, string>; unmet: readonly string[] };

async function askMatrix(mutants: readonly Mutant[]): Promise<Outcome> {
  writeFileSync(join(folder, 'mutants.json'), JSON.stringify(mutants.map(({ id }) => id)));
  const failure = await failureOf('test/mutation/matrix.ts');
  if (failure !== undefined) throw new Error(`${failure}; see whether test/contract/access.test.ts passes`);
  return read<Outcome>('result.json');
}

/** With more capabilities than these above it, or none, the whole program depends on a file of core. */
const FEW = 8;
/** Tests of abilities and visibility all over the program. */
const everywhere = [
  'test/contract/work-visibility.test.ts',
  'test/contract/foreign-objects.test.ts',
  'test/contract/tiers.test.ts',
  'src/domain/repositories/http/access.test.ts',
];

const importsOf = (file: string): string[] =>
  [...(textOf.get(file) ?? '').matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  );
const importers = new Map<string, string[]>();
for (const file of sources)
  for (const imported of importsOf(file)) importers.set(imported, [...(importers.get(imported) ?? []), file]);

/** A resource's folder in a capability, a capability, or a folder of the kernel; itself where it lies in the kernel. */
const partOf = (file: string): string => {
  const path = file.split('/');
  return path.slice(0, path.length > 4 && path[1] === 'domain' ? 4 : 3).join('/');
};
const testsOf = (part: string): string[] =>
  globSync(part.endsWith('.ts') ? `${dirname(part)}/*.test.ts` : `${part}/**/*.test.ts`).sort();

/**
 * The tests of what a file is part of; for a file of the kernel those of the nearest capabilities above it, while
 * they are few, and of what lies between.
 */
function testsNear(file: string): string[] {
  const between = new Set<string>();
  const above = new Set<string>();
  const seen = new Set([file]);
  for (let level = [file]; level.length > 0; ) {
    for (const each of level) between.add(partOf(each));
    const next = [...new Set(level.flatMap((each) => importers.get(each) ?? []))];
    const reached = next.filter((each) => each.startsWith('src/domain/')).map(partOf);
    if (above.size > 0 && new Set([...above, ...reached]).size > FEW) break;
    for (const each of reached) above.add(each);
    level = next.filter((each) => each.startsWith('src/kernel/') && !seen.has(each));
    for (const each of level) seen.add(each);
  }
  const isBelowAll = above.size === 0 || above.size > FEW;
  const near = file.startsWith('src/domain/') ? [partOf(file)] : [...between, ...(isBelowAll ? [] : above)];
  const tests = near.flatMap(testsOf);
  return isBelowAll && file.startsWith('src/kernel/')
    ? [...new Set([...tests, ...everywhere])]
    : [...new Set(tests)];
}

/**
 * By file of tests: the mutants that it meets where they would make a difference; none where it fails without
 * a mutant.
 */
const meetings = new Map<string, ReadonlySet<string>>();
async function metBy(test: string): Promise<ReadonlySet<string>> {
  const known = meetings.get(test);
  if (known) return known;
  const failure = await failureOf(test);
  if (failure !== undefined) say(`${test} fails without any mutant, and tells nothing: ${failure}`);
  const met = new Set(failure === undefined ? read<string[]>('met.json') : []);
  meetings.set(test, met);
  return met;
}

async function noticed({ id, file }: Mutant): Promise<string | undefined> {
  for (const test of testsNear(file)) {
    if (!(await metBy(test)).has(id)) continue;
    const failure = await failureOf(test, id);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

try {
  const { killed, unmet } = values.only === 'tests' ? { killed: {}, unmet: [] } : await askMatrix(wanted);
  const left = wanted.filter(({ id }) => killed[id] === undefined);
  if (values.only !== 'tests')
    say(`the access matrix notices ${wanted.length - left.length}, after ${minutes()}`);
  const survivors: Mutant[] = [];
  for (const mutant of left) {
    const failure = values.only === 'matrix' ? undefined : await noticed(mutant);
    if (failure === undefined) survivors.push(mutant);
    const met = unmet.includes(mutant.id) ? ' (the matrix does not meet it)' : '';
    say(`${failure === undefined ? 'SURVIVED' : 'killed  '} ${mutant.id}: ${mutant.text}${met}`);
    if (failure !== undefined) say(`         by ${failure}`);
  }
  const share = 1 - survivors.length / Math.max(1, wanted.length);
  say(
    `${wanted.length - survivors.length} of ${wanted.length} killed: ${(share * 100).toFixed(1)} %, after ${minutes()}`,
  );
  if (share < LEAST) process.exitCode = 1;
} finally {
  await vitest.close();
  rmSync(folder, { recursive: true });
}
