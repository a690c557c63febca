/** The endpoint that reminds the caller of a thing, declared by the owners of to-do targets. */
import type { Static, TObject, TProperties } from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import { unauthenticated } from '../../../platform/failure.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { markNoteable } from './actions.ts';
import { presentTodo } from './present.ts';
import { TodoRecord } from './schema.ts';
import type { TargetRecord } from './targets.ts';

/** A noteable, and how its record is loaded. */
type Marked = { noteable: Noteable; load(): Promise<TargetRecord | undefined> };

type TodoEndpoint<P extends TProperties, Subject, C extends Caller> = {
  path: string;
  summary: string;
  access: Access<Subject, C>;
  tier?: 'premium';
  input: TObject<P>;
  find(context: Context<Static<TObject<P>>, Subject, C>): Promise<Marked>;
};

/** 304 when there is a pending item for the target. Every signed-in caller who sees the target may mark it. */
export const todoEndpoint = <P extends TProperties, Subject, C extends Caller>({
  find,
  ...spec
}: TodoEndpoint<P, Subject, C>): Endpoint =>
  endpoint({
    ...spec,
    method: 'POST',
    also: [304],
    reply: TodoRecord,
    async handle(context) {
      const { db, services, settings, actor } = context;
      if (!actor) throw unauthenticated();
      const { noteable, load } = await find(context);
      const todo = await markNoteable(db, actor, noteable);
      if (!todo) return new Reply(304);
      const target = { type: noteable.kind.type, record: found(await load()) };
      const [project, group] = [noteable.project?.row, noteable.group?.row];
      return found(presentTodo({ services, settings }, todo, { project, group, target }));
    },
  });
