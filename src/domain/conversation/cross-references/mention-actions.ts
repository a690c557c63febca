/** System notes on what texts name: `mentioned in …`. */
import { now } from '../../../platform/clock.ts';
import type { NamedNoteable } from '../noteables/named-noteables.ts';
import { mayComment, type Noteable, type NoteableParent, noteableColumns } from '../noteables/noteables.ts';
import type { ActorContext } from '../noteables/write-context.ts';
import { noteables } from '../notes/noteable-registry.ts';
import { newDiscussionId } from '../notes/notes.ts';

/** What names others: its project or group with the writer's rights, and the columns of notes that refer to it. */
export type MentionSource = {
  home: NoteableParent;
  columns:
    | { mentioned_in_issue_id: number }
    | { mentioned_in_merge_request_id: number }
    | { mentioned_in_epic_id: number }
    | { mentioned_in_snippet_id: number }
    | { mentioned_in_project_id: number; mentioned_in_commit: string };
  /** The note on another, whose project decides how the reference is written. */
  noteOn(noteable: Noteable): { body: string; action: string };
  /** Whether the noteable is the source itself, or a part of it. */
  has(noteable: Noteable): boolean;
};

/** The named ones that the writer reads and may comment on. */
async function findNamed(
  context: ActorContext,
  { home, has }: MentionSource,
  named: readonly NamedNoteable[],
): Promise<Noteable[]> {
  const wanted = Map.groupBy(named, ({ kind }) => kind);
  const found = await Promise.all(
    noteables.all(context.services).map(({ named: naming }) => {
      const ofKind = naming && wanted.get(naming.kind);
      return ofKind ? naming.find(context, home, ofKind) : [];
    }),
  );
  return found.flat().filter((noteable) => mayComment(noteable) && !has(noteable));
}

/** Tells each of the named ones, in the actor's name, that it is mentioned; once, however often. */
export async function writeMentions(
  context: ActorContext,
  source: MentionSource,
  named: readonly NamedNoteable[],
): Promise<void> {
  const targets = await findNamed(context, source, named);
  if (targets.length === 0) return;
  const time = now();
  const rows = targets.map((noteable) => {
    const { body, action } = source.noteOn(noteable);
    return {
      ...noteableColumns(noteable),
      ...source.columns,
      author_id: context.actor.id,
      body,
      discussion_id: newDiscussionId(),
      system_action: action,
      created_at: time,
      updated_at: time,
    };
  });
  await context.db
    .insertInto('notes')
    .values(rows)
    .onConflict((told) => told.doNothing())
    .execute();
}
