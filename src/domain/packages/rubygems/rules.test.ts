import { expect, test } from 'vitest';
import { infoText, specsDocument, versionsText } from './documents.ts';
import * as ruby from './marshal.ts';
import { compareVersions, fileNameOf, gemOf, isPrerelease, isVersion } from './rules.ts';

const gemspec = (more = '', name = 'stone', version = "'1.0'") => `--- !ruby/object:Gem::Specification
name: ${name}
version: !ruby/object:Gem::Version
  version: ${version}
platform: ruby
authors:
- Ann
autorequire:
files:
- "lib/: [ {"
- name: other
${more}`;

const dependencies = `dependencies:
- !ruby/object:Gem::Dependency
  name: slate
  requirement: &id001 !ruby/object:Gem::Requirement
    requirements:
    - - "~>"
      - !ruby/object:Gem::Version
        version: '0.9'
    - - ">="
      - !ruby/object:Gem::Version
        version: 0.9.1
  type: :runtime
  prerelease: false
  version_requirements: *id001
- !ruby/object:Gem::Dependency
  name: rake
  requirement: !ruby/object:Gem::Requirement
    requirements: []
  type: :development
description: |
  dark
  and: hard
required_ruby_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '2.0'
`;

test('a description is what programs read of it', () => {
  expect(gemOf(gemspec(dependencies))).toEqual({
    name: 'stone',
    version: '1.0',
    platform: 'ruby',
    authors: ['Ann'],
    email: [],
    licenses: [],
    metadata: {},
    description: 'dark\nand: hard\n',
    requiredRuby: [['>=', '2.0']],
    requiredRubygems: [],
    dependencies: [
      {
        name: 'slate',
        development: false,
        requirement: [
          ['~>', '0.9'],
          ['>=', '0.9.1'],
        ],
      },
      { name: 'rake', development: true, requirement: [] },
    ],
  });
});

test.each([
  ['', 'name is invalid'],
  ['granite', 'name is invalid'],
  [gemspec('', '../a'), 'name is invalid'],
  [gemspec('', 'ѕtone'), 'name is invalid'],
  [gemspec('', '"123"'), 'name is invalid'],
  [gemspec('', 'a'.repeat(300)), 'name is invalid'],
  [gemspec('', 'stone', 'one'), 'version is invalid'],
  [gemspec('', 'stone', '1.0/..'), 'version is invalid'],
  [gemspec().replace('platform: ruby', 'platform: ../x'), 'platform is invalid'],
  [gemspec('dependencies:\n- name: a/b\n'), 'a dependency is invalid'],
  [
    gemspec('required_ruby_version:\n  requirements:\n  - - "=="\n    - version: "1"\n'),
    'a requirement is invalid',
  ],
  [gemspec('metadata: {'), 'not YAML'],
  [gemspec(`metadata: ${'['.repeat(100)}`), 'too deep'],
  [gemspec(`summary: ${'a'.repeat(300_000)}`), 'too long'],
  [gemspec(`authors:\n${'- a\n'.repeat(20_000)}`), 'too long'],
])('%j is refused', (text, problem) => {
  expect(() => gemOf(text)).toThrow(problem);
});

test('many files are no reason to refuse it', () => {
  expect(gemOf(gemspec('- a\n'.repeat(50_000))).name).toBe('stone');
});

test('versions have the order of Ruby', () => {
  const ordered = [
    '0.9',
    '1.0.a',
    '1.0.b1',
    '1.0.b2',
    '1.0.rc1',
    '1.0',
    '1.0.0.1',
    '1.2',
    '1.10',
    '2.0-x',
    '2.0',
  ];
  expect(ordered.every(isVersion)).toBe(true);
  expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
  expect(compareVersions('1.0', '1.0.0')).toBe(0);
  expect(['1.0.a', '2.0-x', '1.0'].map(isPrerelease)).toEqual([true, true, false]);
});

test.each(['', 'a', '1.', '1..0', '1 ', '1.0\0', '１.0', `1.${'0'.repeat(300)}`])(
  '%j is no version',
  (text) => {
    expect(isVersion(text)).toBe(false);
  },
);

test('a platform is in the name of the file', () => {
  const gem = { name: 'stone', version: '1.0' };
  expect(fileNameOf({ ...gem, platform: 'ruby' })).toBe('stone-1.0.gem');
  expect(fileNameOf({ ...gem, platform: 'x86_64-linux' })).toBe('stone-1.0-x86_64-linux.gem');
});

test.each([
  [ruby.number(0), 'i\x00'],
  [ruby.number(122), 'i\x7f'],
  [ruby.number(123), 'i\x01\x7b'],
  [ruby.number(300), 'i\x02\x2c\x01'],
  [ruby.text('ü'), 'I"\x07\xc3\xbc\x06:\x06ET'],
  [ruby.array([ruby.nil, ruby.yes, ruby.no]), '[\x080TF'],
  [ruby.hash([[ruby.symbol('a'), ruby.text('b')]]), '{\x06:\x06aI"\x06b\x06:\x06ET'],
])('values are as Ruby writes them: %#', (value, expected) => {
  expect(value.toString('latin1')).toBe(expected);
});

const indexed = (version: string, platform = 'ruby') => {
  const gem = { ...gemOf(gemspec(dependencies, 'stone', `'${version}'`)), platform };
  const created_at = new Date('2024-11-28T01:02:03Z');
  return { name: gem.name, sha256: Buffer.from('abcd', 'hex'), created_at, gem };
};

test('the compact index', () => {
  const gems = [indexed('1.10'), indexed('1.9', 'java')];
  expect(infoText(gems)).toBe(`---
1.9-java slate:~> 0.9&>= 0.9.1|checksum:abcd,ruby:>= 2.0
1.10 slate:~> 0.9&>= 0.9.1|checksum:abcd,ruby:>= 2.0
`);
  expect(versionsText(gems)).toMatch(
    /^created_at: 2024-11-28T01:02:03.000Z\n---\nstone 1.9-java,1.10 [0-9a-f]{32}\n$/,
  );
  expect(versionsText([])).toBe('created_at: 1970-01-01T00:00:00.000Z\n---\n');
});

test('the newest release of each platform, and what comes before releases', () => {
  const gems = [indexed('1.10'), indexed('1.9'), indexed('1.8', 'java'), indexed('2.0.rc1')];
  const versionsIn = (kind: 'specs' | 'latest_specs' | 'prerelease_specs') =>
    specsDocument(gems, kind)
      .toString('latin1')
      .match(/\d\.\d+(\.rc1)?/g);
  expect(versionsIn('specs')).toEqual(['1.8', '1.9', '1.10']);
  expect(versionsIn('latest_specs')).toEqual(['1.8', '1.10']);
  expect(versionsIn('prerelease_specs')).toEqual(['2.0.rc1']);
});
