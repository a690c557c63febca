/** Makes the deliveries of a fact: one body for each event, one delivery for each hook that is told of it. */
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Task, Tasks } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { patternMatcher } from '../../../platform/patterns/pattern.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';
import { randomId } from '../../../platform/secret.ts';
import { ALWAYS } from '../management/kinds.ts';
import type { ListenedFlags } from '../management/listened-flags.ts';
import {
  type FactPayload,
  type HookEvent,
  type HookServices,
  type HookSource,
  hookAudiences,
  hookSources,
  wantsEvent,
} from './hook-events.ts';
import { insertDeliveries } from './insert-actions.ts';
import { type EventPlace, type ListeningHook, selectChain, selectListening } from './queries.ts';

/** So long an event belongs to the chain of the one that set it off, and at most so many hooks are in one. */
const CHAIN_MS = 30 * 60_000;
const MAX_CHAIN = 100;

const taskOf = ({ fact }: HookSource): string => `hooks.prepare_${fact}`;

/** Whether any of them listens to the source; a promise only where one of those that are asked has to be read. */
function isAnyListened(
  source: HookSource,
  [first, ...others]: readonly ListenedFlags['read'][],
): boolean | Promise<boolean> {
  if (!first) return false;
  const decide = (listened: ReadonlySet<string>): boolean | Promise<boolean> =>
    source.flags.some((flag) => listened.has(flag)) || isAnyListened(source, others);
  const listened = first();
  return listened instanceof Promise ? listened.then(decide) : decide(listened);
}

/** The facts that may be told; those that nobody at all is told of make no job. */
export function hookListeners(services: HookServices, flags: ListenedFlags): Listener[] {
  const others = hookAudiences.all(services).map(({ listened }) => listened);
  return hookSources.all(services).map((source) => ({
    fact: source.fact,
    task: taskOf(source),
    queue: 'hooks',
    when: () => isAnyListened(source, [flags.read, ...others]),
  }));
}

export const prepareTasks = (services: HookServices, wake: () => void): Tasks =>
  Object.fromEntries(
    hookSources.all(services).map((source) => [taskOf(source), prepare(services, source, wake)]),
  );

type Told = {
  project_id?: number;
  namespace_id?: number;
  event_chain?: string;
  fact_id: number;
  fact_at: string;
};

const isOfInstance = ({ project_id, namespace_id }: ListeningHook): boolean =>
  project_id === null && namespace_id === null;

/** Whether the hook wants the event, its branch apart. */
function wants(hook: ListeningHook, event: HookEvent): boolean {
  if (!isOfInstance(hook)) return wantsEvent(hook.events, event);
  if (event.for === 'inside') return false;
  if (event.confidential !== undefined && !hook.events.includes(event.confidential)) return false;
  return event.flag === ALWAYS || hook.events.includes(event.flag);
}

/** Which hooks want an event, by the filters for branches, too. */
async function wanting(hooks: readonly ListeningHook[], event: HookEvent): Promise<ListeningHook[]> {
  const wanted = hooks.filter((hook) => wants(hook, event));
  const { branch } = event;
  if (branch === undefined) return wanted;
  const patterns = wanted
    .filter(({ branch_filter_strategy }) => branch_filter_strategy === 'regex')
    .map(({ push_events_branch_filter }) => push_events_branch_filter);
  const matches = await patternMatcher(patterns);
  return wanted.filter(({ branch_filter_strategy: strategy, push_events_branch_filter: filter }) => {
    if (!filter || strategy === 'all_branches') return true;
    return strategy === 'regex' ? matches(filter, branch) : fits(branch, filter);
  });
}

/** Those of a namespace that it may still be told by in this minute; those of the instance are not counted. */
async function withinLimit(
  { settings, limiter }: HookServices,
  hooks: readonly ListeningHook[],
): Promise<ListeningHook[]> {
  const { web_hook_calls: limit } = await settings.read();
  if (limit === 0) return [...hooks];
  const allowed: ListeningHook[] = [];
  for (const hook of hooks) {
    const rate = { limit, periodSeconds: 60 };
    if (isOfInstance(hook) || (await limiter.take(`web_hook_calls:${hook.root_id}`, rate)).allowed)
      allowed.push(hook);
  }
  return allowed;
}

/** The hooks that may be told, those apart that are in the chain of what happened. */
async function findHooks(
  db: Db,
  source: HookSource,
  place: EventPlace,
  happenedAt: Date,
  chain: string | undefined,
): Promise<ListeningHook[]> {
  const time = now();
  const listening = await selectListening(db, place, source.flags, happenedAt, time);
  if (listening.length === 0 || chain === undefined) return listening;
  const chained = await selectChain(db, chain, new Date(time.getTime() - CHAIN_MS));
  return chained.size >= MAX_CHAIN ? [] : listening.filter(({ id }) => !chained.has(id));
}

const prepare =
  (services: HookServices, source: HookSource, wake: () => void): Task =>
  async (payload) => {
    const { project_id, namespace_id, event_chain, fact_id, fact_at } = payload as FactPayload & Told;
    const db = services.database.background;
    const place = { projectId: project_id, namespaceId: namespace_id };
    const hooks = await findHooks(db, source, place, new Date(fact_at), event_chain);
    const others = await Promise.all(
      hookAudiences.all(services).map((audience) => audience.find(place, source.flags)),
    );
    if (hooks.length === 0 && others.every((tell) => tell === undefined)) return;
    const events = await source.eventsOf(services, payload as never);
    const chain = event_chain ?? randomId();
    const told = await Promise.all(
      events.map(async (event, order) => ({
        fact_id,
        place: order,
        chain,
        flag: event.flag,
        body: JSON.stringify(event.body),
        created_at: new Date(fact_at),
        hooks: (await withinLimit(services, await wanting(hooks, event))).map(({ id }) => id),
      })),
    );
    await insertDeliveries(
      db,
      told.filter(({ hooks: wanted }) => wanted.length > 0),
    );
    if (hooks.length > 0) wake();
    for (const tell of others) await tell?.(events, { fact_id, fact_at });
  };
