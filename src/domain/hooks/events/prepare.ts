/** Makes the deliveries of a fact: one body for each event, one delivery for each hook that is told of it. */
import { now } from '../../../platform/clock.ts';
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
  hookSources,
} from './hook-events.ts';
import { insertDeliveries } from './insert-actions.ts';
import { type ListeningHook, selectChain, selectListening } from './queries.ts';

/** So long an event belongs to the chain of the one that set it off, and at most so many hooks are in one. */
const CHAIN_MS = 30 * 60_000;
const MAX_CHAIN = 100;

const taskOf = ({ fact }: HookSource): string => `hooks.prepare_${fact}`;

/** The facts that may be told; those that no hook at all is told of make no job. */
export const hookListeners = (services: HookServices, flags: ListenedFlags): Listener[] =>
  hookSources.all(services).map((source) => ({
    fact: source.fact,
    task: taskOf(source),
    queue: 'hooks',
    when: () => {
      const isListened = (listened: ReadonlySet<string>): boolean =>
        source.flags.some((flag) => listened.has(flag));
      const listened = flags.read();
      return listened instanceof Promise ? listened.then(isListened) : isListened(listened);
    },
  }));

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
  const ofInstance = isOfInstance(hook);
  if (event.for !== undefined && (event.for === 'instance') !== ofInstance) return false;
  if (event.confidential !== undefined && !hook.events.includes(event.confidential)) return false;
  return event.flag === ALWAYS ? ofInstance : hook.events.includes(event.flag);
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

const prepare =
  (services: HookServices, source: HookSource, wake: () => void): Task =>
  async (payload) => {
    const { project_id, namespace_id, event_chain, fact_id, fact_at } = payload as FactPayload & Told;
    const db = services.database.background;
    const time = now();
    const place = { projectId: project_id, namespaceId: namespace_id };
    const listening = await selectListening(db, place, source.flags, time);
    if (listening.length === 0) return;
    const chained =
      event_chain === undefined
        ? new Set<number>()
        : await selectChain(db, event_chain, new Date(time.getTime() - CHAIN_MS));
    if (chained.size >= MAX_CHAIN) return;
    const hooks = listening.filter(({ id }) => !chained.has(id));
    if (hooks.length === 0) return;
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
    wake();
  };
