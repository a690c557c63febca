/** The time estimate of an issue, and the time spent on it. */
import Type from 'typebox';
import { onProject } from '../../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint } from '../../../../kernel/api/endpoint.ts';
import { invalid } from '../../../../platform/failure.ts';
import { parseDuration } from '../../changes/durations.ts';
import { findIssue } from '../records/find-queries.ts';
import { presentTimeStats, TimeStatsRecord } from '../records/issue-records.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { type IssueTimes, resetSpentTime, spendTime, timeSpent } from '../relations/time-actions.ts';
import { updateIssue } from '../writing/actions.ts';
import { requireManagement } from '../writing/issue-rights.ts';
import { OneIssue } from './schema.ts';

const path = '/projects/:id/issues/:issue_iid';

const Duration = Type.Object({
  ...OneIssue.properties,
  duration: Type.String({
    description: 'As in `3h30m`, `1w`, `1mo`.',
    ruled: { pattern: '^(?:[1-9]\\d{0,3}(?:mo|w|d|h|m)){1,3}$' },
  }),
});
const Spent = Type.Object({
  ...Duration.properties,
  summary: Type.Optional(Type.String({ maxLength: 255 })),
});

type TimeContext<Input> = Context<Input & { issue_iid: number }, AuthorizedProject, Actor>;

/** One of the four changes: finds the issue, applies the change, and responds with the times after it. */
const change = <Input>(apply: (context: TimeContext<Input>, issue: IssueRow) => Promise<IssueTimes>) => ({
  method: 'POST' as const,
  access: onProject('create_issues'),
  reply: TimeStatsRecord,
  handle: async (context: TimeContext<Input>) => {
    const { db, actor, subject, input } = context;
    const issue = await findIssue(db, subject, actor, input.issue_iid);
    requireManagement(subject);
    const { estimate, spent } = await apply(context, issue);
    return presentTimeStats(estimate, spent);
  },
});

/** Changes the estimate. */
async function estimateTime(
  context: TimeContext<unknown>,
  issue: IssueRow,
  time_estimate: number,
): Promise<IssueTimes> {
  const { time_estimate: estimate } = await updateIssue(context, context.subject, issue, { time_estimate });
  return { estimate, spent: await timeSpent(context.db, issue.id) };
}

/** The seconds; 400 under `property` for an invalid duration. */
function secondsOf(duration: string, property: string, least: number): number {
  const seconds = parseDuration(duration);
  if (seconds === undefined || seconds < least) {
    throw invalid({ [property]: ['must have a valid format and be greater than or equal to zero.'] });
  }
  return seconds;
}

export const issueTimeEndpoints: Endpoint[] = [
  endpoint({
    ...change<{ duration: string }>((context, issue) => {
      const time_estimate = secondsOf(context.input.duration, 'time_estimate', 0);
      return estimateTime(context, issue, time_estimate);
    }),
    path: `${path}/time_estimate`,
    summary: 'Says how long an issue is thought to take.',
    input: Duration,
  }),
  endpoint({
    ...change((context, issue) => estimateTime(context, issue, 0)),
    path: `${path}/reset_time_estimate`,
    summary: 'Forgets how long an issue is thought to take.',
    input: OneIssue,
  }),
  endpoint({
    ...change<{ duration: string; summary?: string | undefined }>(async (context, issue) => {
      const { db, actor, subject, input } = context;
      const seconds = secondsOf(input.duration, 'time_spent', Number.NEGATIVE_INFINITY);
      if (seconds === 0) throw invalid({ time_spent: ["can't be zero"] });
      return spendTime(db, actor, subject, issue, { seconds, summary: input.summary });
    }),
    path: `${path}/add_spent_time`,
    summary: 'Adds time spent on an issue, or takes some back with a minus.',
    input: Spent,
  }),
  endpoint({
    ...change(({ db, actor, subject }, issue) => resetSpentTime(db, actor, subject, issue)),
    path: `${path}/reset_spent_time`,
    summary: 'Forgets the time spent on an issue.',
    input: OneIssue,
  }),
  endpoint({
    method: 'GET',
    path: `${path}/time_stats`,
    summary: 'How long an issue is thought to take, and how long it took.',
    access: onProject('read_issues'),
    input: OneIssue,
    reply: TimeStatsRecord,
    handle: async ({ db, actor, subject, input }) => {
      const issue = await findIssue(db, subject, actor, input.issue_iid);
      return presentTimeStats(issue.time_estimate, await timeSpent(db, issue.id));
    },
  }),
];
