import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObjectId, isRefName, isWritableRef, pathComponents, shortRef } from './names.ts';
import { gitEnvironment } from './program/program.ts';

describe('names of refs', () => {
  test.each(['main', 'feature/one', 'v1.0', 'a-b', 'ü', 'user@host', 'x{y}', 'issue#1', '日本/語'])(
    '%j is one',
    (name) => {
      expect(isRefName(name)).toBe(true);
    },
  );

  test.each([
    '',
    '@',
    'HEAD',
    '-x',
    '--upload-pack=x',
    'refs/heads/x',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{1}',
    '/a',
    'a/',
    'a//b',
    'a.',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a\nb',
    'a\0b',
    'a\x7f',
    'a'.repeat(251),
    'a'.repeat(40),
  ])('%j is none', (name) => {
    expect(isRefName(name)).toBe(false);
  });

  test('what we take, git takes', () => {
    const name = fc.string({ unit: fc.constantFrom(...'ab/.-@{}~^:?*[\\ \n#%&ü'), maxLength: 12 });
    fc.assert(
      fc.property(name, (text) => {
        if (!isRefName(text)) return;
        const { status } = spawnSync('git', ['check-ref-format', `refs/heads/${text}`], {
          env: gitEnvironment,
        });
        expect(status).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test.each<[string, boolean]>([
    ['refs/heads/main', true],
    ['refs/tags/v1', true],
    ['refs/notes/commits', true],
    // Replacing objects is forbidden.
    ['refs/replace/x', false],
    ['refs/heads/-x', false],
    ['refs/ashlar/x', false],
    ['refs/heads/../../config', false],
    ['HEAD', false],
    ['main', false],
  ])('%s can be written: %s', (ref, expected) => {
    expect(isWritableRef(ref)).toBe(expected);
  });

  test('short names', () => {
    expect(shortRef('refs/heads/a/b')).toEqual({ kind: 'branch', name: 'a/b' });
    expect(shortRef('refs/tags/v1')).toEqual({ kind: 'tag', name: 'v1' });
    expect(shortRef('refs/notes/x')).toBeUndefined();
    expect(isObjectId('a'.repeat(40))).toBe(true);
    expect(isObjectId('A'.repeat(40))).toBe(false);
  });
});

describe('paths in trees', () => {
  test.each(['a', 'a/b c', '.gitignore', 'a/.github/x', '..a', 'a..', 'ü/日', 'git~2', '-x'])(
    '%j is one',
    (path) => {
      expect(pathComponents(path)).toEqual(path.split('/'));
    },
  );

  test.each([
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    '.git',
    '.GIT/config',
    'a/.Git ',
    '.git.',
    'git~1/x',
    '.g\u200cit/config',
    '.git::$INDEX_ALLOCATION',
    'a\\.git\\config',
    'a\0b',
    'a\nb',
    'a'.repeat(5_000),
    Array.from({ length: 101 }, () => 'a').join('/'),
  ])('%j is none', (path) => {
    expect(pathComponents(path)).toBeUndefined();
  });
});
