/** A mail as sent: the same parts as text and as HTML, in the recipient's language and time zone. Pure. */
import { LINE, mailButton, mailPage, oneLine } from '../../../kernel/mail/mail-page.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import { type MailTexts, mailTexts } from '../events/mail-texts.ts';
import { dressBody, plainBody } from './bodies.ts';
import { type Content, contentOf, subjectOf } from './contents.ts';
import type { MailInput } from './inputs.ts';
import { listHeaders, subjectHeaders, threadHeaders } from './threads.ts';
import { timeIn } from './times.ts';

/** The footer: the reason for the mail, and how to unsubscribe. */
type Ending = { why: string; links: readonly { label: string; url: string }[]; sentBy: string };

function endingOf({ reason, place, site, unsubscribeUrl }: MailInput, texts: MailTexts): Ending {
  return {
    why: texts.say(`why.${reason}`, { place: place.fullName }),
    links: [
      ...(unsubscribeUrl === undefined ? [] : [{ label: texts.say('unsubscribe'), url: unsubscribeUrl }]),
      { label: texts.say('settings'), url: site.settingsUrl },
    ],
    sentBy: texts.say('sentBy', { site: site.url }),
  };
}

type MailDraft = { input: MailInput; texts: MailTexts; content: Content; ending: Ending; time: string };

function textPart({ input, texts, content, ending, time }: MailDraft): string {
  const { headline, title, warnings, rows, body, list, button } = content;
  const facts = rows.map(({ label, value }) => `${label}: ${oneLine(value)}`);
  const items = list?.items.map(({ text, url }) => `* ${oneLine(text)}\n  ${url}`) ?? [];
  const paragraphs = [
    oneLine(input.place.fullName),
    `${oneLine(headline)}:\n${oneLine(title.text)}\n${time}`,
    ...warnings,
    facts.join('\n'),
    body === undefined ? '' : plainBody(body.text),
    body?.cut ? texts.say('cut') : '',
    list === undefined ? '' : [`${list.label}:`, ...items, list.rest ?? ''].join('\n').trimEnd(),
    `${button.label}:\n${button.url}`,
    `-- \n${oneLine(ending.why)}`,
    ...ending.links.map(({ label, url }) => `${label}:\n${url}`),
    ending.sentBy,
  ];
  return `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
}

const rowsTable = (rows: Content['rows']): Html =>
  html`<table role="presentation" cellspacing="0" cellpadding="0" style="margin: 0 0 16px; border-collapse: collapse">
${rows.map(
  ({ label, value, url }) =>
    html`<tr><td style="padding: 2px 16px 2px 0; vertical-align: top; font-weight: 600">${label}</td><td style="padding: 2px 0; vertical-align: top; overflow-wrap: anywhere">${url === undefined ? value : html`<a href="${url}">${value}</a>`}</td></tr>
`,
)}</table>`;

const listHtml = ({ label, items, rest }: NonNullable<Content['list']>): Html =>
  html`<p style="margin: 0 0 8px; font-weight: 600">${label}</p>
<ul style="margin: 0 0 16px; padding-left: 24px">
${items.map(({ text, url }) => html`<li style="overflow-wrap: anywhere"><a href="${url}">${text}</a></li>\n`)}${rest !== undefined && html`<li>${rest}</li>`}</ul>`;

const warning = (text: string): Html =>
  html`<p style="margin: 0 0 16px; padding: 8px 12px; border: 1px solid #b7791f; border-left-width: 4px; border-radius: 4px; font-size: 14px">${text}</p>`;

function htmlPart({ input, texts, content, ending, time }: MailDraft): string {
  const { headline, title, warnings, rows, body, list, button } = content;
  const page = mailPage({
    language: texts.language,
    title: subjectOf(input, texts),
    content: html`<p style="margin: 0 0 16px; font-size: 14px"><a href="${input.place.url}">${input.place.fullName}</a></p>
<p style="margin: 0">${headline}</p>
<h1 style="margin: 4px 0; font-size: 22px; line-height: 1.3; overflow-wrap: anywhere"><a href="${title.url}" style="color: inherit; text-decoration: none">${title.text}</a></h1>
<p style="margin: 0 0 20px; font-size: 14px; opacity: 0.8">${time}</p>
${warnings.map(warning)}
${rows.length > 0 && rowsTable(rows)}
${body && html`<div style="margin: 0 0 16px; padding: 16px 0 0; border-top: 1px solid ${LINE}; overflow-x: auto">${dressBody(body.html, title.url)}</div>`}
${body?.cut && html`<p style="font-size: 14px">${texts.say('cut')}</p>`}
${list && listHtml(list)}
${mailButton(button.label, button.url)}`,
    footer: html`<p style="margin: 0 0 8px">${ending.why}</p>
<p style="margin: 0 0 8px">${ending.links.map(({ label, url }, index) => html`${index > 0 && html`<br>`}<a href="${url}">${label}</a>`)}</p>
<p style="margin: 0">${ending.sentBy}</p>`,
  });
  return page.text;
}

/** Composes the mail, without the recipient's address. */
export function composeMail(input: MailInput): Omit<Mail, 'to'> & { headers: Record<string, string> } {
  const texts = mailTexts(input.recipient.language);
  const { id, headers } = threadHeaders(input);
  const mail = {
    input,
    texts,
    content: contentOf(input, texts),
    ending: endingOf(input, texts),
    time: timeIn(texts, input.at, input.recipient),
  };
  return {
    id,
    subject: subjectOf(input, texts),
    text: textPart(mail),
    html: htmlPart(mail),
    language: texts.language,
    headers: { ...headers, ...listHeaders(input), ...subjectHeaders(input) },
  };
}
