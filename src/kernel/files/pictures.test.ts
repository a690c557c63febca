import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UploadedFile } from '../../platform/http/parameters/raw-parameters.ts';
import { imageExtension, readAvatar, storeAvatar } from './pictures.ts';

const folder = mkdtempSync(join(tmpdir(), 'ashlar-uploads-'));
afterAll(() => rmSync(folder, { recursive: true }));

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const upload = (bytes: Buffer) => new UploadedFile('../../me.svg', 'image/svg+xml', bytes);

describe('imageExtension', () => {
  test.each([
    ['png', '89504e470d0a1a0a0000'],
    ['jpg', 'ffd8ffe000104a464946'],
    ['gif', '474946383961'],
    ['gif', '474946383761'],
    ['webp', '524946460000000057454250'],
    ['ico', '000001000100'],
    ['bmp', '424d36000000'],
    [undefined, '524946460000000057415645'],
    [undefined, '3c737667'],
    [undefined, '89504e47'],
    [undefined, ''],
  ])('%s for %s', (extension, hex) => {
    expect(imageExtension(Buffer.from(hex, 'hex'))).toBe(extension);
  });
});

describe('pictures on disk', () => {
  test('a picture is kept once, under its bytes, with the name that it came with, and read back as what it is', async () => {
    const name = await storeAvatar(folder, upload(png));
    expect(name).toMatch(/^[0-9a-f]{64}\.png\/me\.svg$/);
    expect(await storeAvatar(folder, upload(png))).toBe(name);
    expect(readdirSync(join(folder, 'uploads', name.slice(0, 2)))).toEqual([name.slice(0, 68)]);
    const response = await readAvatar(folder, name);
    expect(response?.body).toEqual(png);
    expect(response?.headers).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });

  test('no name leads outside, and none that is not there is a fault', async () => {
    const missing = `${'0'.repeat(64)}.png`;
    for (const name of [
      '../config.png',
      '..',
      '',
      missing,
      `${missing}/me.png`,
      missing.replace('png', 'svg'),
    ]) {
      expect(await readAvatar(folder, name)).toBeUndefined();
    }
  });

  test('what is no picture or too big is a 400', async () => {
    await expect(storeAvatar(folder, upload(Buffer.from('<svg onload=alert(1)>')))).rejects.toMatchObject({
      publicMessage: { avatar: [expect.stringContaining('file format is not supported')] },
    });
    const big = Buffer.concat([png, Buffer.alloc(200 * 1_024)]);
    await expect(storeAvatar(folder, upload(big))).rejects.toMatchObject({
      publicMessage: { avatar: ['is too big (should be at most 200 KiB)'] },
    });
  });
});
