/** Comments, as hooks are told of them (facts-merge-requests: 10.5). System notes are not told. */
import {
  type HookContext,
  type HookEvent,
  type HookSample,
  type HookServices,
  hookNoteables,
  hookProject,
  hookRepository,
  hookSource,
  hookText,
  hookTime,
  hookTimeOrNull,
  hookUser,
  readContext,
} from '../../hooks/index.ts';
import { type HookNoteRow, selectHookNote, selectNewestNote } from './hook-queries.ts';

type NoteFact = {
  project_id?: number;
  user_id: number;
  note_id: number;
  noteable_type: string;
  noteable_id: number | null;
  commit_id?: string;
};

const typeOf = ({ position, line, in_thread }: HookNoteRow): string | null =>
  position !== null || line !== null ? 'DiffNote' : in_thread ? 'DiscussionNote' : null;

/** The attributes of a comment on something with this address; `id` is what is commented on. */
export const noteAttributes = (
  { around, project }: HookContext,
  note: HookNoteRow,
  on: { type: string; id: number | string; url: string },
) => ({
  attachment: null,
  author_id: note.author_id,
  change_position: null,
  commit_id: note.commit_sha,
  created_at: hookTime(note.created_at),
  discussion_id: note.discussion_id,
  id: note.id,
  internal: note.internal,
  line_code: note.line_code,
  note: note.body,
  noteable_id: note.commit_sha === null ? on.id : null,
  noteable_type: on.type,
  original_position: note.position,
  position: note.position,
  project_id: project.id,
  resolved_at: hookTimeOrNull(note.resolved_at),
  resolved_by_id: note.resolved_by_id,
  resolved_by_push: null,
  st_diff: null,
  system: false,
  type: typeOf(note),
  updated_at: hookTime(note.updated_at),
  updated_by_id: null,
  description: hookText(around, project, note.body),
  url: `${on.url}#note_${note.id}`,
});

/** The event of a comment; undefined where what it is on is gone, or tells hooks of no comments. */
async function noteEvent(
  services: HookServices,
  context: HookContext,
  note: HookNoteRow,
  { type, id, action }: { type: string; id: number | string; action: 'create' | 'update' },
): Promise<HookEvent | undefined> {
  const kind = hookNoteables.all(services).find((each) => each.type === type);
  const on = await kind?.partOf(services, context, id);
  if (!kind || !on) return undefined;
  const isConfidential = note.internal || on.isConfidential;
  const project = hookProject(context.around, context.project);
  return {
    flag: isConfidential ? 'confidential_note_events' : 'note_events',
    body: {
      object_kind: 'note',
      event_type: isConfidential ? 'confidential_note' : 'note',
      user: context.user && hookUser(context.user),
      project_id: project.id,
      project,
      object_attributes: { ...noteAttributes(context, note, { type, id, url: on.url }), action },
      repository: hookRepository(project),
      [kind.field]: on.part,
    },
  };
}

const sourceOf = (fact: string, action: 'create' | 'update') =>
  hookSource<NoteFact>({
    fact,
    flags: ['note_events', 'confidential_note_events'],
    async eventsOf(services, { project_id, user_id, note_id, noteable_type, noteable_id, commit_id }) {
      // Epics and personal snippets are in no project.
      if (project_id === undefined) return [];
      const [context, note] = await Promise.all([
        readContext(services, project_id, user_id),
        selectHookNote(services.database.background, note_id),
      ]);
      if (!context || !note || note.system_action !== null) return [];
      const id = commit_id ?? noteable_id ?? 0;
      const event = await noteEvent(services, context, note, { type: noteable_type, id, action });
      return event ? [event] : [];
    },
  });

export const noteHooks = [sourceOf('note_created', 'create'), sourceOf('note_edited', 'update')];

const sampleOf = (isConfidential: boolean): HookSample => ({
  flag: isConfidential ? 'confidential_note_events' : 'note_events',
  async eventFor(services, { projectId, userId }) {
    const missing = { missing: 'Ensure the project has notes.' };
    const context = await readContext(services, projectId, userId);
    const note =
      context && (await selectNewestNote(services.database.background, context.project.id, isConfidential));
    if (!context || !note) return missing;
    const on = [
      ['Issue', note.issue_id],
      ['MergeRequest', note.merge_request_id],
      ['Snippet', note.snippet_id],
      ['Commit', note.commit_sha],
    ] as const;
    const [type, id] = on.find(([, each]) => each !== null) ?? [];
    const event =
      type && id != null
        ? await noteEvent(services, context, note, { type, id, action: 'update' })
        : undefined;
    return event ?? missing;
  },
});

export const noteSamples = [sampleOf(false), sampleOf(true)];
