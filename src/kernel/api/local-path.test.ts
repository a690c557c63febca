import { describe, expect, test } from 'vitest';
import { localPath } from './local-path.ts';

describe('localPath', () => {
  test.each([
    '/',
    '/-/profile/password',
    '/oauth/authorize?client_id=1&redirect_uri=https%3A%2F%2Fapp.example%2Fback&state=%26',
    '/a#b',
    '/a?next=//evil.example',
    '/%2F%2Fevil.example',
    '/@evil.example',
  ])('keeps %s', (path) => {
    expect(localPath(path)).toBe(path);
  });

  test.each([
    '',
    'https://evil.example',
    'HTTPS:evil.example',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\/evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    '/a/%2e%2E//evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '@evil.example',
    '.evil.example',
    '/a\r\nset-cookie: x=1',
    '/a\u0000',
    `/${'a'.repeat(16_384)}`,
  ])('does not follow %j', (text) => {
    expect(localPath(text)).toBe('/');
  });
});
