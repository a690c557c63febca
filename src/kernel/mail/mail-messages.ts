/** The messages at the top and the bottom of mails, where administrators want them there. Pure. */
import { type Html, html } from '../../platform/http/pages/html.ts';
import type { Mail } from '../../platform/mail/mailer.ts';
import type { Appearance } from '../instance/appearance.ts';

/** The mail with both messages around its parts. Its document is one of mailPage(): the first and the last tag of a body are its own. */
export function withMessages(mail: Mail, appearance: Appearance): Mail {
  const { header_message: top, footer_message: bottom } = appearance;
  if (!appearance.email_header_and_footer_enabled || (top === '' && bottom === '')) return mail;
  const begin = mail.html.indexOf('>', mail.html.indexOf('<body')) + 1;
  const end = mail.html.lastIndexOf('</body>');
  const [above, below] = [strip(top, appearance), strip(bottom, appearance)];
  return {
    ...mail,
    text: [top, mail.text.trimEnd(), bottom]
      .filter((part) => part !== '')
      .join('\n\n')
      .concat('\n'),
    html: `${mail.html.slice(0, begin)}${above}${mail.html.slice(begin, end)}${below}${mail.html.slice(end)}`,
  };
}

function strip(
  text: string,
  { message_background_color: paper, message_font_color: ink }: Appearance,
): string {
  if (text === '') return '';
  const shown: Html = html`<p style="margin: 0 0 16px; padding: 6px 16px; text-align: center; white-space: pre-line; background: ${paper}; color: ${ink}">${text}</p>
`;
  return shown.text;
}
