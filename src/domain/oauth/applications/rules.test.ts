import { describe, expect, test } from 'vitest';
import { checkApplication, endsOf, redirectUriProblem } from './rules.ts';

const ABSOLUTE = 'must be an absolute URI.';
const FORBIDDEN = 'is forbidden by the server.';
const SCHEME = 'must specify a scheme.';
const SECURE = 'must be an HTTPS/SSL URI.';
const VALID = 'must be a valid URI.';

test.each<[string, string | undefined]>([
  ['https://client.example/callback', undefined],
  ['https://client.example/callback?tenant=a&b=%20', undefined],
  ['HTTPS://client.example:8443/', undefined],
  ['http://127.0.0.1/callback', undefined],
  ['http://localhost:4000/callback', undefined],
  ['http://[::1]:4000/callback', undefined],
  ['com.example.app:/callback', undefined],
  ['my-app://callback', undefined],
  ['urn:ietf:wg:oauth:2.0:oob', undefined],
  ['http://client.example/callback', SECURE],
  ['http://localhost.client.example/', SECURE],
  ['http://127.0.0.1.client.example/', SECURE],
  ['http://0.0.0.0/', SECURE],
  ['http://169.254.169.254/', SECURE],
  ['javascript:alert(1)', FORBIDDEN],
  ['JavaScript://client.example/%0aalert(1)', FORBIDDEN],
  ['data:text/html,x', FORBIDDEN],
  ['vbscript:x', FORBIDDEN],
  ['file:///etc/passwd', FORBIDDEN],
  ['blob:https://client.example/x', FORBIDDEN],
  ['https://client.example@evil.example/', FORBIDDEN],
  ['http://localhost:80@evil.example/', FORBIDDEN],
  ['https://client.example/#', 'cannot contain a fragment.'],
  ['com.example.app:/x#y', 'cannot contain a fragment.'],
  ['/callback', ABSOLUTE],
  ['client.example/callback', ABSOLUTE],
  ['//client.example/callback', ABSOLUTE],
  ['https:/client.example', ABSOLUTE],
  ['https:client.example', ABSOLUTE],
  ['https:///client.example', ABSOLUTE],
  ['localhost:4000/callback', SCHEME],
  ['my-app:callback', SCHEME],
  ['urn:ietf:wg:oauth:2.0:oob:auto', SCHEME],
  ['https://client.example\\@evil.example/', VALID],
  ['https://client.example/\u0000', VALID],
  ['https://bücher.example/', VALID],
  ['https://[::g]/', VALID],
  ['https://*.client.example:x/', VALID],
  [`https://client.example/${'x'.repeat(2_048)}`, 'is too long (maximum is 2048 characters)'],
])('the redirect URI %s', (uri, problem) => {
  expect(redirectUriProblem(uri, false)).toBe(problem);
});

test('plain HTTP goes anywhere where the instance allows it, and nothing else with it', () => {
  expect(redirectUriProblem('http://client.example/', true)).toBeUndefined();
  expect(redirectUriProblem('javascript:alert(1)', true)).toBe(FORBIDDEN);
  expect(redirectUriProblem('http://a@client.example/', true)).toBe(FORBIDDEN);
});

const request = {
  name: ' Client ',
  redirectUris: 'https://a.example/\r\nhttps://b.example/\n\nhttps://a.example/\n',
  scopes: 'api  read_user api',
  confidential: true,
};

describe('an application', () => {
  test('is stored with each redirect URI and scope once', () => {
    expect(checkApplication(request, false)).toEqual({
      draft: {
        name: 'Client',
        redirect_uris: ['https://a.example/', 'https://b.example/'],
        scopes: ['api', 'read_user'],
        confidential: true,
      },
    });
  });

  test.each([
    [
      { name: ' ', redirectUris: '\n', scopes: '' },
      { name: ["can't be blank"], redirect_uri: ["can't be blank"], scopes: ["can't be blank"] },
    ],
    [{ name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ redirectUris: 'a b javascript:x' }, { redirect_uri: [ABSOLUTE, FORBIDDEN] }],
    [{ scopes: 'api self_rotate' }, { scopes: ["doesn't match configured on the server."] }],
    [{ scopes: 'api everything' }, { scopes: ["doesn't match configured on the server."] }],
    [
      { redirectUris: Array.from({ length: 101 }, (_, n) => `https://client.example/${n}`).join('\n') },
      { redirect_uri: ['has too many addresses (maximum is 100)'] },
    ],
  ])('is refused with everything that is wrong: %o', (changes, problems) => {
    expect(checkApplication({ ...request, ...changes }, false)).toEqual({ problems });
  });

  test('takes 100 redirect URIs and a name of 255 letters', () => {
    const redirectUris = Array.from({ length: 100 }, (_, n) => `https://client.example/${n}`).join(' ');
    const checked = checkApplication({ ...request, redirectUris, name: 'x'.repeat(255) }, false);
    expect(checked).toHaveProperty('draft.redirect_uris.length', 100);
  });
});

test.each([
  [true, false, true],
  [true, true, false],
  [false, true, false],
  [false, false, false],
])('confidential %s to %s ends all grants: %s', (before, confidential, all) => {
  const draft = { name: 'x', redirect_uris: ['https://a.example/'], scopes: ['api'], confidential };
  expect(endsOf({ confidential: before }, draft)).toEqual({
    all,
    beyond: { scopes: ['api'], redirect_uris: ['https://a.example/'] },
  });
});
