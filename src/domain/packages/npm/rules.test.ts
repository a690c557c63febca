import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { deprecations, publication, requireTag } from './rules.ts';

const content = Buffer.from('granite');
const file = {
  size: content.length,
  digests: new Map(['sha1', 'sha512'].map((each) => [each, createHash(each).update(content).digest()])),
};
const [sha1, sha512] = [...file.digests.values()];
const integrity = `sha512-${sha512?.toString('base64')}`;

const document = (manifest: object = {}, others: object = {}) =>
  ({
    versions: { '1.0.0': { version: '1.0.0', ...manifest } },
    _attachments: { 'stone-1.0.0.tgz': { data: '' } },
    ...others,
  }) as never;
const published = (manifest?: object, others?: object) =>
  publication('stone', document(manifest, others), file);

test('the first version goes under the first tag, without what nobody needs to install it', () => {
  const manifest = { readme: 'x', exports: {}, dist: {}, contributors: [], bin: 'x', deprecated: 'Soft.' };
  expect(published(manifest, { 'dist-tags': { next: '1.0.0', other: '1.0.0' } })).toEqual({
    version: '1.0.0',
    tag: 'next',
    fileName: 'stone-1.0.0.tgz',
    integrity,
    manifest: '{"version":"1.0.0","bin":"x","name":"stone"}',
  });
  expect(published().tag).toBe('latest');
});

test.each([
  [{ install: 'x' }, true],
  [{ preinstall: 'x' }, true],
  [{ postinstall: 'x' }, true],
  [{ test: 'x' }, undefined],
  ['install', undefined],
])('with the scripts %j it has an install script: %s', (scripts, expected) => {
  expect(JSON.parse(published({ scripts }).manifest).hasInstallScript).toBe(expected);
});

test.each([
  { shasum: sha1?.toString('hex') },
  { shasum: sha1?.toString('hex').toUpperCase() },
  { integrity },
  { integrity: `${integrity}?option sha1-${sha1?.toString('base64')} sha384-x` },
  { shasum: '', integrity: '' },
  { shasum: 7, integrity: null },
])('%j are its digests', (dist) => {
  expect(published({ dist }).integrity).toBe(integrity);
});

test.each([
  [{ dist: { shasum: 'ab' } }, {}, 'dist.shasum'],
  [{ dist: { integrity: `${integrity} sha1-x` } }, {}, 'dist.integrity'],
  [{ name: 'other' }, {}, 'name'],
  [{}, { name: 'other' }, 'name'],
  [{ version: '1.0.1' }, {}, 'version'],
  [{}, { versions: [] }, 'Version is empty'],
  [{}, { versions: { '1.0.0': 7 } }, 'Version is empty'],
  [{}, { versions: { '1.0': {} } }, 'SemVer'],
  [{}, { _attachments: { 'stone-1.0.0.tgz': { length: 8 } } }, 'length'],
  [{}, { _attachments: { 'stone-1.0.0.tgz': 'x' } }, 'Attachment'],
  [{}, { 'dist-tags': { '1.0.0': '1.0.0' } }, 'Tag'],
  [{ keywords: ['x'.repeat(20_000)] }, {}, 'too large'],
])('%j with %j is refused', (manifest, others, message) => {
  expect(() => published(manifest, others)).toThrow(message);
});

test('an empty file is none', () => {
  expect(() => publication('stone', document(), { ...file, size: 0 })).toThrow('Attachment');
});

test.each(['@a/b', '@dark.group/Stone_2', '-+._'])('%s is a name', (name) => {
  const _attachments = { [`${name}-1.0.0.tgz`]: {} };
  expect(publication(name, document({}, { _attachments }), file).fileName).toBe(`${name}-1.0.0.tgz`);
});

test.each(['', 'a b', 'a/b', '@a/', '@/a', '@a/b/c', 'é', '@a/b ', 'x'.repeat(256)])(
  '%j is no name',
  (name) => {
    expect(() => publication(name, document(), file)).toThrow('valid NPM package name');
  },
);

test.each(['latest', 'v1', '1', '1.x', 'a/b'])('%s is a tag', (tag) => {
  expect(requireTag(tag)).toBe(tag);
});

test.each(['', '1.0.0', '1.0.0-beta', 'x'.repeat(256)])('%j is no tag', (tag) => {
  expect(() => requireTag(tag)).toThrow('Tag');
});

test('versions that say nothing stay as they are', () => {
  const versions = {
    '1.0.0': { deprecated: 'Soft.' },
    '1.1.0': { deprecated: '' },
    '1.2.0': {},
    '1.3.0': null,
  };
  expect(deprecations({ versions } as never)).toEqual([
    { version: '1.0.0', text: 'Soft.' },
    { version: '1.1.0', text: '' },
  ]);
  for (const none of [{}, { versions: { '1.0.0': { deprecated: true } } }])
    expect(() => deprecations(none as never)).toThrow('missing');
});
