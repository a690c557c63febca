/** Cases of manifests. */
import { expect, test } from 'vitest';
import { BadManifest, MAX_MANIFEST_BYTES, OCI_INDEX, parseManifest } from './parse.ts';

const IMAGE = 'application/vnd.oci.image.manifest.v1+json';
const DOCKER = 'application/vnd.docker.distribution.manifest.v2+json';
const LIST = 'application/vnd.docker.distribution.manifest.list.v2+json';

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
const descriptor = (letter: string, more: object = {}) => ({
  mediaType: 'application/octet-stream',
  digest: digestOf(letter),
  size: 1,
  ...more,
});
const config = descriptor('c', { mediaType: 'application/vnd.oci.image.config.v1+json' });
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const parse = (value: object, type?: string) => parseManifest(bytesOf({ schemaVersion: 2, ...value }), type);

test('an image needs its config and its layers, once each', () => {
  const layers = [descriptor('a'), descriptor('b'), descriptor('a')];
  for (const type of [IMAGE, DOCKER])
    expect(
      parse({ mediaType: type, config, layers, annotations: { a: 'b' } }, `${type}; charset=utf-8`),
    ).toEqual({
      mediaType: type,
      blobs: ['c', 'a', 'b'].map(digestOf),
      children: [],
      config: digestOf('c'),
      subject: null,
      artifactType: config.mediaType,
      annotations: { a: 'b' },
    });
  expect(parse({ config }, IMAGE).blobs).toEqual([digestOf('c')]);
});

test('an index needs its manifests', () => {
  for (const type of [OCI_INDEX, LIST])
    expect(parse({ manifests: [descriptor('a'), descriptor('b')] }, type)).toMatchObject({
      mediaType: type,
      blobs: [],
      children: ['a', 'b'].map(digestOf),
      config: null,
      artifactType: null,
    });
});

test('a subject and a type of its own', () => {
  const subject = descriptor('d');
  expect(parse({ config, layers: [], subject, artifactType: 'text/x' }, IMAGE)).toMatchObject({
    subject: digestOf('d'),
    artifactType: 'text/x',
  });
});

test('layers that others distribute need not be there', () => {
  const layers = [
    descriptor('a', { urls: ['https://example.com/a'] }),
    descriptor('b', { mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar' }),
    descriptor('e', { mediaType: 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip' }),
  ];
  expect(parse({ config, layers }, IMAGE).blobs).toEqual([digestOf('c')]);
});

test('the type may be in the bytes alone', () =>
  expect(parse({ mediaType: IMAGE, config, layers: [] }).mediaType).toBe(IMAGE));

const deep = `{"schemaVersion":2,"a":${'['.repeat(200)}${']'.repeat(200)}}`;

test.each<[string, Buffer, string?]>([
  ['no JSON', Buffer.from('{')],
  ['broken UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['a list', bytesOf([])],
  ['too deep', Buffer.from(deep)],
  ['too many values', bytesOf({ schemaVersion: 2, a: Array.from({ length: 200_000 }, () => 1) })],
  ['the first schema', bytesOf({ schemaVersion: 1, config, layers: [] })],
  ['no type', bytesOf({ schemaVersion: 2, config, layers: [] })],
  ['another type', bytesOf({ schemaVersion: 2, config, layers: [] }), 'application/json'],
  ['two types', bytesOf({ schemaVersion: 2, mediaType: DOCKER, config, layers: [] })],
  ['no config', bytesOf({ schemaVersion: 2, layers: [] })],
  ['a bad digest', bytesOf({ schemaVersion: 2, config: { ...config, digest: 'sha256:x' } })],
  ['a negative size', bytesOf({ schemaVersion: 2, config: { ...config, size: -1 } })],
  ['layers that are none', bytesOf({ schemaVersion: 2, config, layers: {} })],
  ['an image and an index', bytesOf({ schemaVersion: 2, config, layers: [], manifests: [] })],
  ['a bad subject', bytesOf({ schemaVersion: 2, config, subject: 'x' })],
  ['half a character', bytesOf({ schemaVersion: 2, config, annotations: { a: '\ud800' } })],
  ['a zero byte', bytesOf({ schemaVersion: 2, config, annotations: { 'a\0': 'b' } })],
  ['annotations that are no texts', bytesOf({ schemaVersion: 2, config, annotations: { a: 1 } })],
  [
    'many layers',
    bytesOf({ schemaVersion: 2, config, layers: Array.from({ length: 5_001 }, () => descriptor('a')) }),
  ],
])('%s is no manifest', (title, bytes) => {
  const type = title === 'no type' ? undefined : title === 'another type' ? 'application/json' : IMAGE;
  expect(bytes.length).toBeLessThan(MAX_MANIFEST_BYTES);
  expect(() => parseManifest(bytes, type)).toThrow(BadManifest);
});
