/** Errors as rows, with an event that has every field: for readers, without a report. */
import { type NormalEvent, packEvent } from '../../src/domain/error-tracking/events/shape.ts';
import type { TestApp } from './app.ts';

type Frame = NormalEvent['frames'][number];

export const sampleFrame = (changes: Partial<Frame> = {}): Frame => ({
  function: 'layCourse',
  module: 'walls',
  filename: 'src/walls.js',
  abs_path: '/app/src/walls.js',
  lineno: 12,
  colno: 9,
  in_app: true,
  pre_context: ['function layCourse(stones) {', '  const [first] = stones;'],
  context_line: "  throw new RangeError('no stone left');",
  post_context: ['}', ''],
  vars: null,
  ...changes,
});

export const sampleEvent = (changes: Partial<NormalEvent> = {}): NormalEvent => ({
  event_id: 'fc6d8c0c43fc4630ad850ee518f1b9d0',
  timestamp: '2026-11-01T10:00:00.000Z',
  platform: 'node',
  level: 'error',
  logger: null,
  transaction: 'GET /walls',
  server_name: 'yard',
  release: 'walls@1.2.0',
  dist: null,
  environment: 'production',
  message: null,
  message_template: null,
  exceptions: [
    {
      type: 'RangeError',
      value: 'no stone left',
      module: null,
      handled: false,
      mechanism: 'onuncaughtexception',
      frames: [
        sampleFrame({ function: 'run', filename: 'node_modules/queue/index.js', in_app: false }),
        sampleFrame(),
      ],
      frames_omitted: 0,
    },
  ],
  frames: [],
  frames_omitted: 0,
  fingerprint: [],
  tags: [['runtime', 'node 24']],
  user: { id: '7', username: 'ada', email: null, ip_address: null, data: {} },
  request: {
    method: 'GET',
    url: 'https://walls.example/walls',
    query_string: null,
    headers: [['Accept', '*/*']],
    data: null,
    env: {},
  },
  contexts: { runtime: { name: 'node', version: '24' } },
  breadcrumbs: [
    {
      timestamp: '2026-11-01T09:59:59.000Z',
      type: null,
      category: 'console',
      level: 'info',
      message: 'a course begins',
      data: null,
    },
  ],
  extra: {},
  modules: {},
  sdk: { name: 'sentry.javascript.node', version: '10.0.0' },
  ...changes,
});

export type ErrorGiven = {
  name?: string;
  description?: string;
  actor?: string;
  status?: string;
  level?: string;
  /** Hours ago. */
  firstSeen?: number;
  lastSeen?: number;
  events?: number;
  /** The last is the latest. */
  kept?: readonly NormalEvent[];
  /** Events by the hours ago. */
  counts?: Readonly<Record<number, number>>;
  tags?: readonly (readonly [key: string, value: string, events: number])[];
};

const HOUR = 3_600_000;

/** Adds an error to the project; its id. */
export async function addError(app: TestApp, projectId: number, given: ErrorGiven = {}): Promise<number> {
  const { sql } = app.app.services.database;
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR);
  const { name = 'RangeError', description = 'no stone left', actor = 'layCourse', kept = [] } = given;
  const [row] = await sql<{ id: number }[]>`
    insert into errors (project_id, fingerprint, name, description, actor, platform, level, status, first_seen_at,
      last_seen_at, events_count, created_at, updated_at)
    values (${projectId}, sha256(gen_random_uuid()::text::bytea), ${name}, ${description}, ${actor}, 'node',
      ${given.level ?? 'error'}, ${given.status ?? 'unresolved'}, ${ago(given.firstSeen ?? 2)},
      ${ago(given.lastSeen ?? 1)}, ${given.events ?? 1}, now(), now())
    returning id`;
  const id = row?.id ?? 0;
  for (const event of kept)
    await sql`
      insert into error_events (error_id, project_id, event_id, level, environment, release, payload, occurred_at,
        received_at)
      values (${id}, ${projectId}, ${event.event_id}, ${event.level}, ${event.environment}, ${event.release},
        ${packEvent(event)}, ${event.timestamp}, now())`;
  for (const [hours, events] of Object.entries(given.counts ?? {}))
    await sql`
      insert into error_counts (error_id, hour, events)
      values (${id}, date_trunc('hour', ${ago(Number(hours))}::timestamptz, 'UTC'), ${events})`;
  for (const [key, value, events] of given.tags ?? [])
    await sql`
      insert into error_tags (error_id, key, value, events, last_seen_at)
      values (${id}, ${key}, ${value}, ${events}, now())`;
  return id;
}
