/** Events that hooks are told of. The owner of a thing registers which of its facts make some, and their bodies. */
import { Registry } from '../../../kernel/registry.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { EventFlag, HookFlag } from '../management/kinds.ts';
import type { ListenedFlags } from '../management/listened-flags.ts';
import type { EventPlace } from './queries.ts';

export type HookServices = Needs<
  | 'config'
  | 'database'
  | 'settings'
  | 'instance'
  | 'limiter'
  | 'repositories'
  | 'registered'
  | 'outbound'
  | 'secretKey'
  | 'presence'
  | 'baseUrl'
  | 'log'
>;

/** One thing that happened. */
export type HookEvent = {
  flag: EventFlag;
  /** The hooks of the instance alone, or all but those; all unless told. */
  for?: 'instance' | 'inside';
  /** The flag of the hooks that hear of what is confidential: those without it are not told. */
  confidential?: HookFlag;
  /** The branch of a push, for the filters of hooks. */
  branch?: string;
  body: object;
};

export type HookSource<Payload = never> = {
  fact: string;
  /** The flags of the events that it may make. */
  flags: readonly EventFlag[];
  /** The events of the fact, in the order in which they are told; none where what it tells of is gone. */
  eventsOf(services: HookServices, payload: Payload): Promise<readonly HookEvent[]>;
};

/** Facts have the payload that their announcer wrote: the project is `project_id`, a group `namespace_id`. */
export type FactPayload = Readonly<Record<string, Json>>;

export const hookSources = new Registry<HookSource>();

/** A source, whose announcer knows the shape of the payload. */
export const hookSource = <Payload>(source: HookSource<Payload>): HookSource =>
  source as unknown as HookSource;

/** Whether those inside the instance that have these flags are told. */
export const wantsEvent = (flags: readonly string[], event: HookEvent): boolean =>
  event.for !== 'instance' &&
  flags.includes(event.flag) &&
  (event.confidential === undefined || flags.includes(event.confidential));

type Tell = (events: readonly HookEvent[], fact: { fact_id: number; fact_at: string }) => Promise<void>;

/** Others who are told of the same events: an event is made once for all. */
export type HookAudience = {
  /** The flags that anybody among them has. */
  listened: ListenedFlags['read'];
  /** How those are told who have one of the flags at this place; undefined where nobody has. Idempotent by the fact. */
  find(place: EventPlace, flags: readonly EventFlag[]): Promise<Tell | undefined>;
};

export const hookAudiences = new Registry<HookAudience>();

/** What a hook is tested with: the newest thing of its kind in a project, or what there must be. */
export type HookSample = {
  flag: HookFlag;
  eventFor(
    services: HookServices,
    at: { projectId: number; userId: number },
  ): Promise<HookEvent | { missing: string }>;
};

export const hookSamples = new Registry<HookSample>();
