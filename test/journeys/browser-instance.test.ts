/** What administrators have the instance show, in a real browser: its looks, and messages until they are put away. */
import { crc32, deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PASSWORD, useBrowser } from './browser.ts';
import { ROOT_TOKEN } from './support.ts';

const journey = useBrowser();
const pictures = process.env.JOURNEY_PICTURES;

/** A square of one colour, which browsers can draw. */
function square(size: number, [red, green, blue]: readonly [number, number, number]): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.from(Array(size).fill([red, green, blue]).flat())]);
  const pixels = deflateSync(Buffer.concat(Array(size).fill(row)));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

test('the site has its own looks, and a message is there until its reader puts it away', async () => {
  const { program } = journey;
  const form = new FormData();
  const fields = {
    title: 'Smithy',
    description: 'Where we make things.\nAsk Ada for an account.',
    header_message: 'For internal use',
    footer_message: 'Kept by the platform team',
    message_background_color: '#0b4f9e',
    message_font_color: '#ffffff',
    pwa_name: 'Smithy',
  };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, size] of [
    ['logo', 96],
    ['header_logo', 28],
    ['favicon', 32],
    ['pwa_icon', 64],
  ] as const)
    form.append(name, new File([new Uint8Array(square(size, [200, 80, 40]))], `${name}.png`));
  const changed = await fetch(`${program.url}/api/v4/application/appearance`, {
    method: 'PUT',
    body: form,
    headers: { 'private-token': ROOT_TOKEN },
  });
  expect(changed.status).toBe(200);
  const tell = (message: string, fields: object) =>
    program.root('POST /broadcast_messages', { message, ...fields });
  for (const theme of ['indigo', 'light-red', 'dark', 'light', 'green'])
    expect((await tell(`Down at noon (${theme})\nBack at one`, { theme, dismissable: true })).status).toBe(
      201,
    );
  expect((await tell('Read the news', { broadcast_type: 'notification' })).status).toBe(201);

  const user = await journey.makeUser('reader');
  const { page } = await journey.visit({ javaScriptEnabled: false });
  await page.goto('/users/sign_in');
  expect(await page.title()).toBe('Sign in · Smithy');
  if (pictures) await page.screenshot({ path: `${pictures}/instance-sign-in.png`, fullPage: true });
  const loaded = await page.evaluate('[...document.images].map(({ naturalWidth }) => naturalWidth)');
  expect(loaded).toEqual([28, 96]);
  const colours = await page.evaluate(`(({ backgroundColor, color }) => [backgroundColor, color])(
    getComputedStyle(document.querySelector('.site-message.top')))`);
  expect(colours).toEqual(['rgb(11, 79, 158)', 'rgb(255, 255, 255)']);
  await page.fill('[name=login]', user.username);
  await page.fill('[name=password]', PASSWORD);
  await page.click('main button');
  expect(await page.locator('aside.broadcast').count()).toBe(6);
  if (pictures) await page.screenshot({ path: `${pictures}/instance-home.png`, fullPage: true });
  await page.locator('aside.broadcast.dark button').click();
  await page.locator('aside.broadcast.dark').waitFor({ state: 'detached' });
  await page.locator('aside.notification button').click();
  await page.locator('aside.notification').waitFor({ state: 'detached' });
  await page.goto('/-/profile/password');
  expect(await page.locator('aside.broadcast').allInnerTexts()).toHaveLength(4);
  await page.setViewportSize({ width: 360, height: 700 });
  if (pictures) await page.screenshot({ path: `${pictures}/instance-narrow.png`, fullPage: true });
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(360);
  const { page: other } = await journey.visit();
  await other.goto('/');
  expect(await other.locator('aside.broadcast').count()).toBe(6);
});
