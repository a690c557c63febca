/** Changes of the states, labels, milestones and weights of issues. */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import {
  findResourceEvent,
  listResourceEvents,
  type ResourceEventKind,
  resourceEventRecords,
} from '../resource-events/resource-event-records.ts';
import { findIssue } from './records/find-queries.ts';

const AllOfIssue = Type.Object({ eventable_id: integerId() });
const OneOfIssue = Type.Object({ ...AllOfIssue.properties, event_id: integerId() });

type EventContext = Context<{ eventable_id: number }, AuthorizedProject, Caller>;

/** The issue, and the context of its records' addresses. */
async function loadIssueEvents({ db, services, settings, actor, subject, input }: EventContext) {
  const { id } = await findIssue(db, subject, actor, input.eventable_id);
  return { around: { baseUrl: services.baseUrl(), settings }, target: { column: 'issue_id', id } as const };
}

function endpointsOf<Kind extends ResourceEventKind>(kind: Kind, tier?: 'premium'): Endpoint[] {
  const path = `/projects/:id/issues/:eventable_id/resource_${kind}_events`;
  const record = resourceEventRecords[kind];
  const access = onProject('read_issues');
  return [
    listing({
      method: 'GET',
      path,
      summary: `How the ${kind} of an issue has changed, oldest first.`,
      access,
      ...(tier && { tier }),
      page: 'offset',
      input: AllOfIssue,
      item: record,
      handle: async (context) => {
        const { around, target } = await loadIssueEvents(context);
        return listResourceEvents(context.db, around, target, kind, context.page);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:event_id`,
      summary: `One change of the ${kind} of an issue.`,
      access,
      ...(tier && { tier }),
      input: OneOfIssue,
      reply: record,
      handle: async (context) => {
        const { around, target } = await loadIssueEvents(context);
        return findResourceEvent(context.db, around, target, kind, context.input.event_id);
      },
    }),
  ];
}

export const issueEventEndpoints: Endpoint[] = [
  ...endpointsOf('state'),
  ...endpointsOf('label'),
  ...endpointsOf('milestone'),
  ...endpointsOf('weight', 'premium'),
];
