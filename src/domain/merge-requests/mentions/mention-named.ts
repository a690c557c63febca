/** Tells what a merge request names in its texts that it is mentioned there (facts: References and closing). */
import type { Needs } from '../../../kernel/services.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import {
  type ActorContext,
  type MentionSource,
  type NamedNoteable,
  writeMentions,
} from '../../conversation/index.ts';
import { MAX_TEXT_LENGTH, readMessages } from '../around/related-issues.ts';
import { selectCommitIds } from '../closing/queries.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { findUserOfProject, type UserOfProject } from '../records/user-rights.ts';
import { namedNoteables } from '../texts/issue-references.ts';
import { selectComment } from './queries.ts';

export const MENTION_NAMED = 'merge_requests.mention_named';

export type MentionServices = ActorContext['services'];

/** Noteables that one fact tells of. */
const MAX_NAMED = 300;

/** The noteables that the texts name, each once. */
export async function namedIn(baseUrl: string, texts: readonly string[]): Promise<NamedNoteable[]> {
  const named = (await mapInTurns(texts, (text) => namedNoteables(baseUrl, text))).flat();
  const each = new Map(named.map((one) => [`${one.kind} ${one.path ?? ''} ${one.name}`, one]));
  return [...each.values()].slice(0, MAX_NAMED);
}

type Payload = Readonly<Record<string, Json>>;

const changesTexts = ({ changes }: Payload): boolean =>
  typeof changes === 'object' && changes !== null && ('title' in changes || 'description' in changes);

const isOpenComment = ({ noteable_type, internal }: Payload): boolean =>
  noteable_type === 'MergeRequest' && internal === false;

/** Facts after which a merge request may name something new. */
export const mentionListeners: readonly Listener[] = [
  { fact: 'merge_request_created', task: MENTION_NAMED },
  { fact: 'merge_request_updated', task: MENTION_NAMED, when: changesTexts },
  { fact: 'merge_request_pushed', task: MENTION_NAMED },
  { fact: 'note_created', task: MENTION_NAMED, when: isOpenComment },
];

/** The texts of a merge request that its writer, or who pushed, is responsible for; or those of one comment. */
async function textsOf(
  services: MentionServices,
  { project }: UserOfProject,
  row: MergeRequestRow,
  noteId: number | undefined,
): Promise<string[]> {
  if (noteId === undefined)
    return [row.title, row.description ?? '', ...(await readMessages(services, project, row))];
  const comment = await selectComment(services.database.background, noteId, MAX_TEXT_LENGTH);
  return comment?.merge_request_id === row.id ? [comment.text] : [];
}

/** The merge request as what mentions others: its own commits are not told. */
async function sourceOf(
  { database }: Needs<'database'>,
  { project }: UserOfProject,
  { id, iid }: MergeRequestRow,
): Promise<MentionSource> {
  const commits = new Set(await selectCommitIds(database.background, id));
  return {
    project,
    columns: { mentioned_in_merge_request_id: id },
    noteOn: (noteable) => {
      const path = noteable.project?.id === project.id ? '' : project.fullPath;
      return mergeRequestNotes.mentioned('merge request', `${path}!${iid}`);
    },
    has: (noteable) =>
      (noteable.kind.type === 'MergeRequest' && noteable.id === id) || commits.has(noteable.sha ?? ''),
  };
}

/** In the name of who wrote the text; told again, it finds the notes there. */
export const mentionNamed =
  (services: MentionServices): Task =>
  async (payload) => {
    const { project_id, user_id, merge_request_id, noteable_id, note_id } = payload as {
      project_id: number;
      user_id: number;
      merge_request_id?: number;
      noteable_id?: number;
      note_id?: number;
    };
    const { background: db } = services.database;
    const row = await selectMergeRequest(db, merge_request_id ?? noteable_id ?? 0);
    if (!row) return;
    const writer = await findUserOfProject(services, project_id, user_id);
    if (!writer?.project.may('read_merge_requests')) return;
    const named = await namedIn(services.baseUrl(), await textsOf(services, writer, row, note_id));
    if (named.length === 0) return;
    const context = { db, services, actor: writer.actor };
    await writeMentions(context, await sourceOf(services, writer, row), named);
  };
