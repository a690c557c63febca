/**
 * Files that we accept are such as the schema of editors knows: check-jsonschema (PyPI), which comes with that schema, looks at
 * those of the cases.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { configurationCases } from '../support/configuration-cases.ts';
import { PYTHON } from './python.ts';
import { cleanUp, makeFolder } from './support.ts';

afterAll(() => cleanUp());

/** What it finds wrong, by the titles of the cases, and why it is right all the same (facts for CI: `.gitlab-ci.yml`). */
const narrower = {
  'a bridge that mirrors': '`needs` may be one entry without a list',
  'a header without inputs': 'what is null is not there',
  'a release': '`milestones` may be one title without a list',
  'a script of lists in lists': 'lists are ten levels deep, not two',
  'an include of null': 'what is null is not there',
  extends: 'null takes away what the base has',
  'files with stars': 'a local file may have wildcards, also as a mere text',
  'files with two stars': 'a local file may have wildcards, also as a mere text',
  'inputs of other files, and own ones over them': 'a local file of inputs may be a mere text',
  needs: '`needs` may be one entry without a list',
  'nested stages': 'lists of stages are flattened',
  references: '`!reference` stands for a hash or a text, too, which the program sees as a list',
  'stages of the file, with the edges': 'a stage that is named twice is one stage',
  'start_in of seconds': 'a duration without a unit is in seconds',
  timeouts: 'a duration without a unit is in seconds',
  variables: 'a variable of null has no value',
};

/** What it cannot read. */
const unread = {
  'a name twice: the last one wins': 'it refuses a name that is there twice',
  'inputs of the pipeline': 'what inputs stand in is a text to it, which is no YAML without quotes',
  'unknown tags are ignored': 'it knows no other tag',
};

test('the files of the cases', () => {
  if (!existsSync(PYTHON)) throw new Error(`no ${PYTHON}: install it as .ci/run does`);
  const folder = makeFolder();
  const titles = new Map<string, string>();
  for (const { cases } of configurationCases)
    for (const { title, text, expected } of cases) {
      if (expected.some((line) => line.startsWith('error: '))) continue;
      // A header is a document of its own, and so is looked at.
      for (const document of text.split(/^---\n/m)) {
        const name = `${titles.size}.yml`;
        titles.set(name, title);
        writeFileSync(join(folder, name), document);
      }
    }
  const { stdout, stderr } = spawnSync(
    PYTHON,
    [
      ...['-m', 'check_jsonschema', '--builtin-schema', 'vendor.gitlab-ci', '--data-transform', 'gitlab-ci'],
      ...['--output-format', 'json', ...titles.keys()],
    ],
    { cwd: folder, encoding: 'utf8', timeout: 300_000, maxBuffer: 64 * 1_048_576 },
  );
  expect(stderr).toBe('');
  const { errors, parse_errors } = JSON.parse(stdout) as Record<
    'errors' | 'parse_errors',
    { filename: string; message: string }[]
  >;
  const of = (found: readonly { filename: string }[]) =>
    [...new Set(found.map(({ filename }) => titles.get(basename(filename))))].sort();
  expect(of(errors)).toEqual(Object.keys(narrower).sort());
  expect(of(parse_errors)).toEqual(Object.keys(unread).sort());
  expect(titles.size).toBeGreaterThan(150);
});
