import { expect, test } from 'vitest';
import type { Failure } from '../failure.ts';
import { runForCaller } from '../fair-share.ts';
import { unpackXz } from './xz.ts';
import { unpackXzInThread } from './xz-unpacking.ts';
import { ArchiveError } from './zip-file.ts';

const MIB = 1_048_576;

/** `printf 'granite granite granite\n' | xz`. */
const small = Buffer.from(
  '/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AAXAA9dADOciEaUi5QquMySkcNAAAAATj/OzANaAgEAASsYFNCaRR+2830BAAAAAARZWg==',
  'base64',
);

test('a text is unpacked', () => {
  expect(unpackXz(small, 24).toString()).toBe('granite granite granite\n');
});
test('what is larger than the bound is refused', () => {
  expect(() => unpackXz(small, 23)).toThrow('too large');
});

test.each(Array.from({ length: small.length - 28 }, (_, length) => length))(
  'the first %i bytes are refused',
  (length) => {
    expect(() => unpackXz(small.subarray(0, length), MIB)).toThrow('xz');
  },
);

/** What it makes, or the error. */
function attempt<T>(work: () => T): T | unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test('whatever bit is another one, it is refused or comes out within the bound', () => {
  for (let bit = 0; bit < small.length * 8; bit++) {
    const changed = Buffer.from(small);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const unpacked = attempt(() => unpackXz(changed, 64));
    if (Buffer.isBuffer(unpacked)) expect(unpacked.length).toBeLessThanOrEqual(64);
    else expect(unpacked).toBeInstanceOf(ArchiveError);
  }
});

const HEADERS = small.subarray(0, 24);
/** Chunks of one byte, a zero, each of which forgets what was learnt; some of them have other properties. */
const forgetting = (count: number): Buffer => {
  const chunk = (control: number, ...properties: number[]) =>
    Buffer.from([control, 0, 0, 0, 5, ...properties, 0, 0, 0, 0, 0, 0]);
  const chunks = Array.from({ length: count }, (_, at) =>
    at % 3 ? chunk(0xa0) : chunk(0xc0, at % 2 ? 93 : 4),
  );
  return Buffer.concat([HEADERS, chunk(0xe0, 4), ...chunks, Buffer.alloc(16)]);
};

test('chunks that forget what was learnt are unpacked', () => {
  expect(unpackXz(forgetting(1_000), MIB)).toEqual(Buffer.alloc(1_001));
});
test('a chunk that goes on with what no chunk of its block began is refused', () => {
  const goesOn = Buffer.from([1, 0, 0, 97, 0x80, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0]);
  expect(() => unpackXz(Buffer.concat([HEADERS, goesOn, Buffer.alloc(16)]), MIB)).toThrow('not packed by xz');
});

test('a thread unpacks, and refuses', async () => {
  expect((await unpackXzInThread(small, 24)).toString()).toBe('granite granite granite\n');
  await expect(unpackXzInThread(small, 23)).rejects.toThrow(
    new ArchiveError('too large when it is unpacked'),
  );
  expect(await unpackXzInThread(forgetting(100), MIB)).toEqual(Buffer.alloc(101));
});

test('what takes longer than it may is refused, and the next one is unpacked', async () => {
  await expect(unpackXzInThread(forgetting(300_000), MIB, 1)).rejects.toThrow('takes too long');
  expect((await unpackXzInThread(small, 24)).toString()).toBe('granite granite granite\n');
});

test('of one caller some wait, and another is served', async () => {
  const ask = (name: string) =>
    runForCaller({ name }, () => unpackXzInThread(small, 24)).then(String, (error: Failure) => error.kind);
  const answers = await Promise.all([...Array.from({ length: 23 }, () => ask('one')), ask('other')]);
  const text = 'granite granite granite\n';
  expect(answers).toEqual([...Array(21).fill(text), 'too_many_requests', 'too_many_requests', text]);
});
