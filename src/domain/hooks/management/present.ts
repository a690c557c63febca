/** Webhooks as records. */
import { type ParentOrInstance, parentKind } from '../../../kernel/access/resource-parents.ts';
import { now } from '../../../platform/clock.ts';
import { flagsOf } from './kinds.ts';
import type { HookRow } from './queries.ts';
import { alertStatus } from './rules.ts';
import type { HookRecord } from './schema.ts';
import { readSecrets } from './secrets.ts';

const namesOf = (values: object) => Object.keys(values).map((key) => ({ key }));

/** The record; `whole` with the names of its variables and headers, which lists leave out. */
export function presentHook(
  { services, subject }: { services: { secretKey: string }; subject: ParentOrInstance },
  row: HookRow,
  { whole }: { whole: boolean },
): HookRecord {
  const { url, headers, variables } = readSecrets(services.secretKey, row);
  const status = alertStatus(row, now());
  return {
    id: row.id,
    url,
    name: row.name,
    description: row.description,
    created_at: row.created_at.toISOString(),
    enable_ssl_verification: row.enable_ssl_verification,
    alert_status: status,
    disabled_until: status === 'temporarily_disabled' ? (row.disabled_until?.toISOString() ?? null) : null,
    push_events_branch_filter: row.push_events_branch_filter,
    branch_filter_strategy: row.branch_filter_strategy,
    custom_webhook_template: row.custom_webhook_template,
    ...Object.fromEntries(flagsOf(parentKind(subject)).map((flag) => [flag, row.events.includes(flag)])),
    ...(row.project_id !== null && { project_id: row.project_id }),
    ...(row.namespace_id !== null && { group_id: row.namespace_id }),
    ...(whole && { url_variables: namesOf(variables), custom_headers: namesOf(headers) }),
  } as HookRecord;
}
