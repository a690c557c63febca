/** Endpoints of time estimates and time spent, which the owner of what takes time mounts. */
import Type from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import { forbidden, invalid } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { parseDuration } from '../changes/durations.ts';
import { resetSpentTime, spendTime, type Timed, timeSpent } from './time-actions.ts';
import { presentTimeStats, TimeStatsRecord, type Times } from './time-stats.ts';

type ReadContext = Context<unknown, AuthorizedProject, Caller>;
type WriteContext = Context<unknown, AuthorizedProject, Actor>;
type TimedRow = { id: number; time_estimate: number };

/** What takes time, over the API. */
export type TimeResource<Row extends TimedRow> = Pick<Timed, 'table'> & {
  /** Path of one, whose number is the parameter. */
  path: string;
  parameter: 'issue_iid' | 'merge_request_iid';
  /** The noun in summaries. */
  noun: string;
  read: Access<AuthorizedProject, Caller>;
  /** Access for changes; `find` answers callers who may not read, and the others need the ability. */
  write: Access<AuthorizedProject, Actor>;
  ability: ProjectAbility;
  /** Finds it by its number; 404 for one that is missing or that the caller may not read. */
  find(context: ReadContext, iid: number): Promise<Row>;
  timed(context: WriteContext, row: Row): Timed;
  /** Changes the estimate. */
  update(
    context: WriteContext,
    project: AuthorizedProject,
    row: Row,
    changes: { time_estimate: number },
  ): Promise<Row>;
};

const duration = {
  duration: Type.String({
    description: 'As in `3h30m`, `1w`, `1mo`.',
    ruled: { pattern: '^(?:[1-9]\\d{0,3}(?:mo|w|d|h|m)){1,3}$' },
  }),
};
const spent = { ...duration, summary: Type.Optional(Type.String({ maxLength: 255 })) };

/** The seconds; 400 under `property` for an invalid duration. */
function secondsOf(text: string, property: string, least: number): number {
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds < least) {
    throw invalid({ [property]: ['must have a valid format and be greater than or equal to zero.'] });
  }
  return seconds;
}

export function timeEndpoints<Row extends TimedRow>(resource: TimeResource<Row>): Endpoint[] {
  const { path, noun, table, parameter, find, timed } = resource;
  const names = { [parameter]: integerId() };
  const numberIn = (input: Record<string, unknown>) => Number(input[parameter]);
  /** One of the four changes: finds what it is of, and responds with the times after it. */
  const change = <Input>(apply: (context: WriteContext, row: Row, input: Input) => Promise<Times>) => ({
    method: 'POST' as const,
    access: resource.write,
    reply: TimeStatsRecord,
    handle: async (context: Context<Input & Record<string, unknown>, AuthorizedProject, Actor>) => {
      const row = await find(context, numberIn(context.input));
      if (!context.subject.may(resource.ability)) throw forbidden();
      return presentTimeStats(await apply(context, row, context.input));
    },
  });
  const estimate = async (context: WriteContext, row: Row, time_estimate: number): Promise<Times> => {
    const updated = await resource.update(context, context.subject, row, { time_estimate });
    return { estimate: updated.time_estimate, spent: await timeSpent(context.db, table, row.id) };
  };
  return [
    endpoint({
      ...change<{ duration: string }>((context, row, input) =>
        estimate(context, row, secondsOf(input.duration, 'time_estimate', 0)),
      ),
      path: `${path}/time_estimate`,
      summary: `Says how long ${noun} is thought to take.`,
      input: Type.Object({ ...names, ...duration }),
    }),
    endpoint({
      ...change((context, row) => estimate(context, row, 0)),
      path: `${path}/reset_time_estimate`,
      summary: `Forgets how long ${noun} is thought to take.`,
      input: Type.Object(names),
    }),
    endpoint({
      ...change<{ duration: string; summary?: string | undefined }>((context, row, input) => {
        const seconds = secondsOf(input.duration, 'time_spent', Number.NEGATIVE_INFINITY);
        if (seconds === 0) throw invalid({ time_spent: ["can't be zero"] });
        const entry = { seconds, summary: input.summary };
        return spendTime(context.db, context.actor, timed(context, row), entry);
      }),
      path: `${path}/add_spent_time`,
      summary: `Adds time spent on ${noun}, or takes some back with a minus.`,
      input: Type.Object({ ...names, ...spent }),
    }),
    endpoint({
      ...change((context, row) => resetSpentTime(context.db, context.actor, timed(context, row))),
      path: `${path}/reset_spent_time`,
      summary: `Forgets the time spent on ${noun}.`,
      input: Type.Object(names),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/time_stats`,
      summary: `How long ${noun} is thought to take, and how long it took.`,
      access: resource.read,
      input: Type.Object(names),
      reply: TimeStatsRecord,
      handle: async (context) => {
        const row = await find(context, numberIn(context.input));
        return presentTimeStats({
          estimate: row.time_estimate,
          spent: await timeSpent(context.db, table, row.id),
        });
      },
    }),
  ];
}
