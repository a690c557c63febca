/** The checks of form: each one is a program's own verdict; all run, and any that fails fails the whole. */
import { spawnSync } from 'node:child_process';

const node = process.execPath;
const checks: { name: string; command: string[] }[] = [
  { name: 'formatting and lint', command: ['node_modules/@biomejs/biome/bin/biome', 'ci', '.'] },
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '-p', '.'] },
  {
    name: 'import rule',
    command: [
      'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
      'src',
      '--config',
      '.dependency-cruiser.mjs',
    ],
  },
  { name: 'structure', command: ['scripts/structure.ts'] },
  { name: 'retired names', command: ['scripts/retired-names.ts'] },
  { name: 'public operations', command: ['scripts/operations.ts'] },
  {
    name: 'container image',
    command: ['node_modules/dockerfile-utils/bin/dockerfile-utils', 'lint', 'packaging/image/Containerfile'],
  },
  { name: 'licences', command: ['scripts/bill.ts', '--check'] },
  { name: 'dead code', command: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  { name: 'generated files', command: ['scripts/generate.ts', '--check'] },
];

const failed: string[] = [];
for (const { name, command } of checks) {
  process.stdout.write(`--- ${name}\n`);
  const { status } = spawnSync(node, command, { stdio: 'inherit' });
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  process.stderr.write(`failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
