import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createMailer } from './mailer.ts';
import { mailRefusal } from './refusals.ts';

const mail = { id: 'test', to: 'a@example.com', subject: 'S', text: 'T\n', html: '<p>T</p>', language: 'en' };

/** What becomes of a mail to this address. */
async function refusalAt(smtpUrl: string) {
  const sender = () => ({ from: 'ashlar@example.com', host: 'example.com' });
  const mailer = createMailer({ smtpUrl, folder: '/nowhere', sender });
  const error = await mailer.send(mail).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Error);
  return mailRefusal(error);
}

/** A server that takes all commands but those that begin with a word; its port. */
async function serverThatRefuses(word: string, response: string, greeting = '220 here'): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(`${greeting}\r\n`);
    socket.on('data', (bytes) => {
      for (const line of bytes.toString().split('\r\n').filter(Boolean)) {
        if (line.startsWith(word)) socket.write(`${response}\r\n`);
        else if (line.startsWith('EHLO')) socket.write('250-here\r\n250 AUTH PLAIN\r\n');
        else socket.write(line === 'DATA' ? '354 go on\r\n' : '250 fine\r\n');
      }
    });
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return address.port;
}

test('nothing listens there', async () => {
  const { words, said } = await refusalAt('smtp://127.0.0.1:9');
  expect([words, said]).toEqual([
    expect.stringContaining('Nothing listens'),
    expect.stringContaining('ECONNREFUSED'),
  ]);
});

test('no such host', async () => {
  const { words } = await refusalAt('smtp://no-such-host.invalid:25');
  expect(words).toContain('has no address');
});

test.each([
  ['MAIL', '550 5.7.1 not from there', 'refuses the sender'],
  ['RCPT', '550 5.1.1 nobody of that name', 'refuses the recipient'],
  ['DATA', '554 5.7.0 no mail today', 'refuses the mail'],
  ['AUTH', '535 5.7.8 wrong password', 'does not take the user or the password'],
])('a server that refuses %s is told in words, and with its own', async (word, response, words) => {
  const refusal = await refusalAt(`smtp://user:hunter2@127.0.0.1:${await serverThatRefuses(word, response)}`);
  expect(refusal).toEqual({ words: expect.stringContaining(words), said: response });
});

test('a server that speaks no TLS where it is expected to', async () => {
  const { words } = await refusalAt(`smtps://127.0.0.1:${await serverThatRefuses('-', '-')}`);
  expect(words).toContain('speaks TLS otherwise');
});

test.each([
  [{ code: 'ETIMEDOUT', message: 'Greeting never received' }, 'does not answer', 'Greeting never received'],
  [new Error('the mail server did not answer a moment ago'), 'does not answer', 'a moment ago'],
  [{ code: 'ESOCKET', message: 'self-signed certificate' }, 'is not to be trusted', 'self-signed'],
  [
    { code: 'EACCES', message: "EACCES: permission denied, mkdir '/data/mail'" },
    'cannot be written',
    'EACCES',
  ],
  [{ code: 'EMESSAGE', response: '452 a\r\nb\u202e' }, 'refuses the mail', '452 a b'],
  ['odd', 'could not be sent', ''],
  [undefined, 'could not be sent', ''],
])('%j in words', (error, words, said) => {
  expect(mailRefusal(error)).toEqual({
    words: expect.stringContaining(words),
    said: expect.stringContaining(said),
  });
});

test('what was said is bounded', () => {
  expect(mailRefusal(new Error('x'.repeat(10_000))).said).toHaveLength(500);
});
