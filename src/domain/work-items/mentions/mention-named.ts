/** Tells what the texts of issues and merge requests name that it is mentioned there (facts: References and closing). */
import type { Db } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import {
  type ActorContext,
  findUserOfProject,
  type MentionSource,
  type NamedNoteable,
  type UserOfProject,
  writeMentions,
} from '../../conversation/index.ts';
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

/** A kind whose texts mention others. */
export type MentioningKind<Row extends { id: number }> = {
  type: 'Issue' | 'MergeRequest';
  /** The column of notes and the property of facts that name one. */
  id: 'issue_id' | 'merge_request_id';
  find(db: Db, id: number): Promise<Row | undefined>;
  /** Whether the writer reads it by now. */
  reads(services: MentionServices, writer: UserOfProject, row: Row): Promise<boolean>;
  /** The texts that its writer is responsible for, beside comments. */
  texts(services: MentionServices, writer: UserOfProject, row: Row): Promise<string[]>;
  source(services: MentionServices, writer: UserOfProject, row: Row): Promise<MentionSource>;
};

export const changesTexts = ({ changes }: Payload): boolean =>
  typeof changes === 'object' && changes !== null && ('title' in changes || 'description' in changes);

/** Comments of the kind that may name something, new or edited. */
export function commentListeners({ type }: Pick<MentioningKind<never>, 'type'>, task: string): Listener[] {
  const when = ({ noteable_type, internal, may_name }: Payload): boolean =>
    noteable_type === type && internal === false && may_name === true;
  return ['note_created', 'note_edited'].map((fact) => ({ fact, task, when }));
}

/** In the name of who wrote the text; told again, it finds the notes there. */
export const mentionNamed =
  <Row extends { id: number }>(services: MentionServices, kind: MentioningKind<Row>): Task =>
  async (payload) => {
    const fact = payload as { project_id: number; user_id: number; noteable_id?: number; note_id?: number };
    const id = (payload as Record<string, number>)[kind.id] ?? fact.noteable_id ?? 0;
    const { background: db } = services.database;
    const row = await kind.find(db, id);
    const writer = row && (await findUserOfProject(services, fact.project_id, fact.user_id));
    if (!writer || !(await kind.reads(services, writer, row))) return;
    const texts =
      fact.note_id === undefined
        ? await kind.texts(services, writer, row)
        : await selectComment(db, { id: fact.note_id, on: kind.id, of: id, length: MAX_NAMING_LENGTH });
    const named = await namedIn(services.baseUrl(), texts);
    if (named.length === 0) return;
    const context = { db, services, actor: writer.actor };
    await writeMentions(context, await kind.source(services, writer, row), named);
  };
