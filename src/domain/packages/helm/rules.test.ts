import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartOf, indexDocument, isChannel } from './rules.ts';

test('a description as programs read it: numbers as they are written, and nothing that they do not know', () => {
  const chart = chartOf(`apiVersion: v2
name: app
version: 1.2.3
appVersion: 1.10
deprecated: true
icon:
keywords: [a, 1]
unknown: {a: b}
maintainers:
  - {name: The Mason, email: mason@example.com, other: x}
annotations: {a/b: "true", __proto__: c}
dependencies: [{name: b, version: ^1.0, enabled: false, tags: [x]}]
`);
  expect(chart).toMatchObject({ name: 'app', version: '1.2.3' });
  expect(JSON.parse(JSON.stringify(chart.description))).toEqual(
    JSON.parse(`{"apiVersion": "v2", "name": "app", "version": "1.2.3", "appVersion": "1.10", "deprecated": true,
      "keywords": ["a", "1"], "maintainers": [{"name": "The Mason", "email": "mason@example.com"}],
      "annotations": {"a/b": "true", "__proto__": "c"},
      "dependencies": [{"name": "b", "version": "^1.0", "enabled": false, "tags": ["x"]}]}`),
  );
});

test.each(['1.0.0', 'v1.2.3', '0.1.0-rc.1', '1.0.0-alpha+build.5', '1.0.0+20241128'])(
  '%s is a version',
  (version) => {
    expect(chartOf(`{name: app, version: "${version}"}`).version).toBe(version);
  },
);

test.each([
  ...['', '1', '1.0', '01.0.0', '1.0.0-', '1.0.0+', '1.0.0 ', '1.0.0/..', '1.0.0-a..b', '１.0.0'],
  `1.0.${'0'.repeat(300)}`,
])('%j is no version', (version) => {
  expect(() => chartOf(`{name: app, version: "${version}"}`)).toThrow('version is invalid');
});

test.each(['', '-a', 'a-', 'a..b', 'a/b', '..', '../a', 'аpp', 'a b', 'x'.repeat(256)])(
  '%j is no name and no channel',
  (name) => {
    expect(() => chartOf(`{name: "${name}", version: 1.0.0}`)).toThrow('name is invalid');
    expect(isChannel(name)).toBe(false);
  },
);

test.each([
  ['', 'it is invalid'],
  ['text', 'it is invalid'],
  ['[]', 'it is invalid'],
  ['{', 'not YAML'],
  ['a: &a [*a, *a]\nname: *a', 'name is invalid'],
  ['['.repeat(100), 'too deep'],
  ['- '.repeat(100), 'too deep'],
  ['a: b\n'.repeat(5_000), 'too long'],
  ['{name: app, version: 1.0.0, name: &a b, home: [*a, *a, *a]}', 'home is invalid'],
  ['{name: app, version: 1.0.0, appVersion: true}', 'appVersion is invalid'],
  ['{name: app, version: 1.0.0, keywords: a}', 'keywords is invalid'],
  ['{name: app, version: 1.0.0, maintainers: [a]}', 'maintainers is invalid'],
  ['{name: app, version: 1.0.0, annotations: {a: {b: c}}}', 'a is invalid'],
  ['{name: app, version: 1.0.0, deprecated: 1}', 'deprecated is invalid'],
  ['{name: app, version: 1.0.0, description: "a\\0"}', 'description is invalid'],
  ['{name: app, version: 1.0.0, description: "\\uD83D"}', 'description is invalid'],
  ['{name: app, version: 1.0.0, description: "\\x85"}', 'description is invalid'],
  [`{name: app, version: 1.0.0, annotations: {${'k'.repeat(256)}: a}}`, 'annotations is invalid'],
])('%j is refused', (text, problem) => {
  expect(() => chartOf(text)).toThrow(problem);
});

test('an index is YAML of both versions, whatever a description says', () => {
  const description = {
    name: 'yes',
    version: '1.0.0+a',
    description: 'a: b # c\n- "d" \u2028 \u{1f600} {{ x }} *y &z',
    appVersion: '1.10',
    deprecated: true,
  };
  const time = new Date('2024-11-28T01:02:03.000Z');
  const file = { sha256: Buffer.from('abcd', 'hex'), created_at: time, description };
  const text = indexDocument(
    [
      { ...file, name: 'yes', file_name: 'yes-1.0.0+a.tgz' },
      { ...file, name: 'b', file_name: 'b-1.tgz' },
      { ...file, name: 'yes', file_name: 'yes-0.9.0.tgz' },
    ],
    '/api/v4/projects/1/packages/helm',
  );
  const entry = (name: string) => ({
    ...description,
    created: '2024-11-28T01:02:03.000Z',
    digest: 'abcd',
    urls: [`charts/${name}`],
  });
  for (const version of ['1.1', '1.2'] as const)
    expect(parse(text, { version })).toEqual({
      apiVersion: 'v1',
      entries: { yes: [entry('yes-1.0.0%2Ba.tgz'), entry('yes-0.9.0.tgz')], b: [entry('b-1.tgz')] },
      generated: '2024-11-28T01:02:03.000Z',
      serverInfo: { contextPath: '/api/v4/projects/1/packages/helm' },
    });
  expect(parse(indexDocument([], '/'))).toMatchObject({ entries: {} });
});
