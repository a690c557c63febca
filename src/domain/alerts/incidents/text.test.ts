/** Descriptions of incidents and mails of alerts: text from the alert's sender never becomes markup. */
import { expect, test } from 'vitest';
import { composeAlertMail } from '../alerts/mail.ts';
import { alertSummary, incidentDescription, incidentSeverity, writtenTime } from './text.ts';

const bare = {
  iid: 7,
  title: 'Disk full',
  description: null,
  severity: 'critical',
  service: null,
  monitoring_tool: null,
  hosts: [] as string[],
  environment_name: null,
  runbook: null,
  query: null,
  incident_markdown: null,
  started_at: new Date('2020-04-27T09:05:00Z'),
};
const url = 'https://site.example/a/b/-/alert_management/7/details';
const head = '**Start time:** 27 April 2020, 9:05AM (UTC)  \n**Severity:** critical  \n';

test.each([
  ['critical', 'CRITICAL'],
  ['high', 'HIGH'],
  ['medium', 'MEDIUM'],
  ['low', 'LOW'],
  ['info', 'UNKNOWN'],
  ['unknown', 'UNKNOWN'],
])('an alert that is %s makes an incident that is %s', (severity, expected) => {
  expect(incidentSeverity({ severity })).toBe(expected);
});

test.each([
  ['2020-04-27T00:00:00Z', '27 April 2020, 12:00AM (UTC)'],
  ['2020-04-27T12:30:00Z', '27 April 2020, 12:30PM (UTC)'],
  ['2020-12-01T23:59:59.999Z', '1 December 2020, 11:59PM (UTC)'],
])('%s is written as %s', (time, expected) => {
  expect(writtenTime(new Date(time))).toBe(expected);
});

test.each([
  ['nothing more', {}, ''],
  ['a query', { query: 'up == 0' }, '**full_query:** `up == 0`  \n'],
  ['a query with backticks', { query: 'a ``b` c' }, '**full_query:** ``` a ``b` c ```  \n'],
  ['a query of several lines', { query: 'a\nb' }, '**full_query:** `a b`  \n'],
  [
    'a service that is Markdown',
    { service: '**x** [y](z)' },
    '**Service:** \\*\\*x\\*\\* \\[y\\]\\(z\\)  \n',
  ],
  ['a tool that calls somebody', { monitoring_tool: '@root' }, '**Monitoring tool:** \\@root  \n'],
  ['a tool of two lines', { monitoring_tool: 'a\n/close' }, '**Monitoring tool:** a /close  \n'],
  ['hosts', { hosts: ['a', 'b'] }, '**Hosts:** a, b  \n'],
  ['an environment', { environment_name: 'production' }, '**Environment:** production  \n'],
  ['a runbook', { runbook: 'https://r.example/x' }, '**Runbook:** <https://r.example/x>  \n'],
  [
    'a runbook that is none',
    { runbook: 'javascript:alert(1)' },
    '**Runbook:** javascript\\:alert\\(1\\)  \n',
  ],
])('the summary has %s', (_, given, line) => {
  expect(alertSummary({ ...bare, ...given }, url)).toBe(`${head}${line}**Alert:** ${url}`);
});

test('a description is a quotation, so that nothing in it is a command', () => {
  const text = alertSummary({ ...bare, description: 'One\r\n/close\n\n/assign @root' }, url);
  expect(text.endsWith('\n\n> One\n> /close\n> \n> /assign @root')).toBe(true);
});

test.each([
  [null, null, ''],
  ['Template', null, '\n\n---\n\nTemplate'],
  [null, 'Markdown', '\n\n---\n\nMarkdown'],
  ['Template', 'Markdown', '\n\n---\n\nTemplate\n\n---\n\nMarkdown'],
  [' \n', '', ''],
])('template %j and markdown %j follow the summary', (template, incident_markdown, expected) => {
  const whole = incidentDescription({ ...bare, incident_markdown }, url, template);
  expect(whole).toBe(`${head}**Alert:** ${url}${expected}`);
});

test('in the markdown of an alert nothing is a command to whoever edits the description', () => {
  const incident_markdown = '/move other/project\r\n/close\n```\n/label ~x\n```\n> /a/b';
  const whole = incidentDescription({ ...bare, incident_markdown }, url, '```\nan open fence');
  expect(whole.endsWith('\n\n /move other/project\r\n /close\n```\n /label ~x\n```\n> /a/b')).toBe(true);
  expect(whole).not.toMatch(/^\//m);
});

test('what is longer than a description may be is cut, not inside of a character', () => {
  const whole = incidentDescription({ ...bare, incident_markdown: '😀'.repeat(1_100_000) }, url, null);
  expect([...whole]).toHaveLength(1_048_576);
  expect(whole.endsWith('😀')).toBe(true);
});

const letter = (language: string, given: { title?: string; description?: string } = {}) =>
  composeAlertMail({
    alert: { ...bare, ...given },
    url,
    incidentUrl: undefined,
    project: { name: 'b', fullName: 'A / b', url: 'https://site.example/a/b' },
    reader: { language, timezone: 'Europe/Berlin' },
    siteUrl: 'https://site.example',
  });

test.each([
  ['en', 'en', 'b | Alert: Disk full', 'Severity: Critical', '27 April 2020 at 11:05:00'],
  ['de', 'de', 'b | Alarm: Disk full', 'Schweregrad: Kritisch', '27. April 2020 um 11:05:00'],
  ['fr', 'en', 'b | Alert: Disk full', 'Severity: Critical', '27 April 2020 at 11:05:00'],
])('a reader of %s gets it in %s, and in their own time', (requested, language, subject, row, time) => {
  const written = letter(requested);
  expect(written).toMatchObject({ language, subject });
  expect(written.text).toContain(row);
  expect(written.text).toContain(time);
  expect(written.html).toContain(`<html lang="${language}">`);
});

test('what came with the alert is no markup in a letter, and begins no line of its own in the subject', () => {
  const written = letter('en', { title: 'a\r\nBcc: x\u202e', description: '<script>alert(1)</script>' });
  expect(written.subject).toBe('b | Alert: a Bcc: x');
  expect(written.html).not.toContain('<script>');
  expect(written.html).toContain('&lt;script&gt;');
});
