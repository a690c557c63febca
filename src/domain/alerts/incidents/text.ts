/** Description and severity of an alert's incident. Pure. */

import { dateFormat } from '../../../platform/locales.ts';
import type { Severity } from '../../work-items/index.ts';
import type { AlertRow } from '../records.ts';
import { plain } from './links.ts';

const bySeverity: Readonly<Record<string, Severity>> = {
  critical: 'CRITICAL',
  high: 'HIGH',
  medium: 'MEDIUM',
  low: 'LOW',
};

/** The incident's severity; unknown for severities `info` and `unknown`. */
export const incidentSeverity = ({ severity }: Pick<AlertRow, 'severity'>): Severity =>
  bySeverity[severity] ?? 'UNKNOWN';

const longDay = dateFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const clock = dateFormat('en-US', {
  hour: 'numeric',
  minute: '2-digit',
  hour12: true,
  timeZone: 'UTC',
});

/** `27 April 2020, 9:05AM (UTC)`. */
export const writtenTime = (time: Date): string =>
  `${longDay(time)}, ${clock(time).replaceAll(/\s/g, '')} (UTC)`;

/** Code between more backticks than the text has in a row. */
function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** A link, or escaped text. */
const linked = (text: string): string => (/^https?:\/\/[^\s<>]+$/i.test(text) ? `<${text}>` : plain(text));

/** A quotation, whose lines are no quick actions when a member edits the description later. */
const quoted = (text: string): string =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n');

type DescribedAlert = Pick<
  AlertRow,
  | 'iid'
  | 'title'
  | 'description'
  | 'severity'
  | 'service'
  | 'monitoring_tool'
  | 'hosts'
  | 'environment_name'
  | 'runbook'
  | 'query'
  | 'incident_markdown'
  | 'started_at'
>;

/** A summary of the alert; `url` is its page. */
export function alertSummary(alert: DescribedAlert, url: string): string {
  const lines: [string, string | null][] = [
    ['Start time', writtenTime(alert.started_at)],
    ['Severity', alert.severity],
    ['full_query', alert.query && code(alert.query)],
    ['Service', alert.service && plain(alert.service)],
    ['Monitoring tool', alert.monitoring_tool && plain(alert.monitoring_tool)],
    ['Hosts', plain(alert.hosts.join(', '))],
    ['Environment', alert.environment_name && plain(alert.environment_name)],
    ['Runbook', alert.runbook && linked(alert.runbook)],
    ['Alert', url],
  ];
  const summary = lines
    .filter(([, value]) => value)
    .map(([name, value]) => `**${name}:** ${value}`)
    .join('  \n');
  return alert.description ? `${summary}\n\n${quoted(alert.description)}` : summary;
}

/** Characters of a description. */
const MAX_DESCRIPTION_LENGTH = 1_048_576;
const LINE = '\n\n---\n\n';

/** Markdown with the same meaning, without lines that become quick actions in a later edit. */
const withoutCommands = (markdown: string): string => markdown.replaceAll(/^\//gm, ' /');

/** The summary, the project's template, and the alert's own Markdown for its incident. */
export function incidentDescription(alert: DescribedAlert, url: string, template: string | null): string {
  const markdown = alert.incident_markdown && withoutCommands(alert.incident_markdown);
  const parts = [alertSummary(alert, url), template, markdown];
  const whole = parts.filter((part) => part && part.trim() !== '').join(LINE);
  return whole.length > MAX_DESCRIPTION_LENGTH ? [...whole].slice(0, MAX_DESCRIPTION_LENGTH).join('') : whole;
}
