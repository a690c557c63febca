/** The step of a release, run by a shell, with programs in place of the published ones that say what they are told. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlannedRelease } from '../file/plan.ts';
import { expandedWord, releaseScript } from './release-step.ts';

let folder: string;
/** Each argument ends with a NUL. */
const TELLS = '#!/bin/sh\nprintf "%s\\0" "$(basename "$0")" "$@"\n';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-step-'));
  for (const name of ['release-cli', 'glab']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, name), TELLS);
    chmodSync(join(folder, name, name), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The calls of the programs, as the shell makes them where only this program is installed. */
function callsOf(script: string, program: 'release-cli' | 'glab'): string[][] {
  const env = {
    PATH: `${join(folder, program)}:/usr/bin:/bin`,
    CI_COMMIT_TAG: 'v1.0',
    CI_COMMIT_SHA: 'abc',
    CI_JOB_TOKEN: 'glcbt-1',
    CI_PROJECT_PATH: 'stones/house',
    CI_SERVER_FQDN: 'git.example.com:8443',
    CI_SERVER_PROTOCOL: 'https',
    CI_SERVER_URL: 'https://git.example.com:8443',
    NOTE: 'a "quoted" $CI_COMMIT_SHA `note`',
  };
  const told = execFileSync('/bin/sh', ['-eu', '-c', script], { env, encoding: 'utf8' }).split('\0');
  const calls: string[][] = [];
  for (const word of told.slice(0, -1)) word === program ? calls.push([word]) : calls.at(-1)?.push(word);
  return calls;
}

test.each([
  ['Release one', 'Release one'],
  ['', ''],
  [`Of $CI_COMMIT_TAG, \${CI_COMMIT_TAG}`, 'Of v1.0, v1.0'],
  ['$NOTE', 'a "quoted" $CI_COMMIT_SHA `note`'],
  ['It costs \\$5', 'It costs $5'],
  ['It costs \\\\$CI_COMMIT_TAG', 'It costs \\$CI_COMMIT_TAG'],
  ['$(echo by a command)', 'by a command'],
  ['"; touch /tmp/no; "', '"; touch /tmp/no; "'],
  ['`touch /tmp/no`', '`touch /tmp/no`'],
  ["it's; a & b | c > d < e (f) * ? ~ # !", "it's; a & b | c > d < e (f) * ? ~ # !"],
  ['ends with \\', 'ends with \\'],
  ['a\\nb \\" c', 'a\\nb \\" c'],
  ['# Notes\n\n- one\n- "two"\n', '# Notes\n\n- one\n- "two"\n'],
  ['--name', '--name'],
  ['Gränit 石 $', 'Gränit 石 $'],
])('%j is told as %j', (text, told) =>
  expect(callsOf(`release-cli ${expandedWord(text)}`, 'release-cli')).toEqual([['release-cli', told]]),
);

const least: PlannedRelease = {
  tagName: '$CI_COMMIT_TAG',
  tagMessage: null,
  name: null,
  description: 'It is "there".',
  ref: null,
  releasedAt: null,
  milestones: [],
  links: [],
};
const whole: PlannedRelease = {
  ...least,
  tagMessage: 'Annotated',
  name: 'Release $CI_COMMIT_TAG',
  ref: 'main',
  releasedAt: '2030-01-02T03:04:05Z',
  milestones: ['m 1', 'm2'],
  links: [
    {
      name: 'a "b"',
      url: 'https://example.com/$CI_COMMIT_TAG',
      filepath: '/bin/a',
      linkType: 'package',
    },
    { name: 'c', url: 'https://example.com/c', filepath: null, linkType: null },
  ],
};
const log = [
  ...['auth', 'login', '--job-token', 'glcbt-1', '--hostname', 'git.example.com:8443'],
  ...['--api-protocol', 'https'],
];
const [first, second] = [
  '{"name":"a \\"b\\"","url":"https://example.com/v1.0","filepath":"/bin/a","link_type":"package"}',
  '{"name":"c","url":"https://example.com/c"}',
];

test.each<[program: 'release-cli' | 'glab', release: PlannedRelease, calls: string[][]]>([
  ['release-cli', least, [['create', '--description', 'It is "there".', '--tag-name', 'v1.0']]],
  [
    'release-cli',
    whole,
    [
      [
        ...['create', '--name', 'Release v1.0', '--description', 'It is "there".', '--tag-name', 'v1.0'],
        ...['--tag-message', 'Annotated', '--ref', 'main', '--released-at', '2030-01-02T03:04:05Z'],
        ...['--milestone', 'm 1', '--milestone', 'm2', '--assets-link', first, '--assets-link', second],
      ],
    ],
  ],
  [
    'glab',
    least,
    [
      log,
      [
        ...['release', 'create', '-R', 'stones/house', 'v1.0'],
        ...['--experimental-notes-text-or-file', 'It is "there".', '--ref', 'abc'],
        ...['--no-update', '--no-close-milestone'],
      ],
    ],
  ],
  [
    'glab',
    whole,
    [
      log,
      [
        ...['release', 'create', '-R', 'stones/house', 'v1.0', '--assets-links', `[${first},${second}]`],
        ...['--milestone', 'm 1,m2', '--name', 'Release v1.0'],
        ...['--experimental-notes-text-or-file', 'It is "there".', '--ref', 'main'],
        ...['--tag-message', 'Annotated', '--released-at', '2030-01-02T03:04:05Z'],
        ...['--no-update', '--no-close-milestone'],
      ],
    ],
  ],
])('%s makes the release (%#)', (program, release, calls) =>
  expect(callsOf(releaseScript(release), program)).toEqual(calls.map((call) => [program, ...call])),
);

test.each([
  ['costs \\$5', 'costs $5'],
  ['a\\b \\\\$CI_COMMIT_TAG \\"', 'a\\b \\$CI_COMMIT_TAG \\"'],
  ['$CI_COMMIT_TAG \\', 'v1.0 \\'],
])('a link %j is told as %j', (name, told) => {
  const link = { name, url: name, filepath: null, linkType: null };
  const script = releaseScript({ ...least, links: [link] });
  const linked = { name: told, url: told };
  expect(JSON.parse(callsOf(script, 'release-cli').at(-1)?.at(-1) ?? '')).toEqual(linked);
  const words = callsOf(script, 'glab').at(-1) ?? [];
  expect(JSON.parse(words[words.indexOf('--assets-links') + 1] ?? '')).toEqual([linked]);
});

test('the step fails where neither is installed', () => {
  const run = () =>
    execFileSync('/bin/sh', ['-c', releaseScript(least)], {
      env: { PATH: join(folder, 'none') },
      stdio: 'pipe',
    });
  expect(run).toThrow(/glab: not found|glab: command not found/);
});
