import { describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { isStored } from '../../../test/support/blobs.ts';
import { makeUser } from '../../../test/support/rows.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { UploadedFile } from '../../platform/http/parameters/raw-parameters.ts';
import { avatarChange, imageExtension, keepAvatar, readAvatar } from './pictures.ts';

const app = useApp({ still: true });
const services = () => app.app.services;

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

describe('pictures', () => {
  const keep = (file: UploadedFile) =>
    inTransaction(services().database.db, (tx) => keepAvatar(tx, avatarChange(services(), file)));

  test('a picture is kept under its bytes, with the name that it came with, and read back as what it is', async () => {
    const name = (await keep(upload(png))) ?? '';
    expect(name).toMatch(/^[0-9a-f]{64}\.png\/me\.svg$/);
    expect(await keep(upload(png))).toBe(name);
    expect(isStored(app, png)).toBe(true);
    const response = await readAvatar(services(), name);
    expect(response?.body).toEqual(png);
    expect(response?.headers).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });

  test('a user who shows one names its bytes, until it is removed', async () => {
    const user = await makeUser(app);
    const shown = Buffer.concat([png, Buffer.from('shown')]);
    const set = (avatar: string | null) =>
      services().database.sql`update users set avatar = ${avatar} where id = ${user.id}`;
    await inTransaction(services().database.db, async (tx) => {
      const avatar = await keepAvatar(tx, avatarChange(services(), upload(shown)));
      await tx.updateTable('users').set({ avatar }).where('id', '=', user.id).execute();
    });
    await services().blobs.sweep();
    expect(isStored(app, shown)).toBe(true);
    await set(null);
    await services().blobs.sweep();
    expect(isStored(app, shown)).toBe(false);
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
    ])
      expect(await readAvatar(services(), name)).toBeUndefined();
  });

  test('what is no picture or too big is a 400', () => {
    expect(() => avatarChange(services(), upload(Buffer.from('<svg onload=alert(1)>')))).toThrow(
      expect.objectContaining({
        publicMessage: { avatar: [expect.stringContaining('file format is not supported')] },
      }),
    );
    expect(() => avatarChange(services(), upload(Buffer.concat([png, Buffer.alloc(200 * 1_024)])))).toThrow(
      expect.objectContaining({ publicMessage: { avatar: ['is too big (should be at most 200 KiB)'] } }),
    );
  });
});
