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
export type EventResource<Subject, Path extends string = string> = {
  /** Path of one, whose number `:eventable_id` is. */
  path: Path;
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

const endpointsOf = <Subject>(resource: EventResource<Subject>, kind: ResourceEventKind): Endpoint[] => [
  resourceEventsEndpoint(resource, kind),
  resourceEventEndpoint(resource, kind),
];

const sharedOf = <Subject, Path extends string, Kind extends ResourceEventKind>(
  resource: EventResource<Subject, Path>,
  kind: Kind,
) => {
  const tier = kind === 'weight' ? 'premium' : resource.tier;
  const path = `${resource.path}/resource_${kind}_events` as const;
  return { method: 'GET', path, access: resource.read, ...(tier && { tier }) } as const;
};

async function load<Subject>(
  context: EventContext<Subject>,
  { column, find }: EventResource<Subject>,
  iid: number,
) {
  const { services, settings } = context;
  const { id } = await find(context, iid);
  return { around: { baseUrl: services.baseUrl(), settings }, target: { column, id } };
}

/** All changes of a kind. */
export const resourceEventsEndpoint = <Subject, Path extends string, Kind extends ResourceEventKind>(
  resource: EventResource<Subject, Path>,
  kind: Kind,
) =>
  listing({
    ...sharedOf(resource, kind),
    summary: `How the ${kind} of ${resource.noun} has changed, oldest first.`,
    page: 'offset',
    input: AllOfOne,
    item: resourceEventRecords[kind],
    handle: async (context) => {
      const { around, target } = await load(context, resource, context.input.eventable_id);
      return listResourceEvents(context.db, around, target, kind, context.page);
    },
  });

/** One of them. */
export const resourceEventEndpoint = <Subject>(
  resource: EventResource<Subject>,
  kind: ResourceEventKind,
): Endpoint => {
  const shared = sharedOf(resource, kind);
  return endpoint({
    ...shared,
    path: `${shared.path}/:event_id`,
    summary: `One change of the ${kind} of ${resource.noun}.`,
    input: OneOfOne,
    reply: resourceEventRecords[kind],
    handle: async (context) => {
      const { around, target } = await load(context, resource, context.input.eventable_id);
      return findResourceEvent(context.db, around, target, kind, context.input.event_id);
    },
  });
};
