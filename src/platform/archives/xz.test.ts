import { expect, test } from 'vitest';
import { unpackXz } from './xz.ts';
import { ArchiveError } from './zip-file.ts';

const MIB = 1_048_576;

/** `printf 'granite granite granite\n' | xz`. */
const small = Buffer.from(
  '/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AAXAA9dADOciEaUi5QquMySkcNAAAAATj/OzANaAgEAASsYFNCaRR+2830BAAAAAARZWg==',
  'base64',
);

test('a text is unpacked', async () => {
  expect((await unpackXz(small, 24)).toString()).toBe('granite granite granite\n');
});
test('what is larger than the bound is refused', async () => {
  await expect(unpackXz(small, 23)).rejects.toThrow('too large');
});

test.each(Array.from({ length: small.length - 28 }, (_, length) => length))(
  'the first %i bytes are refused',
  async (length) => {
    await expect(unpackXz(small.subarray(0, length), MIB)).rejects.toThrow('xz');
  },
);

test('whatever bit is another one, it is refused or comes out within the bound', async () => {
  for (let bit = 0; bit < small.length * 8; bit++) {
    const changed = Buffer.from(small);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const unpacked = await unpackXz(changed, 64).catch((error: unknown) => error);
    if (Buffer.isBuffer(unpacked)) expect(unpacked.length).toBeLessThanOrEqual(64);
    else expect(unpacked).toBeInstanceOf(ArchiveError);
  }
});
