import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startSmtp } from '../../../test/support/smtp.ts';
import { createMailer, type Mail } from './mailer.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ashlar-mail-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sender = () => ({ from: 'ashlar@site.example', host: 'site.example' });
const mail: Mail = {
  id: 'greeting-12-5',
  to: 'ada@example.com',
  subject: 'A greeting',
  text: 'Hello.\n',
  html: '<p>Hello.</p>',
  language: 'en',
};

const send = async (changes: Partial<Mail>): Promise<string> => {
  const box = join(folder, 'mail');
  const sent = { ...mail, ...changes };
  await createMailer({ smtpUrl: undefined, folder: box, sender }).send(sent);
  return readFileSync(join(box, `${sent.id}.eml`), 'utf8');
};

/** The header lines, unfolded. */
const headersOf = (message: string): string[] =>
  (message.split('\r\n\r\n')[0] ?? '').replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');

describe('without a server', () => {
  test('a mail is one file with both parts, which only its owner reads', async () => {
    const message = await send({});
    const headers = headersOf(message);
    expect(headers).toEqual(
      expect.arrayContaining([
        'From: Ashlar <ashlar@site.example>',
        'To: ada@example.com',
        'Subject: A greeting',
        'Message-ID: <greeting-12-5@site.example>',
        'Auto-Submitted: auto-generated',
        'Content-Language: en',
      ]),
    );
    expect(message).toContain('Content-Type: text/plain');
    expect(message).toContain('<p>Hello.</p>');
    const box = join(folder, 'mail');
    expect(readdirSync(box)).toEqual(['greeting-12-5.eml']);
    expect([statSync(box).mode & 0o777, statSync(join(box, 'greeting-12-5.eml')).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });

  test('sent again it is the same file with the same Message-ID', async () => {
    await send({});
    const again = await send({ text: 'Again.\n' });
    expect(readdirSync(join(folder, 'mail'))).toHaveLength(1);
    expect(headersOf(again)).toContain('Message-ID: <greeting-12-5@site.example>');
  });
});

describe('header injection', () => {
  test('what mail programs would decode is left as it was written, more or less', async () => {
    const rude = '=?utf-8?q?Bcc=3A_eve=40example=2Ecom?=';
    const headers = headersOf(await send({ subject: rude, headers: { 'X-Ashlar-Project': rude } }));
    expect(headers).toContain('Subject: = ?utf-8?q?Bcc=3A_eve=40example=2Ecom?=');
    expect(headers).toContain('X-Ashlar-Project: = ?utf-8?q?Bcc=3A_eve=40example=2Ecom?=');
  });

  test('no line is longer than servers take, whatever the words are', async () => {
    const long = 'a/'.repeat(3_000);
    const message = await send({ subject: long, headers: { 'X-Ashlar-Project-Path': long } });
    for (const line of message.split('\r\n')) expect(line.length).toBeLessThan(999);
  });

  test.each([
    'A greeting\r\nBcc: eve@example.com',
    'A greeting\nBcc: eve@example.com',
    'A greeting\rBcc: eve@example.com',
    'A greeting\u2028Bcc: eve@example.com',
  ])('the subject %j begins no header', async (subject) => {
    const headers = headersOf(await send({ subject }));
    expect(headers.filter((line) => /^bcc:/i.test(line))).toEqual([]);
    expect(headers).toContain('Subject: A greeting Bcc: eve@example.com');
  });

  test.each([
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com, eve@example.com',
    'Ada <ada@example.com>',
  ])('the address %j is none', async (to) => {
    await expect(send({ to })).rejects.toThrow('not one mail address');
  });

  test.each(['../greeting', 'a b', 'a@b', ''])('the name %j is none', async (id) => {
    await expect(send({ id })).rejects.toThrow('not the name of a mail');
  });
});

describe('with a server', () => {
  test('a mail that is refused for now throws, and is the same when it is tried again', async () => {
    const { url, received, commands, stop } = await startSmtp(1);
    try {
      const mailer = createMailer({ smtpUrl: url, folder, sender });
      await expect(mailer.send(mail)).rejects.toThrow('451');
      await mailer.send(mail);
      expect(received).toHaveLength(1);
      expect(received[0]).toContain('Message-ID: <greeting-12-5@site.example>');
      expect(commands).toContain('MAIL FROM:<ashlar@site.example>');
      expect(commands).toContain('RCPT TO:<ada@example.com>');
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      await stop();
    }
  });

  test('that is not there the mail throws', async () => {
    const { url, stop } = await startSmtp(0);
    await stop();
    await expect(createMailer({ smtpUrl: url, folder, sender }).send(mail)).rejects.toThrow('ECONNREFUSED');
  });
});

test('a server that says nothing is waited for once, and then left alone for a moment', {
  timeout: 600_000,
}, async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  const mailer = createMailer({ smtpUrl: `smtp://127.0.0.1:${address.port}`, folder, sender });
  await expect(mailer.send(mail)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  await expect(mailer.send(mail)).rejects.toThrow('did not answer a moment ago');
  expect(sockets).toHaveLength(1);
  for (const socket of sockets) socket.destroy();
  server.close();
});
