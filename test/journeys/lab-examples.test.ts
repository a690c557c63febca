/** The tests in examples/, in other languages: each starts a lab of the built program, resets it, and ends it. */
import { cpSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processesOf } from '../support/left-in-folder.ts';
import { found, runDebian } from './debian.ts';
import { PYTHON } from './python.ts';
import { cleanUp, launcher, makeFolder } from './support.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');

let folder: string;
beforeAll(() => {
  // Of Java, maven brings no more than what runs programs.
  found('javac', 'default-jdk-headless');
  folder = makeFolder();
  // What programs leave beside the tests is not for the repository.
  cpSync(examples, folder, { recursive: true });
});
afterAll(() => cleanUp());

type Example = { program: string; pack: string; args: string[]; said: RegExp };

const requirements = 'what is in test/journeys/requirements.txt';
/** What is fetched and compiled is kept between runs. */
const kept = join(homedir(), '.cache', 'ashlar', 'journeys');

const table: [string, Example][] = [
  ['python', { program: PYTHON, pack: requirements, args: ['-m', 'pytest'], said: /2 passed/ }],
  [
    'go',
    { program: 'go', pack: 'golang-go', args: ['test', '-v'], said: /(--- PASS: Test[\s\S]*){2}\nPASS\n/ },
  ],
  [
    'java',
    {
      program: 'mvn',
      pack: 'maven',
      args: ['-B', '-ntp', `-Dmaven.repo.local=${join(kept, 'maven')}`, 'test'],
      said: /Tests run: 2, Failures: 0, Errors: 0, Skipped: 0/,
    },
  ],
  [
    'ruby',
    {
      program: 'ruby',
      pack: 'ruby',
      args: ['closing_test.rb'],
      said: /2 runs, .* 0 failures, 0 errors, 0 skips/,
    },
  ],
];

const run = ({ program, pack, args }: Example, name: string, command: string) =>
  runDebian({ program, pack }, join(folder, `lab-${name}`), args, {
    ASHLAR_COMMAND: command,
    GOTOOLCHAIN: 'local',
    GOCACHE: join(kept, 'go-build'),
  });

test.each(table)('the tests in %s pass, and their lab has ended', async (name, example) => {
  // A name by which the lab is found, whatever started it.
  const lab = `of-${name}-${process.pid}`;
  const { code, output } = await run(example, name, `${process.execPath} ${launcher} lab --name ${lab}`);
  expect([code, output]).toEqual([0, expect.stringMatching(example.said)]);
  expect(processesOf(lab)).toEqual([]);
});

test.each(table)('the tests in %s fail where no lab starts', async (name, example) => {
  const { code, output } = await run(example, name, `${process.execPath} ${launcher} lab --tier gold`);
  expect([code > 0, output]).toEqual([true, expect.stringMatching(/tier is one of free/)]);
});
