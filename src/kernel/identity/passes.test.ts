import { expect, test } from 'vitest';
import { digest } from '../../platform/secret.ts';
import { makePass, programPass, readPass, tokenOfPass } from './passes.ts';

const key = Buffer.alloc(32, 1);
const time = new Date('2024-11-28T00:00:00Z');
const later = (seconds: number) => new Date(time.getTime() + seconds * 1_000);
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a pass says for a while what it was made of', () => {
  const pass = makePass(key, { file: 5 }, { time, seconds: 300 });
  expect(readPass(key, pass, later(299))).toMatchObject({ file: 5 });
  expect(readPass(key, pass, later(301))).toBeUndefined();
  expect(readPass(Buffer.alloc(32, 2), pass, time)).toBeUndefined();
});

test('what was not signed so is no pass', () => {
  const pass = makePass(key, { file: 5 }, { time, seconds: 300 });
  const [header = '', claims = '', code = ''] = pass.split('.');
  const other = encode({ file: 6, exp: 9_999_999_999 });
  const none = encode({ alg: 'none', typ: 'JWT' });
  for (const text of [
    ...['', 'x', '..', '.', header, `${header}.`, `${header}..`, `${header}.${code}`, `${header}.${claims}`],
    ...[
      `${header}.${claims}.`,
      `${header}.${other}.${code}`,
      `${none}.${other}.`,
      `${none}.${claims}.${code}`,
    ],
    ...[`${pass}=`, `${pass}\n`, `${pass}.`, `${pass}.${code}`, ` ${pass}`],
  ])
    expect(readPass(key, text, time)).toBeUndefined();
});

test('a program has one for an hour in place of its token', () => {
  const pass = programPass('secret', 'token', time);
  expect(tokenOfPass('secret', pass, later(3_599))).toEqual(digest('token'));
  expect(tokenOfPass('secret', pass, later(3_601))).toBeUndefined();
  expect(tokenOfPass('other', pass, time)).toBeUndefined();
  expect(tokenOfPass('secret', 'token', time)).toBeUndefined();
  expect(tokenOfPass('secret', programPass('secret', digest('token'), time), time)).toEqual(digest('token'));
  const said = Buffer.from(pass.split('.')[1] ?? '', 'base64url').toString();
  expect(said).not.toContain(digest('token').toString('hex'));
  // A pass for something else stands for no token.
  expect(tokenOfPass('secret', makePass(key, { token: 'aa' }, { time, seconds: 300 }), time)).toBeUndefined();
});
