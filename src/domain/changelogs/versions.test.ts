/** Semantic versions and tags. */
import { expect, test } from 'vitest';
import { compareVersions, defaultTagParts, parseVersion, previousTag, tagVersion } from './versions.ts';

const version = (text: string) => {
  const parsed = parseVersion(text);
  if (!parsed) throw new Error(`${text} is no version`);
  return parsed;
};

test.each(['1.0', '01.0.0', '1.0.0-', '1.0.0-01', 'v1.0.0', '', '1.0.0 ', `1.0.${'1'.repeat(300)}`])(
  '%j is no version',
  (text) => expect(parseVersion(text)).toBeUndefined(),
);

test('versions are in the order of semver.org', () => {
  const ordered = [
    '0.9.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0',
    '1.2.0',
    '1.10.0',
    '99999999999999999999.0.0',
  ];
  const shuffled = ordered
    .toReversed()
    .toSorted((one, other) => compareVersions(version(one), version(other)));
  expect(shuffled).toEqual(ordered);
  expect(compareVersions(version('1.0.0+a'), version('1.0.0+b'))).toBe(0);
});

const tags = ['v1.0.0-pre1', 'v1.0.0', 'v1.1.0', 'v2.0.0', 'other', '1.1.1-x'];
test.each([
  ['2.1.0', 'v2.0.0'],
  ['1.1.1', 'v1.1.0'],
  ['1.2.0', 'v1.1.0'],
  ['2.0.0', 'v1.1.0'],
  ['1.0.0', undefined],
])('before %s is the tag %s', (text, name) => {
  const previous = previousTag(version(text));
  for (const tag of tags) previous.take({ name: tag, oid: '' }, defaultTagParts(tag));
  expect(previous.found()?.name).toBe(name);
});

test('the parts of a tag', () => {
  expect(tagVersion({ major: '1', minor: '2', patch: '3', pre: '' })).toEqual(version('1.2.3'));
  expect(tagVersion({ major: '1', minor: '2', patch: '3', pre: 'rc1' })).toBeUndefined();
  expect(tagVersion({ major: '1', minor: '2' })).toBeUndefined();
  expect(tagVersion({ major: 'x', minor: '2', patch: '3' })).toBeUndefined();
});
