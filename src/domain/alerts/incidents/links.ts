/** Links between alerts and their incidents: system notes of alerts, and their common status. */
import type { SystemNote } from '../../work-items/index.ts';

/** The part of an alert that its notes need. */
export type NotedAlert = { id: number; project_id: number };

/** The source of an alert in notes: the monitoring tool, else the integration's name. */
export const sourceOf = (alert: { monitoring_tool: string | null }, integrationName: string | null): string =>
  alert.monitoring_tool ?? integrationName ?? 'Generic Alert Endpoint';

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
/** Escapes Markdown in an external name that is put into bold text. */
export const plain = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]()#+!<>|~@&%$:]/g, '\\$&');

/** The beginnings of the notes for the arrival and the recovery of an alert. */
export const logged = { alert: 'logged an alert from', recovery: 'logged a recovery alert from' } as const;
export const LOGGED = 'new_alert_added';

/** System notes of alerts, in the public API's words. */
export const alertNotes = {
  created: (source: string): SystemNote => ({
    action: LOGGED,
    body: `${logged.alert} **${plain(source)}**`,
  }),
  recovered: (source: string): SystemNote => ({
    action: LOGGED,
    body: `${logged.recovery} **${plain(source)}**`,
  }),
  /** `reason` is the cause: ` by closing incident #1`. */
  status: (status: string, reason = ''): SystemNote => ({
    action: 'status',
    body: `changed the status to **${capitalized(status)}**${reason}`,
  }),
  incident: (reference: string): SystemNote => ({
    action: 'alert_issue_added',
    body: `created incident ${reference} for this alert`,
  }),
};
