/** Errors and their events as records. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Frame, NormalEvent } from '../events/shape.ts';
import type { ErrorRow, EventRow } from './queries.ts';
import type { CountRecord, ErrorRecord, EventRecord, WholeEventRecord } from './schema.ts';
import { errorStatuses } from './schema.ts';

/** The page of an error. */
export const errorAddress = (
  baseUrl: string,
  project: Pick<AuthorizedProject, 'fullPath'>,
  id: number,
): string => `${baseUrl}/${project.fullPath}/-/error_tracking/${id}/details`;

/** The record, with the number of its issue for users who may read issues. */
export const presentError = (baseUrl: string, project: AuthorizedProject, row: ErrorRow): ErrorRecord => ({
  id: row.id,
  project_id: row.project_id,
  name: row.name,
  description: row.description,
  actor: row.actor,
  platform: row.platform,
  level: row.level,
  status: errorStatuses.find((status) => status === row.status) ?? 'unresolved',
  first_seen: row.first_seen_at.toISOString(),
  last_seen: row.last_seen_at.toISOString(),
  events_count: row.events_count,
  users_count: row.users_count,
  first_release: row.first_release,
  last_release: row.last_release,
  resolved_at: row.resolved_at?.toISOString() ?? null,
  regressed_at: row.regressed_at?.toISOString() ?? null,
  issue_iid: project.may('read_issues') ? row.issue_iid : null,
  web_url: errorAddress(baseUrl, project, row.id),
});

/** The fields that every record of an event has. */
const occurrenceOf = (row: Omit<EventRow, 'payload'>) => ({
  event_id: row.event_id.replaceAll('-', ''),
  level: row.level,
  environment: row.environment,
  release: row.release,
  abridged: row.abridged,
  occurred_at: row.occurred_at.toISOString(),
  received_at: row.received_at.toISOString(),
});

export const presentEvent = (row: Omit<EventRow, 'payload'>): EventRecord => ({
  id: row.id,
  ...occurrenceOf(row),
});

type WholeFrame = WholeEventRecord['frames'][number];

const presentFrame = (frame: Frame): WholeFrame => ({
  function: frame.function,
  module: frame.module,
  filename: frame.filename,
  abs_path: frame.abs_path,
  lineno: frame.lineno,
  colno: frame.colno,
  in_app: frame.in_app,
  pre_context: [...frame.pre_context],
  context_line: frame.context_line,
  post_context: [...frame.post_context],
  vars: frame.vars,
});

/** The record of a whole event, from its row and its payload. */
export const presentWholeEvent = (row: Omit<EventRow, 'payload'>, event: NormalEvent): WholeEventRecord => ({
  ...occurrenceOf(row),
  platform: event.platform,
  logger: event.logger,
  transaction: event.transaction,
  server_name: event.server_name,
  dist: event.dist,
  message: event.message,
  exceptions: event.exceptions.map((thrown) => ({
    type: thrown.type,
    value: thrown.value,
    module: thrown.module,
    handled: thrown.handled,
    mechanism: thrown.mechanism,
    frames: thrown.frames.map(presentFrame),
    frames_omitted: thrown.frames_omitted,
  })),
  frames: event.frames.map(presentFrame),
  frames_omitted: event.frames_omitted,
  tags: event.tags.map(([key, value]) => ({ key, value })),
  user: event.user,
  request: event.request && {
    ...event.request,
    headers: event.request.headers.map(([name, value]) => ({ name, value })),
  },
  contexts: event.contexts,
  breadcrumbs: event.breadcrumbs.map((crumb) => ({ ...crumb })),
  extra: event.extra,
  modules: event.modules,
  sdk: event.sdk,
});

export const presentCount = ({ hour, events }: { hour: string; events: number }): CountRecord => ({
  hour: new Date(hour).toISOString(),
  events,
});
