/** Cases of addresses. */
import { expect, test } from 'vitest';
import { parseAddress } from './address.ts';

const ID = '01234567-89ab-cdef-0123-456789abcdef';
const D = `sha256:${'a'.repeat(64)}`;

test.each([
  ['', { of: 'base' }],
  ['_catalog', { of: 'catalog' }],
  [`a/b/blobs/${D}`, { of: 'blob', path: 'a/b', digest: D }],
  ['a/b/blobs/uploads/', { of: 'uploads', path: 'a/b' }],
  ['a/b/blobs/uploads', { of: 'uploads', path: 'a/b' }],
  [`a/b/blobs/uploads/${ID}`, { of: 'upload', path: 'a/b', id: ID }],
  ['a/b/blobs/uploads/5', undefined],
  ['a/b/c/manifests/latest', { of: 'manifest', path: 'a/b/c', reference: 'latest' }],
  ['a/blobs/manifests/blobs', { of: 'manifest', path: 'a/blobs', reference: 'blobs' }],
  ['a/b/tags/list', { of: 'tags', path: 'a/b' }],
  [`a/b/referrers/${D}`, { of: 'referrers', path: 'a/b', digest: D }],
  ['a/manifests/latest', 'invalid_name'],
  ['A/b/manifests/latest', 'invalid_name'],
  ['a/../b/tags/list', 'invalid_name'],
  ['manifests/latest', 'invalid_name'],
  ['a/b', undefined],
  ['a/b/tags/other', undefined],
])('%s is %j', (rest, address) => expect(parseAddress(rest)).toEqual(address));
