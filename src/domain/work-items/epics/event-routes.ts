/** Endpoints of an epic's state and label events. */
import Type from 'typebox';
import { onGroup } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import {
  findResourceEvent,
  listResourceEvents,
  type ResourceEventKind,
  resourceEventRecords,
} from '../resource-events/resource-event-records.ts';
import { plainPath } from './paths.ts';
import { type Presenting, surroundings } from './present.ts';
import { findEpic } from './records/find-queries.ts';

const OfEpic = Type.Object({
  eventable_id: integerId({ description: 'The number of the epic in its group.' }),
});
const OneEvent = Type.Object({ ...OfEpic.properties, event_id: integerId() });

const target = async (context: Presenting, iid: number) => {
  const { id } = await findEpic(context.db, context.subject, context.actor, iid);
  return { column: 'epic_id', id } as const;
};

const eventsAt = <Kind extends ResourceEventKind & ('label' | 'state')>(kind: Kind): Endpoint[] => {
  const path = `${plainPath}/:eventable_id/resource_${kind}_events`;
  return [
    listing({
      method: 'GET',
      path,
      summary: `How the ${kind}s of an epic have changed, oldest first.`,
      access: onGroup('read_epics'),
      tier: 'premium',
      page: 'offset',
      input: OfEpic,
      item: resourceEventRecords[kind],
      handle: async (context) => {
        const epic = await target(context, context.input.eventable_id);
        return listResourceEvents(context.db, surroundings(context), epic, kind, context.page);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:event_id`,
      summary: `One change of the ${kind}s of an epic.`,
      access: onGroup('read_epics'),
      tier: 'premium',
      input: OneEvent,
      reply: resourceEventRecords[kind],
      handle: async (context) => {
        const epic = await target(context, context.input.eventable_id);
        return findResourceEvent(context.db, surroundings(context), epic, kind, context.input.event_id);
      },
    }),
  ];
};

export const eventEndpoints: Endpoint[] = [...eventsAt('label'), ...eventsAt('state')];
