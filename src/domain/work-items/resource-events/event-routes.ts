/** Endpoints of changes of states, labels, milestones and weights, which the owner of what changes mounts. */
import Type from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import type { EventColumn } from './actions.ts';
import {
  findResourceEvent,
  listResourceEvents,
  type ResourceEventKind,
  resourceEventRecords,
} from './resource-event-records.ts';

type EventContext<Subject> = Context<unknown, Subject, Caller>;

/** What changes, over the API. */
export type EventResource<Subject> = {
  /** Path of one, whose number `:eventable_id` is. */
  path: string;
  /** The noun in summaries. */
  noun: string;
  column: EventColumn;
  tier?: 'premium';
  read: Access<Subject, Caller>;
  /** Finds it by its number; 404 for one that is missing or that the caller may not read. */
  find(context: EventContext<Subject>, iid: number): Promise<{ id: number }>;
};

const AllOfOne = Type.Object({ eventable_id: integerId() });
const OneOfOne = Type.Object({ ...AllOfOne.properties, event_id: integerId() });

/** The endpoints of these kinds of changes. */
export const resourceEventEndpoints = <Subject>(
  resource: EventResource<Subject>,
  kinds: readonly ResourceEventKind[],
): Endpoint[] => kinds.flatMap((kind) => endpointsOf(resource, kind));

function endpointsOf<Subject, Kind extends ResourceEventKind>(
  { noun, column, read: access, find, ...resource }: EventResource<Subject>,
  kind: Kind,
): Endpoint[] {
  const path = `${resource.path}/resource_${kind}_events`;
  const record = resourceEventRecords[kind];
  const tier = kind === 'weight' ? 'premium' : resource.tier;
  const shared = { access, ...(tier && { tier }) };
  const load = async (context: EventContext<Subject>, iid: number) => {
    const { services, settings } = context;
    const { id } = await find(context, iid);
    return { around: { baseUrl: services.baseUrl(), settings }, target: { column, id } };
  };
  return [
    listing({
      ...shared,
      method: 'GET',
      path,
      summary: `How the ${kind} of ${noun} has changed, oldest first.`,
      page: 'offset',
      input: AllOfOne,
      item: record,
      handle: async (context) => {
        const { around, target } = await load(context, context.input.eventable_id);
        return listResourceEvents(context.db, around, target, kind, context.page);
      },
    }),
    endpoint({
      ...shared,
      method: 'GET',
      path: `${path}/:event_id`,
      summary: `One change of the ${kind} of ${noun}.`,
      input: OneOfOne,
      reply: record,
      handle: async (context) => {
        const { around, target } = await load(context, context.input.eventable_id);
        return findResourceEvent(context.db, around, target, kind, context.input.event_id);
      },
    }),
  ];
}
