/** Endpoints that subscribe the caller to a noteable and end that, declared by the owners of kinds. */
import Type, { type Static, type TSchema } from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, Reply } from '../../../kernel/api/endpoint.ts';
import { notFound } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { setSubscription } from '../noteables/subscription-actions.ts';
import { isSubscribed } from '../noteables/subscription-queries.ts';

/** A noteable, and how its record is loaded. */
type Subscribable<Record> = { noteable: Noteable; load(): Promise<Record> };

type SubscriptionResource<R extends TSchema> = {
  /** Path of one, whose number `:subscribable_id` is. */
  path: string;
  /** The noun in summaries. */
  noun: string;
  access: Access<AuthorizedProject, Actor>;
  reply: R;
  /** Finds it by its number; 404 for one that is missing or that the caller may not read. */
  find(context: Context<unknown, AuthorizedProject, Actor>, iid: number): Promise<Subscribable<Static<R>>>;
};

/** 304 where nothing changes. */
export const subscriptionEndpoints = <R extends TSchema>(resource: SubscriptionResource<R>): Endpoint[] => [
  subscription(resource, 'subscribe', `Hears of ${resource.noun}; 304 who does already.`),
  subscription(resource, 'unsubscribe', `Hears of ${resource.noun} no longer; 304 who does not.`),
];

const subscription = <R extends TSchema>(
  { path, access, reply, find }: SubscriptionResource<R>,
  word: 'subscribe' | 'unsubscribe',
  summary: string,
): Endpoint =>
  endpoint({
    method: 'POST',
    path: `${path}/${word}`,
    summary,
    access,
    also: [304],
    input: Type.Object({ subscribable_id: integerId() }),
    reply,
    handle: async (context) => {
      const { db, actor, input } = context;
      const { noteable, load } = await find(context, input.subscribable_id);
      const { id, kind } = noteable;
      if (id === undefined || !kind.subscriptions) throw notFound();
      const wanted = word === 'subscribe';
      if ((await isSubscribed(db, actor.id, noteable)) === wanted) return new Reply<Static<R>>(304);
      await setSubscription(db, actor.id, { column: kind.subscriptions.column, id }, wanted);
      return load();
    },
  });
