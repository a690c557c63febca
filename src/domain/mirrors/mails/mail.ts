/** The mail about a mirror that fails, in the recipient's language. Pure. */
import { mailButton, mailPage, oneLine } from '../../../kernel/mail/mail-page.ts';
import { createCatalog } from '../../../kernel/mail/texts.ts';
import { html } from '../../../platform/http/pages/html.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

const textsFor = createCatalog({ en: english, de: german });

export type MirrorMail = {
  kind: 'pull' | 'push';
  /** Without name and password. */
  address: string;
  reason: string;
  project: { name: string; fullName: string; url: string };
  language: string;
  siteUrl: string;
};

/** The parts of the mail. What the other server said is escaped. */
export function composeMirrorMail(mail: MirrorMail): Pick<Mail, 'subject' | 'text' | 'html' | 'language'> {
  const { kind, address, reason, project, siteUrl } = mail;
  const texts = textsFor(mail.language);
  const subject = `${project.name} | ${texts.say(`${kind}Subject`)}`;
  const headline = texts.say(`${kind}Headline`);
  const why = texts.say('why', { project: oneLine(project.fullName) });
  const paragraphs = [
    oneLine(project.fullName),
    headline,
    `${texts.say('address')}: ${oneLine(address)}`,
    `${texts.say('reason')}: ${reason}`,
    `${texts.say('button')}:\n${project.url}`,
    `-- \n${why}`,
    texts.say('sentBy', { url: siteUrl }),
  ];
  const page = mailPage({
    language: texts.language,
    title: subject,
    content: html`<p style="margin: 0 0 16px; font-size: 14px"><a href="${project.url}">${project.fullName}</a></p>
<p>${headline}</p>
<p style="overflow-wrap: anywhere">${texts.say('address')}: ${address}</p>
<p style="white-space: pre-wrap; overflow-wrap: anywhere">${texts.say('reason')}: ${reason}</p>
${mailButton(texts.say('button'), project.url)}`,
    footer: html`<p style="margin: 0 0 8px">${why}</p>
<p style="margin: 0">${texts.say('sentBy', { url: siteUrl })}</p>`,
  });
  return { subject, text: `${paragraphs.join('\n\n')}\n`, html: page.text, language: texts.language };
}
