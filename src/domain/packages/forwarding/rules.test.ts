import { expect, test } from 'vitest';
import { defaultSettings } from '../../../kernel/settings/definitions.ts';
import { isForwarding, mavenAddress, npmAddress, pypiAddress } from './rules.ts';

const on = { npm_package_requests_forwarding: true };
const off = { npm_package_requests_forwarding: false };
const silent = { npm_package_requests_forwarding: null };
const lock = { lock_npm_package_requests_forwarding: true };

test.each([
  // The instance, the groups from the nearest to the top, and whether names are forwarded.
  [{}, [], false],
  [on, [], true],
  [off, [silent, on], true],
  [on, [silent, {}], true],
  [off, [on, off], true],
  [on, [off, on], false],
  [{ ...off, ...lock }, [on], false],
  [{ ...on, ...lock }, [off], true],
  [off, [on, { ...off, ...lock }], false],
  [off, [on, { ...silent, ...lock }], false],
  [off, [off, { ...silent, ...lock }, on], true],
  [
    off,
    [
      { ...on, ...lock },
      { ...off, ...lock },
    ],
    false,
  ],
  [off, [{ ...on, ...lock }, off], true],
])('%j, %j', (instance, groups, expected) => {
  expect(isForwarding('npm', { ...defaultSettings, ...instance }, groups)).toBe(expected);
  expect(isForwarding('maven', { ...defaultSettings, ...instance }, groups)).toBe(false);
});

test.each([
  [npmAddress('stone'), 'https://registry.npmjs.org/stone'],
  [npmAddress('@acme/stone'), 'https://registry.npmjs.org/@acme%2Fstone'],
  [npmAddress('@a?b#c/..'), 'https://registry.npmjs.org/@a%3Fb%23c%2F..'],
  [pypiAddress('stone-1'), 'https://pypi.org/simple/stone-1/'],
  [mavenAddress('com/acme/a/1+2/a b.jar'), 'https://repo.maven.apache.org/maven2/com/acme/a/1%2B2/a%20b.jar'],
])('%s', (address, expected) => {
  expect(address).toBe(expected);
});
