import { expect, test } from 'vitest';
import { html } from '../../platform/http/pages/html.ts';
import { noAppearance } from '../instance/appearance.ts';
import { withMessages } from './mail-messages.ts';
import { mailPage } from './mail-page.ts';

const page = mailPage({
  language: 'en',
  title: 'A <body> in the title </body>',
  content: html`<p>Text with ${'<body>'} and ${'</body>'}</p>`,
  footer: html`<p>End</p>`,
});
const mail = { id: '1', to: 'a@example.com', subject: 'S', text: 'Text\n', html: page.text, language: 'en' };
const appearance = {
  ...noAppearance,
  header_message: 'Top & <b>bold</b>',
  footer_message: 'Bottom',
  email_header_and_footer_enabled: true,
};

test('both messages stand around both parts, escaped', () => {
  const { text, html: shown } = withMessages(mail, appearance);
  expect(text).toBe('Top & <b>bold</b>\n\nText\n\nBottom\n');
  expect(shown).toMatch(/<body [^>]*><p [^>]*>Top &amp; &lt;b&gt;bold&lt;\/b&gt;<\/p>/);
  expect(shown).toMatch(/background: #e75e40; color: #ffffff">Bottom<\/p>\s*<\/body>\s*<\/html>\s*$/);
});

test('one alone stands alone', () => {
  expect(withMessages(mail, { ...appearance, header_message: '' }).text).toBe('Text\n\nBottom\n');
  expect(withMessages(mail, { ...appearance, footer_message: '' }).text).toBe('Top & <b>bold</b>\n\nText\n');
});

test.each([
  ['where mails have none', { ...appearance, email_header_and_footer_enabled: false }],
  ['without messages', { ...appearance, header_message: '', footer_message: '' }],
])('a mail stays as it is %s', (_case, values) => {
  expect(withMessages(mail, values)).toBe(mail);
});
