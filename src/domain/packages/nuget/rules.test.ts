import { expect, test } from 'vitest';
import { requestOf } from './odata.ts';
import { compareVersions, fileNameOf, normalVersion, nuspecOf, versionParts } from './rules.ts';

test.each([
  ['1.0', '1.0.0'],
  ['1.0.0.0', '1.0.0'],
  ['01.002.0003', '1.2.3'],
  ['1.2.3.4', '1.2.3.4'],
  ['1.0.0-Beta.1+abc', '1.0.0-Beta.1'],
])('%s is %s', (text, expected) => {
  expect(normalVersion(text)).toBe(expected);
});

test.each([
  '',
  '1',
  'v1.0',
  '1.0.',
  '1.0-',
  '1.0.0.0.0',
  '1.0/..',
  '1.0\0',
  '１.0',
  `1.0-${'a'.repeat(255)}`,
])('%j is no version', (text) => {
  expect(normalVersion(text)).toBeUndefined();
});

test('versions have an order, of four numbers and in any case', () => {
  const ordered = ['1.0.0-1', '1.0.0-alpha', '1.0.0-BETA', '1.0.0-rc', '1.0.0', '1.0.0.1', '1.0.1', '1.10.0'];
  const parts = ordered.map(versionParts);
  expect([...parts].reverse().sort(compareVersions)).toEqual(parts);
  expect(compareVersions(versionParts('1.0.0-beta'), versionParts('1.0.0-BETA'))).toBe(0);
});

const nuspec = (metadata: string) => `<?xml version="1.0"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"><metadata>${metadata}</metadata></package>`;

test('a description is what programs read of it', async () => {
  const text = nuspec(`<id>Acme.Stone</id><version>1.0</version><authors>Ann, Bo</authors>
    <description>Dark &amp; hard\u0001</description><tags>a b</tags><projectUrl>https://example.com/x</projectUrl>
    <iconUrl>javascript:alert(1)</iconUrl><dependencies><dependency id="Any" version="[1.0]"/>
    <group targetFramework=".NETStandard2.0"><dependency id="Slate" version="2.0"/></group><group/></dependencies>`);
  expect(await nuspecOf(text.replace('\u0001', ''))).toEqual({
    id: 'Acme.Stone',
    version: '1.0.0',
    description: {
      authors: 'Ann, Bo',
      description: 'Dark & hard',
      tags: 'a b',
      projectUrl: 'https://example.com/x',
      dependencies: [
        { id: 'Any', range: '[1.0]' },
        { id: 'Slate', range: '2.0', targetFramework: '.NETStandard2.0' },
      ],
    },
  });
});

test.each([
  ['', 'id is invalid'],
  ['<id>../a</id><version>1.0</version>', 'id is invalid'],
  ['<id>..</id><version>1.0</version>', 'id is invalid'],
  ['<id>аcme</id><version>1.0</version>', 'id is invalid'],
  [`<id>${'a'.repeat(256)}</id><version>1.0</version>`, 'id is invalid'],
  ['<id>a</id><version>one</version>', 'version is invalid'],
  ['<id>a</id><version>1.0</version><dependencies><dependency id="a/b"/></dependencies>', 'a dependency'],
  [`<dependencies>${'<dependency id="a"/>'.repeat(1_001)}</dependencies>`, 'more than 1000'],
  ['<id>', 'not XML'],
])('%j is refused', async (metadata, problem) => {
  await expect(nuspecOf(nuspec(metadata))).rejects.toThrow(problem);
});

test('entities are not expanded', async () => {
  const text = `<!DOCTYPE a [<!ENTITY x "y">]>${nuspec('<id>a</id><version>1.0</version>')}`;
  await expect(nuspecOf(text)).rejects.toThrow('not XML');
});

test('files have small letters', () => {
  expect(fileNameOf('Acme.Stone', '1.0.0-RC', 'snupkg')).toBe('acme.stone.1.0.0-rc.snupkg');
});

const none = { id: undefined, filter: undefined };
test.each([
  ['$metadata', none, { kind: 'metadata' }],
  ["Packages(Id='a.b',Version='1.0')", none, { kind: 'packages', id: 'a.b', version: '1.0.0', single: true }],
  ['FindPackagesById()', { ...none, id: "'a.b'" }, { kind: 'packages', id: 'a.b', single: false }],
  [
    'Packages()',
    { ...none, filter: "(tolower(Id) eq 'a') and IsLatestVersion" },
    { kind: 'packages', id: 'a', newest: true, single: false },
  ],
  [
    'Packages',
    { ...none, filter: "Id eq 'a' and Version eq '1.0'" },
    { kind: 'packages', id: 'a', version: '1.0.0', single: false },
  ],
  ['Other()', none, undefined],
])('%s asks', (resource, options, expected) => {
  expect(requestOf(resource, options)).toEqual(expected);
});

test.each(['Packages()', 'FindPackagesById()', "Packages(Id='a',Version='x')"])(
  '%s is refused',
  (resource) => {
    expect(() => requestOf(resource, none)).toThrow();
  },
);
