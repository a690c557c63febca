/** Tells what texts name that it is mentioned there (facts: References and closing). */
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { findUserOfProject, type UserOfHome, type UserOfProject } from '../mentions/user-rights.ts';
import type { NamedNoteable } from '../noteables/named-noteables.ts';
import type { ActorContext } from '../noteables/write-context.ts';
import { type MentionSource, writeMentions } from './mention-actions.ts';
import { selectComment } from './queries.ts';
import { namedNoteables } from './references-in-texts.ts';

export type MentionServices = ActorContext['services'];

/** Characters of a comment or a message that are looked at. */
export const MAX_NAMING_LENGTH = 10_000;
/** Noteables that one fact tells of. */
const MAX_NAMED = 300;

/** The noteables that the texts name, each once. */
export async function namedIn(baseUrl: string, texts: readonly string[]): Promise<NamedNoteable[]> {
  const named = (await mapInTurns(texts, (text) => namedNoteables(baseUrl, text))).flat();
  const each = new Map(named.map((one) => [`${one.kind} ${one.path ?? ''} ${one.name}`, one]));
  return [...each.values()].slice(0, MAX_NAMED);
}

type Payload = Readonly<Record<string, Json>>;

/** A kind whose texts mention others, in projects or in groups. */
export type MentioningKind<Row extends { id: number }, Writer extends UserOfHome = UserOfProject> = {
  type: 'Issue' | 'MergeRequest' | 'Epic' | 'Snippet';
  /** The column of notes and the property of facts that name one. */
  id: 'issue_id' | 'merge_request_id' | 'epic_id' | 'snippet_id';
  find(db: Db, id: number): Promise<Row | undefined>;
  /** Who wrote the text, with the rights that they have by now. */
  writer(services: Needs<'database'>, fact: Payload): Promise<Writer | undefined>;
  /** Whether the writer reads it by now. */
  reads(services: MentionServices, writer: Writer, row: Row): Promise<boolean>;
  /** The texts that the fact's user wrote, beside comments: what others wrote there is told in nobody else's name. */
  texts(services: MentionServices, writer: Writer, row: Row, fact: Payload): Promise<string[]>;
  source(services: MentionServices, writer: Writer, row: Row): Promise<MentionSource>;
};

export const projectWriter: MentioningKind<never>['writer'] = (services, fact) =>
  findUserOfProject(services, Number(fact.project_id), Number(fact.user_id), fact);

const isNamed = (changes: Json | undefined, property: string): boolean =>
  Array.isArray(changes)
    ? changes.includes(property)
    : typeof changes === 'object' && changes !== null && property in changes;

/** The title and the description, as far as the fact's user wrote them: both where the thing is new. */
export const writtenTexts = (
  { title, description }: { title: string; description: string | null },
  { changes }: Payload,
): string[] => [
  ...(changes === undefined || isNamed(changes, 'title') ? [title] : []),
  ...(changes === undefined || isNamed(changes, 'description') ? [description ?? ''] : []),
];

export const changesTexts = ({ changes }: Payload): boolean =>
  isNamed(changes, 'title') || isNamed(changes, 'description');

/** Of facts that say whether their texts may name anything. */
export const mayName = ({ may_name }: Payload): boolean => may_name === true;

/** Comments of the kind that may name something, new or edited. */
export function commentListeners({ type }: { type: string }, task: string): Listener[] {
  const when = (fact: Payload): boolean =>
    fact.noteable_type === type && fact.internal === false && mayName(fact);
  return ['note_created', 'note_edited'].map((fact) => ({ fact, task, when }));
}

/** In the name of who wrote the text; told again, it finds the notes there. */
export const mentionNamed =
  <Row extends { id: number }, Writer extends UserOfHome>(
    services: MentionServices,
    kind: MentioningKind<Row, Writer>,
  ): Task =>
  async (payload) => {
    const fact = payload as Payload & { noteable_id?: number; note_id?: number };
    const { background: db } = services.database;
    const row = await kind.find(db, Number(fact[kind.id] ?? fact.noteable_id ?? 0));
    const writer = row && (await kind.writer(services, fact));
    if (!writer || !(await kind.reads(services, writer, row))) return;
    const texts =
      fact.note_id === undefined
        ? await kind.texts(services, writer, row, fact)
        : await selectComment(db, { id: fact.note_id, on: kind.id, of: row.id, length: MAX_NAMING_LENGTH });
    const named = await namedIn(services.baseUrl(), texts);
    if (named.length === 0) return;
    const context = { db, services, actor: writer.actor };
    await writeMentions(context, await kind.source(services, writer, row), named);
  };
