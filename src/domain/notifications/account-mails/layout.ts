/** The layout of account mails: the same sentences as text and as HTML, with one link. Pure. */
import { mailButton, mailPage, oneLine } from '../../../kernel/mail/mail-page.ts';
import { createCatalog } from '../../../kernel/mail/texts.ts';
import { html } from '../../../platform/http/pages/html.ts';
import english from './mail-texts.en.json' with { type: 'json' };

export type MailContent = {
  subject: string;
  /** The recipient's name in the greeting. */
  name: string;
  /** Paragraphs before the link. */
  before: readonly string[];
  link: { label: string; url: string };
  /** Paragraphs after the link. */
  after: readonly string[];
};

/** Whatever the reader's language is. */
export const texts = createCatalog({ en: english })('en');

/** The parts of a mail from the site at `baseUrl`. */
export function composeMail(
  mail: MailContent,
  baseUrl: string,
): { subject: string; text: string; html: string; language: string } {
  const { subject, link } = mail;
  const footer = texts.say('sentBy', { site: baseUrl });
  const paragraphs = [
    texts.say('hello', { name: oneLine(mail.name) }),
    ...mail.before.map(oneLine),
    `${link.label}:\n${link.url}`,
    ...mail.after.map(oneLine),
    `-- \n${footer}`,
  ];
  const page = mailPage({
    language: texts.language,
    title: subject,
    content: html`<p>${texts.say('hello', { name: mail.name })}</p>
${mail.before.map((text) => html`<p>${text}</p>`)}
${mailButton(link.label, link.url)}
<p style="font-size: 14px">${texts.say('openAddress')} <a href="${link.url}" style="overflow-wrap: anywhere">${link.url}</a></p>
${mail.after.map((text) => html`<p>${text}</p>`)}`,
    footer: html`<p style="margin: 0">${footer}</p>`,
  });
  return { subject, text: `${paragraphs.join('\n\n')}\n`, html: page.text, language: texts.language };
}
