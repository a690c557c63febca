/** Links of releases: what they may be, and where they lead. */
import { describe, expect, test } from 'vitest';
import { directAssetUrl, linkOf, linksOf, MAX_LINKS, redirectAddress, requirePlace } from './rules.ts';

const link = { name: 'Program', url: 'https://example.com/program' };

describe('an address', () => {
  test.each(['http://a.example', 'HTTPS://a.example/x?y#z', 'ftp://a.example/b', 'https://u:p@a.example:1/'])(
    'may be %s',
    (url) => {
      expect(linkOf({ ...link, url }).url).toBe(url);
    },
  );
  test.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>',
    'file:///etc/passwd',
    'vbscript:x',
    '//a.example/x',
    '/x',
    'https://',
    'https://a.example/\r\nset-cookie: a',
    'https://a.example/a b',
    '',
  ])('is not %j', (url) => {
    expect(() => linkOf({ ...link, url })).toThrow('is blocked: Only allowed schemes are http, https, ftp');
  });
});

describe('a path below the release', () => {
  test.each(['/a', '/bin/program', '/v1.0/pro-gram_2.tar.gz', '/../a'])('may be %s', (path) => {
    expect(linkOf({ ...link, direct_asset_path: path }).filepath).toBe(path);
    expect(linkOf({ ...link, filepath: path }).filepath).toBe(path);
  });
  test.each(['a', '/', '//a', '/a/', '/a b', '/a?b', '/a.', `/${'a/'.repeat(60)}-`, '/ä'])(
    'is not %s',
    (path) => {
      expect(() => linkOf({ ...link, direct_asset_path: path })).toThrow('is in an invalid format');
    },
  );
  test('a long one is judged at once', () => {
    expect(() => linkOf({ ...link, filepath: `/${'a'.repeat(100_000)}!` })).toThrow('invalid format');
  });
  test('is the newer word’s where both are there, and none where it is empty', () => {
    expect(linkOf({ ...link, direct_asset_path: '/new', filepath: '/old' }).filepath).toBe('/new');
    expect(linkOf({ ...link, direct_asset_path: '' }).filepath).toBeNull();
    expect(
      linkOf({ direct_asset_path: null }, { ...link, filepath: '/a', link_type: 'other' }).filepath,
    ).toBeNull();
  });
});

test('a change keeps what it does not name', () => {
  const known = { ...link, filepath: '/a', link_type: 'image' } as const;
  expect(linkOf({ name: 'Other' }, known)).toEqual({ ...known, name: 'Other' });
  expect(() => linkOf({ name: '  ' }, known)).toThrow("can't be blank");
});

test.each([
  ['name', { name: 'Program', url: 'https://example.com/other' }],
  ['url', { name: 'Other', url: 'https://example.com/program' }],
  ['filepath', { name: 'Other', url: 'https://example.com/other', filepath: '/a' }],
])('two links of a new release do not have the same %s', (property, other) => {
  expect(() => linksOf([{ ...link, filepath: '/a' }, other])).toThrow(`links.${property}`);
});

test('a release has so many links and no more', () => {
  expect(() => requirePlace(MAX_LINKS - 1)).not.toThrow();
  expect(() => requirePlace(MAX_LINKS)).toThrow('Maximum number of links (500) exceeded');
});

test('a link with a path is reached below its release, and leads to its address in ASCII', () => {
  const release = 'https://site.example/a/b/-/releases/v1';
  expect(directAssetUrl(release, { ...link, filepath: null })).toBe(link.url);
  expect(directAssetUrl(release, { ...link, filepath: '/bin/a' })).toBe(`${release}/downloads/bin/a`);
  expect(redirectAddress('https://exämple.com/ä')).toBe('https://xn--exmple-cua.com/%C3%A4');
});
