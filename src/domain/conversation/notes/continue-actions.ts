/** Threads of a merge request whose matter goes on in a new issue (facts-merge-requests: 8.1). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { mayComment, type Noteable } from '../noteables/noteables.ts';
import type { ActorContext } from '../noteables/write-context.ts';
import { insertSystemNotes } from './insert-actions.ts';
import { noteables } from './noteable-registry.ts';
import type { NoteWithRelations } from './notes.ts';
import { selectOpenNotes } from './queries.ts';
import { setResolved } from './resolve-actions.ts';

/** Those of one merge request that an issue takes over. */
const MAX_THREADS = 100;

/** The open notes of each thread, oldest first. */
export type OpenThreads = { noteable: Noteable; threads: readonly (readonly NoteWithRelations[])[] };

/** The open threads of the merge request, or the one of them; undefined where the actor may not settle them. */
export async function findOpenThreads(
  context: ActorContext,
  project: AuthorizedProject,
  { iid, discussionId }: { iid: number; discussionId: string | undefined },
): Promise<OpenThreads | undefined> {
  const { services, actor } = context;
  const kind = noteables.all(services).find(({ named }) => named?.kind === 'merge_request');
  const named = { kind: 'merge_request', path: undefined, name: String(iid) } as const;
  const [noteable] = (await kind?.named?.find(context, { project, group: undefined }, [named])) ?? [];
  if (!noteable || !mayComment(noteable) || !noteable.kind.mayResolve?.(noteable, actor)) return undefined;
  const notes = await selectOpenNotes(context, noteable, discussionId);
  const threads = [...Map.groupBy(notes, ({ discussion_id }) => discussion_id).values()];
  return { noteable, threads: threads.slice(0, MAX_THREADS) };
}

/** Settles the threads, and says in each where its matter goes on. */
export const continueThreads = (
  context: ActorContext,
  { noteable, threads }: OpenThreads,
  note: { body: string; action: string },
): Promise<void> =>
  inTransaction(context.db, async (tx: Db) => {
    const notes = threads.flatMap(([first]) => (first ? { ...note, discussionId: first.discussion_id } : []));
    await insertSystemNotes(tx, noteable, context.actor, notes)?.execute();
    for (const thread of threads) await setResolved(tx, context, noteable, thread, true);
  });
