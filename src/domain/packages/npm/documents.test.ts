import { expect, test } from 'vitest';
import { distTags, packageDocument, revisionOf, type VersionRow } from './documents.ts';

const row = (id: number, version: string, others: Partial<VersionRow> = {}): VersionRow => ({
  id,
  project_id: 7,
  version,
  manifest: `{"name":"stone","version":"${version}"}`,
  deprecated: null,
  created_at: new Date(id * 1_000),
  updated_at: new Date(id * 1_000 + 500),
  file_name: `stone-${version}.tgz`,
  sha1: Buffer.from('ab', 'hex'),
  integrity: 'sha512-x',
  tags: null,
  ...others,
});

test('a tag is at one version, the newest that has it; latest is the highest without it', () => {
  const rows = [
    { version: '1.10.0', tags: '{"old":1,"next":5}' },
    { version: '1.9.0', tags: '{"old":2}' },
    { version: '1.2.0', tags: null },
  ];
  expect(distTags(rows)).toEqual({ latest: '1.10.0', next: '1.10.0', old: '1.9.0' });
  expect(distTags([...rows, { version: '1.0.0', tags: '{"latest":9}' }]).latest).toBe('1.0.0');
});

test('a document has the last row of each version, with what is known of its file', () => {
  const rows = [
    row(1, '1.0.0'),
    row(2, '1.1.0', { deprecated: 'Too "soft".', integrity: null }),
    row(3, '1.0.0', { project_id: 8, manifest: null }),
  ];
  const text = packageDocument('stone', rows, ({ project_id, file_name }) => `/${project_id}/${file_name}`);
  expect(JSON.parse(text)).toEqual({
    _id: 'stone',
    _rev: '3',
    name: 'stone',
    'dist-tags': { latest: '1.1.0' },
    time: {
      created: '1970-01-01T00:00:02.000Z',
      modified: '1970-01-01T00:00:03.500Z',
      '1.0.0': '1970-01-01T00:00:03.000Z',
      '1.1.0': '1970-01-01T00:00:02.000Z',
    },
    versions: {
      '1.0.0': {
        name: 'stone',
        version: '1.0.0',
        dist: { integrity: 'sha512-x', shasum: 'ab', tarball: '/8/stone-1.0.0.tgz' },
      },
      '1.1.0': {
        name: 'stone',
        version: '1.1.0',
        dist: { shasum: 'ab', tarball: '/7/stone-1.1.0.tgz' },
        deprecated: 'Too "soft".',
      },
    },
  });
  expect(revisionOf([])).toBe('0');
});
