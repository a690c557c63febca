/** The iterations of groups and projects, and an issue's iteration events: none, as nothing makes an iteration. */
import Type from 'typebox';
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import { notFound } from '../../../platform/failure.ts';
import { commaList, dateTime, integerId, stringEnum } from '../../../platform/http/parameters/schema.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { IterationRecord } from '../../planning/index.ts';
import { findIssue } from './records/find-queries.ts';

const ListInput = Type.Object({
  state: Type.Optional(stringEnum(['opened', 'upcoming', 'current', 'closed', 'all'])),
  search: Type.Optional(Type.String({ maxLength: 1_000, description: 'A part of what `in` names.' })),
  in: Type.Optional(commaList(stringEnum(['title', 'cadence_title']), { description: 'Where to search.' })),
  include_ancestors: Type.Optional(
    Type.Boolean({ default: true, description: 'Those of the groups around it as well.' }),
  ),
  include_descendants: Type.Optional(
    Type.Boolean({ default: false, description: 'Those of the groups below it as well.' }),
  ),
  updated_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
});

const EventRecord = Type.Object({
  id: Type.Integer(),
  user: UserBasic,
  created_at: dateTime(),
  resource_type: Type.String(),
  resource_id: Type.Integer(),
  iteration: IterationRecord,
  action: stringEnum(['add', 'remove']),
});

const none = (): Page<never> => ({ items: [], total: 0, more: false });

const iterationsOf = (word: 'group' | 'project', access: Access<ResourceParent, Caller>): Endpoint =>
  listing({
    method: 'GET',
    path: `/${word}s/:id/iterations`,
    summary: `Iterations that the issues of a ${word} can be in.`,
    access,
    tier: 'premium',
    page: 'offset',
    input: ListInput,
    item: IterationRecord,
    handle: async () => none(),
  });

const eventPath = '/projects/:id/issues/:eventable_id/resource_iteration_events';
const AllOfIssue = Type.Object({ eventable_id: integerId() });

export const iterationEndpoints: Endpoint[] = [
  iterationsOf('group', onGroup('read_planning')),
  iterationsOf('project', onProject('read_planning')),
  listing({
    method: 'GET',
    path: eventPath,
    summary: 'How the iteration of an issue has changed, oldest first.',
    access: onProject('read_issues'),
    tier: 'premium',
    page: 'offset',
    input: AllOfIssue,
    item: EventRecord,
    handle: async ({ db, actor, subject, input }) => {
      await findIssue(db, subject, actor, input.eventable_id);
      return none();
    },
  }),
  endpoint({
    method: 'GET',
    path: `${eventPath}/:event_id`,
    summary: 'One change of the iteration of an issue.',
    access: onProject('read_issues'),
    tier: 'premium',
    input: Type.Object({ ...AllOfIssue.properties, event_id: integerId() }),
    reply: EventRecord,
    handle: async ({ db, actor, subject, input }) => {
      await findIssue(db, subject, actor, input.eventable_id);
      throw notFound();
    },
  }),
];
