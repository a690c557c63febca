/** A project that takes error reports, for journeys with programs that send them. */
import { expect, vi } from 'vitest';
import type { Program } from './support.ts';

type ListedError = { id: number; name: string; description: string; actor: string; events_count: number };

/** Its errors, as root reads them. */
export type Errors = {
  /** All of them, the first one first, once so many events are in them. */
  errors(events: number): Promise<ListedError[]>;
  /** One of them with its latest event. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a record by reading it.
  error(id: number): Promise<any>;
};

export type ReportedTo = Errors & {
  id: number;
  /** From the root. */
  address: string;
  /** The configuration of a reporting program. */
  dsn: string;
};

async function answerOf<T>(requested: Promise<Response>, status: number): Promise<T> {
  const response = await requested;
  const text = await response.text();
  expect([response.status, text]).toEqual([status, text]);
  const value: T = JSON.parse(text);
  return value;
}

const pathOf = (id: number): string => `/projects/${id}/error_tracking`;

/** The errors of a project. */
export const reportedTo = (program: Program, id: number): Errors => ({
  errors: (events) =>
    vi.waitFor(
      async () => {
        const query = 'status=all&order_by=first_seen&sort=asc&per_page=100';
        const requested = program.root(`GET ${pathOf(id)}/errors?${query}`);
        const errors = await answerOf<ListedError[]>(requested, 200);
        expect(errors.reduce((sum, { events_count }) => sum + events_count, 0)).toBe(events);
        return errors;
      },
      { timeout: 30_000, interval: 200 },
    ),
  error: (errorId) => answerOf(program.root(`GET ${pathOf(id)}/errors/${errorId}`), 200),
});

/** Makes the project, with error tracking on and a client key. */
export async function makeReportedTo(program: Program, name: string): Promise<ReportedTo> {
  const project = program.root('POST /projects', { name });
  const { id, path_with_namespace } = await answerOf<{ id: number; path_with_namespace: string }>(
    project,
    201,
  );
  const settings = { active: true, integrated: true };
  await answerOf(program.root(`PUT ${pathOf(id)}/settings`, settings), 200);
  const key = program.root(`POST ${pathOf(id)}/client_keys`);
  const { sentry_dsn: dsn } = await answerOf<{ sentry_dsn: string }>(key, 201);
  return { ...reportedTo(program, id), id, address: `/${path_with_namespace}`, dsn };
}
