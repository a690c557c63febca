/** Cases of challenges and refusals. */
import { expect, test } from 'vitest';
import { isPassing, type Pace, paceAfter, readChallenge, reasonOf, tokenAddress } from './rules.ts';

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

const often = (times: number, bytes: number, apart: number) =>
  Array.from({ length: times }, (_, at) => [bytes, (at + 1) * apart] as const);
test.each([
  ['a byte each 29 seconds', 3, often(10, 1, 29_000)],
  ['a byte each tenth of a second', 600, often(1_000, 1, 100)],
  ['64 KiB each minute', undefined, often(100, 65_536, 60_000)],
  ['less than that', 1, often(100, 65_535, 60_000)],
  ['1,200 bytes each second', undefined, often(7_200, 1_200, 1_000)],
  ['1,000 bytes each second', 60, often(7_200, 1_000, 1_000)],
  ['much, and then little', 7, [[1_000_000, 1_000], ...often(10, 1, 29_000)] as const],
  ['little, and whole within a minute', undefined, often(2, 10, 29_999)],
])('a download of %s ends at piece %s', (_, end, pieces) => {
  let pace: Pace | undefined = { since: 0, bytes: 0 };
  let ended: number | undefined;
  for (const [index, [bytes, at]] of pieces.entries()) {
    pace = pace && paceAfter(pace, bytes, at);
    if (pace === undefined) ended ??= index + 1;
  }
  expect(ended).toBe(end);
});
