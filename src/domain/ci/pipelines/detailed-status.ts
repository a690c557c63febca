/** How pages and records word a status (facts for CI: State machines, Values). Pure. */
import type { Static } from 'typebox';
import type { Status } from '../processing/status.ts';
import type { DetailedStatus } from './schema.ts';

const words: Record<Status, { text: string; label?: string }> = {
  created: { text: 'Created' },
  waiting_for_resource: { text: 'Waiting', label: 'waiting for resource' },
  preparing: { text: 'Preparing' },
  waiting_for_callback: { text: 'Waiting', label: 'waiting for callback' },
  pending: { text: 'Pending' },
  running: { text: 'Running' },
  success: { text: 'Passed' },
  failed: { text: 'Failed' },
  canceling: { text: 'Canceling' },
  canceled: { text: 'Canceled' },
  skipped: { text: 'Skipped' },
  manual: { text: 'Blocked', label: 'waiting for manual action' },
  scheduled: { text: 'Delayed', label: 'waiting for delayed job' },
};

/** That of a pipeline; `warnings`: one of its jobs failed, and may. */
export function detailedStatus(
  status: Status,
  warnings: boolean,
  detailsPath: string,
): Static<typeof DetailedStatus> {
  const warned = status === 'success' && warnings;
  const { text, label = text.toLowerCase() } = warned
    ? { text: 'Warning', label: 'passed with warnings' }
    : words[status];
  const icon = `status_${warned ? 'warning' : status.startsWith('waiting') ? 'pending' : status}`;
  return {
    icon,
    text,
    label,
    group: warned ? 'success-with-warnings' : status.replaceAll('_', '-'),
    tooltip: warned ? 'passed' : label,
    has_details: true,
    details_path: detailsPath,
    illustration: null,
    favicon: `/assets/ci_favicons/favicon_${icon}.png`,
  };
}
