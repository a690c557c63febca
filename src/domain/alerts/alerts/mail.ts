/** The mail about a new alert, in the recipient's language. Pure. */

import { mailButton, mailPage, oneLine } from '../../../kernel/mail/mail-page.ts';
import { createCatalog, type Texts } from '../../../kernel/mail/texts.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import type { AlertRow, Severity } from '../records.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

const textsFor = createCatalog({ en: english, de: german });

export type AlertMail = {
  alert: Pick<
    AlertRow,
    | 'title'
    | 'description'
    | 'severity'
    | 'service'
    | 'monitoring_tool'
    | 'hosts'
    | 'environment_name'
    | 'started_at'
  >;
  url: string;
  incidentUrl: string | undefined;
  project: { name: string; fullName: string; url: string };
  reader: { language: string; timezone: string | null };
  siteUrl: string;
};

function timeIn({ locale }: Texts<never>, time: Date, zone: string | null): string {
  const format = (timeZone: string) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'long', timeZone }).format(time);
  try {
    return format(zone ?? 'UTC');
  } catch {
    // This program does not know the zone.
    return format('UTC');
  }
}

const rowsTable = (rows: readonly (readonly [string, string])[]): Html =>
  html`<table role="presentation" cellspacing="0" cellpadding="0" style="margin: 0 0 16px; border-collapse: collapse">
${rows.map(
  ([label, value]) =>
    html`<tr><td style="padding: 2px 16px 2px 0; vertical-align: top; font-weight: 600">${label}</td><td style="padding: 2px 0; vertical-align: top; overflow-wrap: anywhere">${value}</td></tr>
`,
)}</table>`;

/** The parts of the mail. Text of the alert is escaped: a mail renders no markup of its sender. */
export function composeAlertMail(mail: AlertMail): Pick<Mail, 'subject' | 'text' | 'html' | 'language'> {
  const { alert, url, incidentUrl, project, reader, siteUrl } = mail;
  const texts = textsFor(reader.language);
  const facts = [
    ['severity', texts.say(`severities.${alert.severity as Severity}`)],
    ['started', timeIn(texts, alert.started_at, reader.timezone)],
    ['service', alert.service],
    ['tool', alert.monitoring_tool],
    ['hosts', alert.hosts.join(', ')],
    ['environment', alert.environment_name],
  ] as const;
  const rows = facts.flatMap(([name, value]) => (value ? [[texts.say(name), value] as const] : []));
  const title = oneLine(alert.title);
  const subject = `${project.name} | ${texts.say('subject', { title })}`;
  const why = texts.say('why', { project: oneLine(project.fullName) });
  const paragraphs = [
    oneLine(project.fullName),
    `${texts.say('headline')}:\n${title}`,
    rows.map(([label, value]) => `${label}: ${oneLine(value)}`).join('\n'),
    alert.description ?? '',
    `${texts.say('button')}:\n${url}`,
    incidentUrl === undefined ? '' : `${texts.say('incident')}:\n${incidentUrl}`,
    `-- \n${why}\n${texts.say('off')}`,
    texts.say('sentBy', { url: siteUrl }),
  ];
  const page = mailPage({
    language: texts.language,
    title: subject,
    content: html`<p style="margin: 0 0 16px; font-size: 14px"><a href="${project.url}">${project.fullName}</a></p>
<p style="margin: 0">${texts.say('headline')}</p>
<h1 style="margin: 4px 0 20px; font-size: 22px; line-height: 1.3; overflow-wrap: anywhere"><a href="${url}" style="color: inherit; text-decoration: none">${title}</a></h1>
${rowsTable(rows)}
${alert.description !== null && html`<p style="margin: 0 0 16px; white-space: pre-wrap; overflow-wrap: anywhere">${alert.description}</p>`}
${mailButton(texts.say('button'), url)}
${incidentUrl !== undefined && html`<p><a href="${incidentUrl}">${texts.say('incident')}</a></p>`}`,
    footer: html`<p style="margin: 0 0 8px">${why} ${texts.say('off')}</p>
<p style="margin: 0">${texts.say('sentBy', { url: siteUrl })}</p>`,
  });
  const text = `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
  return { subject, text, html: page.text, language: texts.language };
}
