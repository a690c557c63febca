/** How the instance looks: who changes it, which pictures it takes, and where it is shown. */
import { afterEach, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { openBrowser, withSettings } from '../../../../test/support/browser.ts';
import { bodyOf, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { mailsTo, waitForMail } from '../../../../test/support/mailbox.ts';
import { appearancePictures, noAppearance } from '../../../kernel/instance/appearance.ts';

const app = useApp();
const PATH = '/application/appearance';
const put = (body: unknown) => app.root(`PUT ${PATH}`, { body });

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const ico = Buffer.from('0000010001', 'hex');

type Answer = { status: number; body: Record<string, string | null> & { message?: unknown } };

async function send(files: Record<string, readonly [name: string, bytes: Buffer]>): Promise<Answer> {
  const form = new FormData();
  for (const [field, [name, bytes]] of Object.entries(files))
    form.append(field, new File([new Uint8Array(bytes)], name));
  const response = await fetch(`${app.url}/api/v4${PATH}`, {
    method: 'PUT',
    body: form,
    headers: { 'private-token': ROOT_TOKEN },
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

afterEach(async () => {
  expect((await put(noAppearance)).body).toEqual(noAppearance);
});

test('is for administrators', async () => {
  const user = await makeUser(app);
  for (const line of [`GET ${PATH}`, `PUT ${PATH}`]) {
    expect((await app.call(line)).status).toBe(401);
    expect((await app.as(user.token)(line)).status).toBe(403);
  }
  expect(bodyOf(await app.root(`GET ${PATH}`), 200)).toEqual(noAppearance);
});

test('a change keeps what is not sent, and is in the audit log', async () => {
  bodyOf(await put({ title: 'Forge', description: 'Ours' }), 200);
  const changed = bodyOf(
    await put({ title: 'Smithy', member_guidelines: 'Be kind', description: null }),
    200,
  );
  expect(changed).toEqual({
    ...noAppearance,
    title: 'Smithy',
    description: 'Ours',
    member_guidelines: 'Be kind',
  });
  expect(bodyOf(await app.root(`GET ${PATH}`), 200)).toEqual(changed);
  const events = await app.app.services.database.sql`
    select details from audit_events where event_name = 'appearance_updated' and details ->> 'change' = 'title' order by id`;
  expect(events).toMatchObject([
    { details: { from: '', to: 'Forge', author_name: 'Administrator' } },
    { details: { from: 'Forge', to: 'Smithy' } },
  ]);
});

test('two changes at once are both there', async () => {
  const answers = await Promise.all([put({ title: 'One' }), put({ description: 'Two' })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(bodyOf(await app.root(`GET ${PATH}`), 200)).toMatchObject({ title: 'One', description: 'Two' });
});

test.each([
  ['message_background_color', 'red'],
  ['message_background_color', '#12345'],
  ['message_font_color', '#fff; background: url(https://evil.example)'],
  ['message_font_color', '#fff\n'],
  ['message_font_color', '</style>'],
  ['header_message', 'a'.repeat(1_001)],
  ['title', 'a'.repeat(256)],
  ['email_header_and_footer_enabled', 'often'],
])('a wrong %s is refused', async (name, value) => {
  const { status, text } = await put({ [name]: value });
  expect([status, text.includes(name)]).toEqual([400, true]);
  expect(bodyOf(await app.root(`GET ${PATH}`), 200)).toEqual(noAppearance);
});

test('pictures are known by their bytes, and served as what they are', async () => {
  const { status, body } = await send({
    logo: ['my logo.html', png],
    header_logo: ['small.png', png],
    favicon: ['f.ico', ico],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    logo: '/uploads/-/system/appearance/logo/1/my_logo.html',
    header_logo: '/uploads/-/system/appearance/header_logo/1/small.png',
    favicon: '/uploads/-/system/appearance/favicon/1/f.ico',
    pwa_icon: null,
  });
  const served = await fetch(`${app.url}${body.logo}`);
  expect(Object.fromEntries(served.headers)).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  expect(Buffer.from(await served.arrayBuffer())).toEqual(png);
  expect((await fetch(`${app.url}${body.favicon}`)).headers.get('content-type')).toBe(
    'image/vnd.microsoft.icon',
  );
  for (const path of [
    'logo/1/other.png',
    'title/1/x',
    'pwa_icon/1/x',
    'logo/2/my_logo.html',
    '__proto__/1/x',
  ]) {
    const missing = await fetch(`${app.url}/uploads/-/system/appearance/${path}`);
    expect([path, missing.status]).toEqual([path, 404]);
  }
  const page = (await openBrowser(app).get('/users/sign_in')).text;
  expect(page).toContain(
    '<div class="welcome">\n<img src="/uploads/-/system/appearance/logo/1/my_logo.html" alt="">',
  );
  expect(page).toContain(
    '<img src="/uploads/-/system/appearance/header_logo/1/small.png" alt="Ashlar" height="28">',
  );
  expect(page).toContain('<link rel="icon" href="/uploads/-/system/appearance/favicon/1/f.ico">');
  // Other changes leave them, and null removes one.
  expect(bodyOf(await put({ title: 'x' }), 200).logo).toBe(body.logo);
  expect(bodyOf(await put({ logo: null }), 200)).toMatchObject({ logo: null, favicon: body.favicon });
  expect((await fetch(`${app.url}${body.logo}`)).status).toBe(404);
});

test.each([
  [
    'SVG',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    'not supported',
  ],
  [
    'HTML behind a name of a picture',
    Buffer.from('<!doctype html><script>alert(1)</script>'),
    'not supported',
  ],
  ['WebP', Buffer.from('524946460000000057454250', 'hex'), 'not supported'],
  ['nothing', Buffer.alloc(0), 'not supported'],
  ['more than 1 MiB', Buffer.concat([png, Buffer.alloc(1_048_577 - 8)]), 'too big'],
])('no picture is %s', async (_case, bytes, reason) => {
  for (const name of appearancePictures) {
    const { status, body } = await send({ [name]: ['logo.png', bytes] });
    expect([status, JSON.stringify(body.message)]).toEqual([400, expect.stringContaining(reason)]);
    expect(body.message).toHaveProperty(name);
  }
});

test('four pictures of 1 MiB go into one request', async () => {
  const largest = Buffer.concat([png, Buffer.alloc(1_048_576 - 8)]);
  const files = Object.fromEntries(appearancePictures.map((name) => [name, ['a.png', largest] as const]));
  expect((await send(files)).status).toBe(200);
});

test('pages have its title, and its messages in its colours', async () => {
  const evil = '</title><script>alert(1)</script>"\'';
  const escaped = '&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;';
  bodyOf(
    await put({
      title: evil,
      description: `Down ${evil}`,
      header_message: `Top ${evil}`,
      footer_message: `Bottom ${evil}`,
      message_background_color: '#A00',
      message_font_color: '#fefefe',
    }),
    200,
  );
  const { text } = await openBrowser(app).get('/users/sign_in');
  expect(text).toContain(`<title>Sign in · ${escaped}</title>`);
  expect(text).toContain(`<a class="brand" href="/">${escaped}</a>`);
  expect(text).toContain(`<p class="name">${escaped}</p>\n<p>Down ${escaped}</p>`);
  expect(text).toContain(`<p class="site-message top">Top ${escaped}</p>`);
  expect(text).toContain(`<p class="site-message bottom">Bottom ${escaped}</p>`);
  expect(text).not.toContain('<script');
  const [, address = ''] = /<link rel="stylesheet" href="(\/-\/appearance[^"]*)">/.exec(text) ?? [];
  const style = await fetch(`${app.url}${address}`);
  expect([style.headers.get('content-type'), await style.text()]).toEqual([
    'text/css; charset=utf-8',
    '.site-message { background: #A00; color: #fefefe; }\n',
  ]);
  expect((await openBrowser(app).get('/')).text).not.toContain('class="welcome"');
});

test('an installed program has its name and picture', async () => {
  const manifest = () => fetch(`${app.url}/-/manifest.json`);
  expect((await manifest()).status).toBe(404);
  expect((await openBrowser(app).get('/')).text).not.toContain('rel="manifest"');
  await send({ pwa_icon: ['i.png', png] });
  bodyOf(await put({ pwa_name: 'Forge "A"', pwa_description: 'Ours' }), 200);
  expect((await openBrowser(app).get('/')).text).toContain('<link rel="manifest" href="/-/manifest.json">');
  const response = await manifest();
  expect(response.headers.get('content-type')).toBe('application/manifest+json');
  expect(await response.json()).toEqual({
    name: 'Forge "A"',
    short_name: 'Forge "A"',
    description: 'Ours',
    start_url: '/',
    display: 'browser',
    icons: [{ src: '/uploads/-/system/appearance/pwa_icon/1/i.png', sizes: 'any' }],
  });
});

test('mails have its messages where administrators want it', () =>
  withSettings(app, { email_confirmation_setting: 'hard' }, async () => {
    const mailTo = async () => {
      const username = uniqueName('reader');
      const email = `${username}@example.com`;
      const body = { username, name: 'Reader', email, password: 'correct horse battery staple' };
      bodyOf(await app.root('POST /users', { body }), 201);
      await waitForMail(app);
      return mailsTo(app, email).map(({ text }) => text);
    };
    bodyOf(await put({ header_message: 'Internal', footer_message: 'Burn after reading' }), 200);
    const [before = ''] = await mailTo();
    expect([before.startsWith('Hello'), before.includes('Burn')]).toEqual([true, false]);
    bodyOf(await put({ email_header_and_footer_enabled: true }), 200);
    const [after = ''] = await mailTo();
    expect(after.replaceAll('\r\n', '\n')).toMatch(
      /^Internal\n\nHello Reader,[\s\S]*\n\nBurn after reading\s*$/,
    );
  }));
