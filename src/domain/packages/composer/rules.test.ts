import { expect, test } from 'vitest';
import { descriptionOf, nameIn, versionOf, versionsDocument } from './rules.ts';

test.each([
  ['v1.0.0', '1.0.0'],
  ['1.2', '1.2'],
  ['V2.0.0-beta.1', '2.0.0-beta.1'],
  ['1.0.0RC2', '1.0.0RC2'],
])('the tag %s is the version %s', (name, version) => {
  expect(versionOf({ kind: 'tag', name })).toBe(version);
});

test.each(['', 'latest', '1.0.0.0.0', '1.0/..', 'v', `1.${'0'.repeat(300)}`])('%j is no version', (name) => {
  expect(() => versionOf({ kind: 'tag', name })).toThrow('not the name of a version');
});

test.each([
  ['main', 'dev-main'],
  ['feature/x', 'dev-feature/x'],
  ['1.2', '1.2.x-dev'],
  ['v3', '3.x-dev'],
  ['4.x', '4.x-dev'],
])('the branch %s is the version %s', (name, version) => {
  expect(versionOf({ kind: 'branch', name })).toBe(version);
});

test('a description has a name', () => {
  expect(descriptionOf('{"name": "acme/stone", "require": {"php": ">=7"}}')).toEqual({
    name: 'acme/stone',
    description: { name: 'acme/stone', require: { php: '>=7' } },
  });
});

test.each([
  ['', 'name is invalid'],
  ['x', 'not a JSON object'],
  ['[]', 'not a JSON object'],
  ['{"name": "acme/stone", "a": "\\u0000"}', 'not a JSON object'],
  [`{"name": "acme/stone", "a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'not a JSON object'],
  ['{}', 'name is invalid'],
  ['{"name": "stone"}', 'name is invalid'],
  ['{"name": "Acme/stone"}', 'name is invalid'],
  ['{"name": "acme/../stone"}', 'name is invalid'],
  ['{"name": "acme/ѕtone"}', 'name is invalid'],
  ['{"name": ["acme/stone"]}', 'name is invalid'],
  [`{"name": "acme/${'a'.repeat(300)}"}`, 'name is invalid'],
])('%j is refused', (text, problem) => {
  expect(() => descriptionOf(text)).toThrow(problem);
});

test.each([
  ['acme/stone.json', 'acme/stone'],
  ['acme/stone~dev.json', undefined],
  ['acme/stone', undefined],
  ['../stone.json', undefined],
])('%s names %s', (path, name) => {
  expect(nameIn(path, '.json')).toBe(name);
});

test('what a description says of its own version does not count', () => {
  const row = { id: 7, project_id: 1, project_path: 'quarry/stone', version: '1.0', sha: 'abc' };
  const description = { name: 'other/name', version: '9', dist: {}, type: 'library' };
  const document = JSON.parse(versionsDocument('http://h', 'acme/stone', [{ ...row, description }]));
  expect(document).toEqual({
    packages: {
      'acme/stone': {
        '1.0': {
          name: 'acme/stone',
          version: '1.0',
          type: 'library',
          uid: 7,
          dist: {
            type: 'zip',
            url: 'http://h/api/v4/projects/1/packages/composer/archives/acme/stone.zip?sha=abc',
            reference: 'abc',
            shasum: '',
          },
          source: { type: 'git', url: 'http://h/quarry/stone.git', reference: 'abc' },
        },
      },
    },
  });
});

test('a long text that is no name is none at once', () => {
  const long = 'a'.repeat(200);
  expect(nameIn(`${long}/.json`, '.json')).toBeUndefined();
  expect(nameIn(`a/${long}!.json`, '.json')).toBeUndefined();
  expect(() => versionOf({ kind: 'tag', name: `1.0-beta${'1'.repeat(200)}x` })).toThrow('version');
});
