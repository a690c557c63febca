/** The log of a hook: requests and what came of them (facts-merge-requests: 10.1). */
import Type, { type Static } from 'typebox';
import { commaList, integerId, nullable } from '../../../platform/http/parameters/schema.ts';
import { hookKinds } from '../management/kinds.ts';
import type { LoggedDelivery } from './queries.ts';

/** So long deliveries are kept, and shown. */
export const LOG_MS = 2 * 24 * 3_600_000;
export const LogInput = Type.Object({
  hook_id: integerId(),
  status: Type.Optional(
    commaList(Type.String({ maxLength: 20 }), {
      maxItems: 20,
      description: 'Statuses, or `successful`, `client_failure`, `server_failure`.',
    }),
  ),
});
export const OneLogged = Type.Object({ hook_id: integerId(), hook_log_id: integerId() });

const headers = Type.Record(Type.String(), Type.String());
export const LogRecord = Type.Object({
  id: Type.Integer(),
  url: Type.String(),
  trigger: Type.String(),
  request_headers: headers,
  request_data: Type.Unknown(),
  response_headers: headers,
  response_body: Type.String(),
  execution_duration: Type.Number(),
  response_status: nullable(Type.String()),
});
export type LogRecord = Static<typeof LogRecord>;

export const ResentRecord = Type.Object({ response_status: Type.Integer() });

/** In place of a body that is too large to be shown. */
const OVERSIZE = { oversize: true };

const triggerOf = (flag: string): string =>
  (hookKinds as Record<string, { trigger: string } | undefined>)[flag]?.trigger ?? 'system_hooks';

export const presentLogged = (row: LoggedDelivery): LogRecord => ({
  id: row.id,
  url: row.url ?? '',
  trigger: triggerOf(row.flag),
  request_headers: row.request_headers as Record<string, string>,
  request_data: row.body === null ? OVERSIZE : JSON.parse(row.body),
  response_headers: row.response_headers as Record<string, string>,
  response_body: row.response_body ?? '',
  execution_duration: row.execution_duration ?? 0,
  response_status: row.response_status,
});
