import { expect, test } from 'vitest';
import { isImmutable, isName, refusalOf } from './rules.ts';

const oid = 'a'.repeat(38);
const sha = 'b'.repeat(64);

test.each([
  [`repositories/@hashed/ab/cd/x.git/objects/ab/${oid}`, true],
  [`repositories/@hashed/ab/cd/x.git/objects/pack/pack-${'c'.repeat(40)}.pack`, true],
  [`repositories/@hashed/ab/cd/x.git/objects/pack/pack-${'c'.repeat(40)}.idx`, true],
  [`repositories/@hashed/ab/cd/x.git/objects/pack/tmp_pack_x`, false],
  [`repositories/@hashed/ab/cd/x.git/objects/info/packs`, false],
  [`repositories/@hashed/ab/cd/x.git/refs/heads/main`, false],
  // A branch may be called so.
  [`repositories/@hashed/ab/cd/x.git/refs/heads/${sha}`, false],
  ['repositories/@hashed/ab/cd/x.git/HEAD', false],
  ['repositories/@hashed/ab/cd/x.git/FETCH_HEAD', false],
  ['repositories/@hashed/ab/cd/x.git/packed-refs', false],
  [`blobs/bb/${sha}`, true],
  [`blobs/drafts/${'b'.repeat(32)}`, false],
  ['ci/live/1/trace', false],
])('%s is never written again: %s', (path, immutable) => {
  expect(isImmutable(path)).toBe(immutable);
});

test.each<[Record<string, string | undefined>, boolean]>([
  [{ host: '127.0.0.1:8080' }, true],
  [{ host: 'localhost:8080' }, true],
  [{ host: '[::1]:8080' }, true],
  [{ host: 'ashlar:8080' }, true],
  [{ host: 'host.docker.internal:32768' }, true],
  [{ host: 'localhost', 'sec-fetch-site': 'none' }, true],
  [{}, false],
  [{ host: 'attacker.example:8080' }, false],
  [{ host: '127.0.0.1.attacker.example' }, false],
  [{ host: 'local.attacker.example' }, false],
  [{ host: 'localhost', origin: 'http://attacker.example' }, false],
  [{ host: 'localhost', origin: 'null' }, false],
  [{ host: 'localhost', 'sec-fetch-site': 'cross-site' }, false],
  [{ host: 'localhost', 'sec-fetch-site': 'same-origin' }, false],
])('%j may call the lab: %s', (headers, may) => {
  expect(refusalOf(headers) === undefined).toBe(may);
});

test.each([
  ['seeded', true],
  ['after-login_2.1', true],
  ['', false],
  ['-', false],
  ['../other', false],
  ['a/b', false],
  ['a\0', false],
  ['ä', false],
  ['a'.repeat(65), false],
])('%j is a name: %s', (text, valid) => {
  expect(isName(text)).toBe(valid);
});
