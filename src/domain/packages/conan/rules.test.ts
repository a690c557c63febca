/** Cases of references, places, files and of what a conaninfo.txt says. */
import { expect, test } from 'vitest';
import {
  infoOf,
  likePattern,
  placeOf,
  projectPathsOf,
  qualifierOf,
  referenceOf,
  replacedBy,
  requireFile,
  timeText,
  unrevisedInfo,
  unrevisedPlace,
} from './rules.ts';

const input = (name: string, version = '1.0', user = '_', channel = '_') => ({
  package_name: name,
  package_version: version,
  package_username: user,
  package_channel: channel,
});
const RREV = 'a'.repeat(32);
const PREV = 'b'.repeat(40);

test.each([
  [input('stone'), '_/_'],
  [input('Stone_2', '1.0+x-y.z', 'quarry+granite', 'stable'), 'quarry+granite/stable'],
  [input('stone', '10', 'quarry'), 'quarry/_'],
  [input('a'.repeat(101), '1.0', 'u'.repeat(255), 'stable'), `${'u'.repeat(255)}/stable`],
])('%j is a reference', (given, qualifier) => expect(qualifierOf(referenceOf(given))).toBe(qualifier));

test.each([
  [input(''), 'package_name'],
  [input('a'), 'package_name'],
  [input('..'), 'package_name'],
  [input('-stone'), 'package_name'],
  [input('st/one'), 'package_name'],
  [input('stone\n'), 'package_name'],
  [input('stöne'), 'package_name'],
  [input('a'.repeat(102)), 'package_name'],
  [input('stone', '1'), 'package_version'],
  [input('stone', '1.0@x'), 'package_version'],
  [input('stone', '1.0', '.git', 'stable'), 'package_username'],
  [input('stone', '1.0', 'u'.repeat(256), 'stable'), 'package_username'],
  [input('stone', '1.0', 'quarry', 'a b'), 'package_channel'],
  [input('stone', '1.0', '_', 'stable'), 'package_channel'],
])('%j is none', (given, what) => expect(() => referenceOf(given)).toThrow(what));

test('a place is a revision of a recipe, or one of a package of that', () => {
  expect(placeOf({ recipe_revision: RREV })).toEqual({
    recipe_revision: RREV,
    reference: '',
    package_revision: '',
  });
  const whole = { recipe_revision: PREV, conan_package_reference: 'A0', package_revision: RREV };
  expect(placeOf(whole)).toEqual({ recipe_revision: PREV, reference: 'A0', package_revision: RREV });
  for (const recipe_revision of ['', '0', 'a'.repeat(33), 'g'.repeat(32), `${RREV}\n`])
    expect(() => placeOf({ recipe_revision })).toThrow('recipe_revision is invalid');
  expect(() => placeOf({ ...whole, package_revision: '0' })).toThrow('package_revision is invalid');
  for (const conan_package_reference of ['', '../a', 'a'.repeat(101)])
    expect(() => placeOf({ ...whole, conan_package_reference })).toThrow('conan_package_reference');
  expect(unrevisedPlace()).toEqual({ recipe_revision: '0', reference: '', package_revision: '' });
  expect(unrevisedPlace('a')).toEqual({ recipe_revision: '0', reference: 'a', package_revision: '0' });
});

const recipe = placeOf({ recipe_revision: RREV });
const made = placeOf({ recipe_revision: RREV, conan_package_reference: 'a', package_revision: PREV });

test.each([
  ['conanfile.py', true, false],
  ['conanmanifest.txt', true, true],
  ['conan_sources.tgz', true, false],
  ['conan_export.txz', true, false],
  ['conaninfo.txt', false, true],
  ['conan_package.tgz', false, true],
  ['conan_package.tzst', false, true],
  ['metadata/logs/build.log', true, true],
  ['metadata/sign/a signature', true, true],
  ['metadata/.conan/x', true, true],
  ['conan_package.t', false, false],
  ['conan_package.tar', false, false],
  ['conanfile.py/', false, false],
  ['Conanfile.py', false, false],
  ['', false, false],
  ['metadata', false, false],
  ['metadata/', false, false],
  ['metadata//a', false, false],
  ['metadata/../conanfile.py', false, false],
  ['metadata/..', false, false],
  ['metadata/a/./b', false, false],
  ['metadata/a\\b', false, false],
  ['metadata/a\nb', false, false],
  ['metadata/a\0', false, false],
  ['metadata/\ud800', false, false],
  [`metadata/${'a'.repeat(247)}`, false, false],
])('%j is a file of a recipe: %s, of a package: %s', (name, ofRecipe, ofPackage) => {
  for (const [place, has] of [
    [recipe, ofRecipe],
    [made, ofPackage],
  ] as const) {
    const judge = () => requireFile(place, name);
    if (has) expect(judge).not.toThrow();
    else expect(judge).toThrow('file_name is invalid');
  }
});

test.each([
  ['conanfile.py', ['conanfile.py']],
  ['conan_package.txz', ['conan_package.tgz', 'conan_package.txz', 'conan_package.tzst']],
  ['metadata/conan_package.txz', ['metadata/conan_package.txz']],
])('%s takes the place of %j', (name, others) => expect(replacedBy(name)).toEqual(others));

test('a conaninfo.txt says what a package is made for', () => {
  const text = `[settings]
os=Linux
  compiler.libcxx = libstdc++11
odd
[requires]
slate/1.Y
[options]
shared=False
__proto__=x
flags=a=b

# [options]
[env]
SECRET=1
[recipe_hash]
abc
`;
  const info = infoOf(text);
  expect(info).toEqual({
    settings: { os: 'Linux', 'compiler.libcxx': 'libstdc++11', odd: '' },
    options: JSON.parse('{"shared": "False", "__proto__": "x", "flags": "a=b"}'),
    requires: ['slate/1.Y'],
    recipe_hash: 'abc',
  });
  expect(unrevisedInfo(info)).toMatchObject({ requires: { 'slate/1.Y': null }, recipe_hash: 'abc' });
  expect(infoOf('')).toEqual({});
  expect(unrevisedInfo({})).toEqual({ settings: {}, options: {}, requires: {}, recipe_hash: null });
  expect(infoOf('a=b\n[settings]\r\nos=Linux\r\n[python_requires]\ntool/1.0')).toMatchObject({
    settings: { os: 'Linux' },
    python_requires: ['tool/1.0'],
  });
});

test.each([
  ['stone', 'stone'],
  ['stone*', 'stone%'],
  ['s?one/***', 's_one/%'],
  ['50%_\\', '50\\%\\_\\\\'],
])('%j is looked for as %j', (pattern, like) => expect(likePattern(pattern)).toBe(like));

test('what else programs send and are told', () => {
  expect(() => likePattern('*a'.repeat(257))).toThrow('q is longer');
  expect(timeText(new Date('2024-12-17T09:16:40.334Z'))).toBe('2024-12-17T09:16:40.334+0000');
  expect(projectPathsOf('quarry+deep+granite')).toEqual(['quarry/deep/granite']);
});
