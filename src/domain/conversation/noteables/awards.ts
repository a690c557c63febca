/** What takes award emoji, and the names of the emoji. */
import type { Noteable, NoteableKind } from './noteables.ts';

/** A noteable or note, by the column of its id, and the table that counts its votes. */
export type Awardable = {
  column: 'note_id' | NonNullable<NoteableKind['awardColumn']>;
  id: number;
  countedIn?: NoteableKind['countedIn'];
};

/** The noteable as an awardable; undefined where it takes no awards. */
export const awardableOf = ({ kind, id }: Noteable): Awardable | undefined =>
  kind.awardColumn && { column: kind.awardColumn, id: id ?? 0, countedIn: kind.countedIn };

/** Names that differ from gemoji's. */
const otherNames: Readonly<Record<string, string>> = { '+1': 'thumbsup', '-1': 'thumbsdown' };

let names: Promise<ReadonlySet<string>> | undefined;
const loadNames = async (): Promise<ReadonlySet<string>> => {
  const { gemoji } = await import('gemoji');
  return new Set(gemoji.flatMap((emoji) => emoji.names));
};

/** The stored name of the emoji, with or without colons around it; undefined for an unknown name. */
export async function emojiName(text: string): Promise<string | undefined> {
  const name = text.trim().replace(/^:(.+):$/, '$1');
  // Read at the first award: few processes ever need them.
  names ??= loadNames();
  return (await names).has(name) ? (otherNames[name] ?? name) : undefined;
}
