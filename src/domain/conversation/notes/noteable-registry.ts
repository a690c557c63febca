/** The registry of noteables: the abilities of each kind that its owner brings to conversations. */

import type { RawBuilder, SqlBool } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Author, Caller } from '../../../kernel/actor.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { CrossReference } from '../noteables/cross-reference-queries.ts';
import type { NamedNoteable } from '../noteables/named-noteables.ts';
import type { FindContext } from '../noteables/noteable-resources.ts';
import type { Noteable, NoteableKind, NoteableParent } from '../noteables/noteables.ts';
import type { ActorContext, WriteContext } from '../noteables/write-context.ts';
import { applyOwnEffect } from '../quick-actions/command-effects.ts';
import type { OwnEffect } from '../quick-actions/command-rules.ts';
import type { CommandRule, Effect, Known } from '../quick-actions/command-terms.ts';
import { byNames, commandsIn, type Interpretation, interpretCommands } from '../quick-actions/commands.ts';
import type { MentionColumn, NewNote, NotePosition } from './notes.ts';
import type { PositionInput, SuggestionRecord } from './schema.ts';

/** The meaning of a text's quick actions, and how they are applied. */
export type QuickActions = Interpretation<{ confidential?: boolean | undefined }, Effect> & {
  /** Applies them as the actor's changes, except those that leave, in the transaction of the note. */
  apply(tx: Db): Promise<void>;
  /** Applies those that leave, after the note is written, so that it moves along. */
  leave(tx: Db): Promise<void>;
};

export type NoteableDefinition = {
  kind: NoteableKind;
  /**
   * The text without its quick actions, and their meaning; undefined for a text without any. `seenHead` is the newest commit that the
   * author saw, if the request says so.
   */
  quickActions(
    context: WriteContext,
    noteable: Noteable,
    text: string,
    seenHead?: string,
  ): Promise<QuickActions | undefined>;
  /** References to this kind in system notes, by their sign: the keys of those that the reader may read. */
  crossReferences?: {
    sign: '#' | '!' | '&';
    readable(reader: { db: Db; actor: Caller }, named: readonly CrossReference[]): Promise<{ key: string }[]>;
  };
  /** How texts name this kind, and how those are found that the actor reads, and may comment on unless they are locked. */
  named?: {
    kind: NamedNoteable['kind'];
    find(context: ActorContext, home: NoteableParent, named: readonly NamedNoteable[]): Promise<Noteable[]>;
  };
  /** Notes that tell of a mention in one of this kind name it in the column; the condition on `notes` that the caller reads it. */
  mentions?: { column: MentionColumn; isReadable(caller: Caller): RawBuilder<SqlBool> };
  /** The condition on notes `t` of the project on this kind: the caller reads the noteable. Others are in no search. */
  readableNotes?(project: AuthorizedProject, caller: Caller): RawBuilder<SqlBool>;
  /** Places a note on its diff; 400 for a position that is not there. Kinds without it have no positions. */
  place?(context: FindContext, noteable: Noteable, sent: PositionInput): Promise<PlacedInDiff>;
  /** What notes suggest for the lines that they are on. */
  suggestions?: {
    /** Reads the lines, before the transaction; what it returns stores the suggestions of the note in it. */
    prepare(
      context: { services: Needs<'repositories'> },
      noteable: Noteable,
      note: { body: string; position: NotePosition },
    ): Promise<WriteWithNote>;
    /** The records of the notes, by their ids, with one statement. */
    load(db: Db, noteIds: readonly number[]): Promise<ReadonlyMap<number, SuggestionRecord[]>>;
  };
  /** Follows, in the same transaction, when the last open thread is resolved. */
  threadsResolved?(tx: Db, actor: Author, noteable: Noteable): Promise<void>;
};

/** Writes more in the transaction of a note. */
export type WriteWithNote = (tx: Db, noteId: number) => Promise<unknown>;

/** Where a note stands; the line is for comments on commits, its code for those on merge requests. */
export type PlacedInDiff = Required<Pick<NewNote, 'position'>> & Pick<NewNote, 'line' | 'lineCode'>;

export const noteables = new Registry<NoteableDefinition>();

/** What the owner of the kind declared. */
export const definitionOf = (
  services: Needs<'registered'>,
  kind: NoteableKind,
): NoteableDefinition | undefined => noteables.all(services).find((definition) => definition.kind === kind);

export const noteableKinds = (services: Needs<'registered'>): NoteableKind[] =>
  noteables.all(services).map(({ kind }) => kind);

/** For noteables with no other quick actions than these. */
export function plainQuickActions(
  rules: readonly CommandRule<Known, never, OwnEffect>[],
): NoteableDefinition['quickActions'] {
  const byName = byNames(rules);
  return async (context: ActorContext, noteable, text) => {
    if (commandsIn(text, byName).length === 0) return undefined;
    const { kind } = noteable;
    const known = { kind: kind.name, me: context.actor, may: { update: false, metadata: false } };
    const read = interpretCommands<Known, object, OwnEffect>(text, known, byName);
    return {
      ...read,
      async apply(tx) {
        for (const effect of read.effects) await applyOwnEffect({ ...context, db: tx }, noteable, effect);
      },
      leave: async () => {},
    };
  };
}
