import { expect, test } from 'vitest';
import { isHeldByOther, requireName, serialOf } from './rules.ts';

test.each(['production', 'a.b-c_d', 'A1'])('%s is a name', (name) => {
  expect(() => requireName(name)).not.toThrow();
});

test.each(['', '.', '..', 'a/b', 'a b', 'a\0', 'а', 'x'.repeat(256)])('%j is no name', (name) => {
  expect(() => requireName(name)).toThrow('name is invalid');
});

test('a state has a serial number', () => {
  expect(serialOf('{"version": 4, "serial": 0}')).toBe(0);
  expect(serialOf('{"serial": 3, "large": 90071992547409930}')).toBe(3);
});

test.each([
  ['', 'not JSON'],
  ['x', 'not JSON'],
  ['[]', 'serial'],
  ['{}', 'serial'],
  ['{"serial": -1}', 'serial'],
  ['{"serial": 1.5}', 'serial'],
  ['{"serial": "1"}', 'serial'],
  ['{"serial": 1e30}', 'serial'],
])('%j is refused', (text, problem) => {
  expect(() => serialOf(text)).toThrow(problem);
});

test('a lock keeps off all but its own', () => {
  expect(isHeldByOther(null, undefined)).toBe(false);
  expect(isHeldByOther(null, 'a')).toBe(false);
  expect(isHeldByOther({ ID: 'a' }, 'a')).toBe(false);
  expect(isHeldByOther({ ID: 'a' }, 'b')).toBe(true);
  expect(isHeldByOther({ ID: 'a' }, undefined)).toBe(true);
});
