/** Contents of the milestones of projects and groups: issues and charts. */
import Type from 'typebox';
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { Failure } from '../../../platform/failure.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { selectMilestone } from '../../planning/index.ts';
import { selectBurndown, selectIssues } from './milestone-queries.ts';
import { IssueBasicRecord, presentIssues } from './records/issue-records.ts';

const OneMilestone = Type.Object({ milestone_id: integerId() });

const BurndownEvent = Type.Object({
  created_at: dateTime(),
  weight: nullable(Type.Integer()),
  action: stringEnum(['created', 'closed', 'reopened']),
});

const contentsOf = (word: 'project' | 'group', read: Access<ResourceParent, Caller>) => ({
  issues: listing({
    method: 'GET',
    path: `/${word}s/:id/milestones/:milestone_id/issues`,
    summary: `Issues of a milestone of a ${word}, as far as the caller sees them.`,
    access: read,
    page: 'offset',
    input: OneMilestone,
    item: IssueBasicRecord,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const milestone = found(await selectMilestone(db, subject, input.milestone_id));
      const issues = await selectIssues(db, actor, subject, milestone, page);
      return { ...issues, items: await presentIssues(context, issues.items) };
    },
  }),
  burndown: endpoint({
    method: 'GET',
    path: `/${word}s/:id/milestones/:milestone_id/burndown_events`,
    summary: `When the issues of a milestone of a ${word} came, were closed and reopened.`,
    access: read,
    also: [405],
    tier: 'premium',
    input: OneMilestone,
    reply: Type.Array(BurndownEvent),
    handle: async ({ db, actor, subject, input }) => {
      const milestone = found(await selectMilestone(db, subject, input.milestone_id));
      const { start_date, due_date } = milestone;
      if (start_date === null || due_date === null)
        throw new Failure('method_not_allowed', 'Milestone does not support burndown chart');
      const events = await selectBurndown(db, actor, subject, milestone, { start_date, due_date });
      return events.map((event) => ({ ...event, created_at: event.created_at.toISOString() }));
    },
  }),
});

/** By what the milestone belongs to. */
export const milestoneContentsOf = {
  project: contentsOf('project', onProject('read_planning')),
  group: contentsOf('group', onGroup('read_planning')),
};

export const milestoneContentEndpoints: Endpoint[] = [
  ...Object.values(milestoneContentsOf.project),
  ...Object.values(milestoneContentsOf.group),
];
