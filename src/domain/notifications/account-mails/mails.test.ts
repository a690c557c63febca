import { expect, test } from 'vitest';
import { composeMail } from './layout.ts';
import { confirmationMail, resetMail } from './mails.ts';

const SITE = 'https://site.example';
const rude = { name: '<img src=x onerror=alert(1)>\n\nPay here: http://evil.example', username: 'ada' };

test('both parts say the same, and hold the link', () => {
  const mail = composeMail(
    confirmationMail({ name: 'Ada', username: 'ada', email: 'ada@example.com' }, SITE, 'a-b_c'),
    SITE,
  );
  const url = 'https://site.example/users/confirmation?confirmation_token=a-b_c';
  expect(mail.subject).toBe('Confirm your email address');
  for (const part of [mail.text, mail.html]) {
    expect(part).toContain('Hello Ada,');
    expect(part).toContain('gave ada@example.com as an address of the account @ada');
    expect(part).toContain(url);
  }
});

test('a name is escaped in HTML, and stays one line of text', () => {
  const mail = composeMail(resetMail(rude, SITE, 'x'), SITE);
  expect(mail.html).not.toContain('<img');
  expect(mail.html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(mail.text.split('\n')[0]).toBe('Hello <img src=x onerror=alert(1)> Pay here: http://evil.example,');
  expect(mail.subject).toBe('Set a new password');
  expect(mail.text).toContain('within 6 hours');
});

test('the link is the whole of its line in the text', () => {
  const { text } = composeMail(resetMail({ name: 'Ada', username: 'ada' }, SITE, 'secret'), SITE);
  expect(text.split('\n')).toContain('https://site.example/users/password/edit?reset_password_token=secret');
});
