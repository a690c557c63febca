/** The mail about a new alert, in the recipient's language. Pure. */

import { mailButton, mailPage, oneLine } from '../../../kernel/mail/mail-page.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import type { AlertRow } from '../records.ts';

type RowName = 'severity' | 'started' | 'service' | 'tool' | 'hosts' | 'environment';
type Words = {
  locale: string;
  subject(title: string): string;
  headline: string;
  rows: Record<RowName, string>;
  severities: Record<string, string>;
  button: string;
  incident: string;
  why(project: string): string;
  off: string;
  sentBy(url: string): string;
};

const english: Words = {
  locale: 'en-GB',
  subject: (title) => `Alert: ${title}`,
  headline: 'An alert was triggered',
  rows: {
    severity: 'Severity',
    started: 'Start time',
    service: 'Service',
    tool: 'Monitoring tool',
    hosts: 'Hosts',
    environment: 'Environment',
  },
  severities: {
    critical: 'Critical',
    high: 'High',
    medium: 'Medium',
    low: 'Low',
    info: 'Info',
    unknown: 'Unknown',
  },
  button: 'View the alert',
  incident: 'View its incident',
  why: (project) => `You receive this mail because you are a maintainer or an owner of ${project}.`,
  off: 'It is sent as long as the settings of the project say that new alerts are mailed.',
  sentBy: (url) => `Sent by Ashlar at ${url}`,
};

const german: Words = {
  locale: 'de-DE',
  subject: (title) => `Alarm: ${title}`,
  headline: 'Ein Alarm wurde ausgelöst',
  rows: {
    severity: 'Schweregrad',
    started: 'Beginn',
    service: 'Dienst',
    tool: 'Überwachung',
    hosts: 'Rechner',
    environment: 'Umgebung',
  },
  severities: {
    critical: 'Kritisch',
    high: 'Hoch',
    medium: 'Mittel',
    low: 'Niedrig',
    info: 'Info',
    unknown: 'Unbekannt',
  },
  button: 'Alarm ansehen',
  incident: 'Vorfall ansehen',
  why: (project) => `Sie erhalten diese E-Mail, weil Sie ${project} betreuen oder besitzen.`,
  off: 'Sie wird verschickt, solange das Projekt neue Alarme per E-Mail meldet.',
  sentBy: (url) => `Gesendet von Ashlar auf ${url}`,
};

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

function timeIn({ locale }: Words, time: Date, zone: string | null): string {
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
  const words = reader.language === 'de' ? german : english;
  const language = words === german ? 'de' : 'en';
  const facts: [RowName, string | null][] = [
    ['severity', words.severities[alert.severity] ?? alert.severity],
    ['started', timeIn(words, alert.started_at, reader.timezone)],
    ['service', alert.service],
    ['tool', alert.monitoring_tool],
    ['hosts', alert.hosts.join(', ')],
    ['environment', alert.environment_name],
  ];
  const rows = facts.flatMap(([name, value]) => (value ? [[words.rows[name], value] as const] : []));
  const title = oneLine(alert.title);
  const subject = `${project.name} | ${words.subject(title)}`;
  const why = words.why(oneLine(project.fullName));
  const paragraphs = [
    oneLine(project.fullName),
    `${words.headline}:\n${title}`,
    rows.map(([label, value]) => `${label}: ${oneLine(value)}`).join('\n'),
    alert.description ?? '',
    `${words.button}:\n${url}`,
    incidentUrl === undefined ? '' : `${words.incident}:\n${incidentUrl}`,
    `-- \n${why}\n${words.off}`,
    words.sentBy(siteUrl),
  ];
  const page = mailPage({
    language,
    title: subject,
    content: html`<p style="margin: 0 0 16px; font-size: 14px"><a href="${project.url}">${project.fullName}</a></p>
<p style="margin: 0">${words.headline}</p>
<h1 style="margin: 4px 0 20px; font-size: 22px; line-height: 1.3; overflow-wrap: anywhere"><a href="${url}" style="color: inherit; text-decoration: none">${title}</a></h1>
${rowsTable(rows)}
${alert.description !== null && html`<p style="margin: 0 0 16px; white-space: pre-wrap; overflow-wrap: anywhere">${alert.description}</p>`}
${mailButton(words.button, url)}
${incidentUrl !== undefined && html`<p><a href="${incidentUrl}">${words.incident}</a></p>`}`,
    footer: html`<p style="margin: 0 0 8px">${why} ${words.off}</p>
<p style="margin: 0">${words.sentBy(siteUrl)}</p>`,
  });
  const text = `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
  return { subject, text, html: page.text, language };
}
