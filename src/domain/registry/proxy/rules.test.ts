/** Cases of challenges and refusals. */
import { expect, test } from 'vitest';
import { isPassing, readChallenge, reasonOf, tokenAddress } from './rules.ts';

const hub = 'https://auth.docker.io/token';
test.each([
  [`Bearer realm="${hub}",service="registry.docker.io"`, { realm: hub, service: 'registry.docker.io' }],
  [`bearer  service="s", realm="${hub}", error="invalid_token"`, { realm: hub, service: 's' }],
  [['Basic realm="x"', `Bearer realm="${hub}"`], { realm: hub, service: undefined }],
])('%j asks for a token', (header, challenge) =>
  expect(readChallenge(header)).toEqual({ scheme: 'bearer', ...challenge }),
);
test.each([
  ['Basic realm="x"', { scheme: 'basic' }],
  ['Bearer service="no realm"', undefined],
  [`Bearer realm="${'x'.repeat(5_000)}"`, undefined],
  ['Digest realm="x"', undefined],
  ['', undefined],
  [undefined, undefined],
])('%j asks for %j', (header, challenge) => expect(readChallenge(header)).toEqual(challenge));

const secure = 'https://registry.example';
test.each([
  [secure, hub, 's', `${hub}?service=s&scope=repository%3Aa%2Fb%3Apull`],
  [secure, `${hub}?account=x`, undefined, `${hub}?account=x&scope=repository%3Aa%2Fb%3Apull`],
  [secure, 'http://auth.example/', 's', undefined],
  [
    'http://127.0.0.1',
    'http://auth.example/',
    undefined,
    'http://auth.example/?scope=repository%3Aa%2Fb%3Apull',
  ],
  [secure, 'https://me:pass@auth.example/', 's', undefined],
  [secure, 'file:///etc/passwd', 's', undefined],
  [secure, '/relative', 's', undefined],
])('for %s, a token of %s is at %4$s', (upstream, realm, service, address) =>
  expect(tokenAddress({ realm, service }, upstream, 'a/b')).toBe(address),
);

test.each([
  [401, 'missing', false],
  [403, 'missing', false],
  [404, 'missing', false],
  [429, 'limited', true],
  [408, 'unreachable', true],
  [500, 'unreachable', true],
  [302, 'unreachable', true],
])('%i means %s, and what is kept is served: %s', (status, reason, passing) => {
  expect(reasonOf(status)).toBe(reason);
  expect(isPassing(reasonOf(status))).toBe(passing);
});
