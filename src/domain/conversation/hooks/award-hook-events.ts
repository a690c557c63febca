/** Awards, as hooks are told of them (facts-merge-requests: 10.5). */
import {
  type HookContext,
  type HookEvent,
  type HookSample,
  type HookServices,
  hookNoteables,
  hookProject,
  hookSource,
  hookTime,
  hookUser,
  readContext,
} from '../../hooks/index.ts';
import { selectHookNote, selectNewestAward } from './hook-queries.ts';
import { noteAttributes } from './note-hook-events.ts';

type AwardFact = {
  project_id?: number;
  user_id: number;
  noteable_type: string;
  noteable_id: number | null;
  commit_id?: string;
  note_id: number | null;
  /** Times are texts in JSON. */
  award: { user_id: number; created_at: string; id: number; name: string; updated_at: string };
};

type Action = 'award' | 'revoke';

/** The event of an award; undefined where what it is on is gone, or tells hooks of nothing. */
async function awardEvent(
  services: HookServices,
  context: HookContext,
  { noteable_type: type, noteable_id, commit_id, note_id, award }: AwardFact,
  action: Action,
): Promise<HookEvent | undefined> {
  const id = commit_id ?? noteable_id ?? 0;
  const kind = hookNoteables.all(services).find((each) => each.type === type);
  const [on, note] = await Promise.all([
    kind?.partOf(services, context, id),
    note_id === null ? undefined : selectHookNote(services.database.background, note_id),
  ]);
  if (!kind || !on || (note_id !== null && !note)) return undefined;
  const project = hookProject(context.around, context.project);
  const notePart = note && noteAttributes(context, note, { type, id, url: on.url });
  const isConfidential = on.isConfidential || note?.internal === true;
  return {
    flag: 'emoji_events',
    ...(isConfidential && { confidential: note ? 'confidential_note_events' : 'confidential_issues_events' }),
    body: {
      object_kind: 'emoji',
      event_type: action,
      user: context.user && hookUser(context.user),
      project_id: project.id,
      project,
      object_attributes: {
        user_id: award.user_id,
        created_at: hookTime(new Date(award.created_at)),
        id: award.id,
        name: award.name,
        awardable_type: notePart ? 'Note' : type,
        awardable_id: notePart ? notePart.id : id,
        updated_at: hookTime(new Date(award.updated_at)),
        action,
        awarded_on_url: notePart ? notePart.url : on.url,
      },
      ...(notePart && { note: notePart }),
      [kind.field === 'snippet' ? 'project_snippet' : kind.field]: on.part,
    },
  };
}

const sourceOf = (fact: string, action: Action) =>
  hookSource<AwardFact>({
    fact,
    flags: ['emoji_events'],
    async eventsOf(services, told) {
      // Epics and personal snippets are in no project.
      if (told.project_id === undefined) return [];
      const context = await readContext(services, told.project_id, told.user_id);
      const event = context && (await awardEvent(services, context, told, action));
      return event ? [event] : [];
    },
  });

export const awardHooks = [sourceOf('award_given', 'award'), sourceOf('award_taken', 'revoke')];

export const awardSample: HookSample = {
  flag: 'emoji_events',
  async eventFor(services, { projectId, userId }) {
    const missing = { missing: 'Ensure the project has emoji reactions.' };
    const context = await readContext(services, projectId, userId);
    const newest = context && (await selectNewestAward(services.database.background, projectId));
    if (!context || !newest) return missing;
    const { noteable_type, noteable_id, commit_sha, note_id, ...award } = newest;
    const fact = {
      user_id: userId,
      noteable_type,
      noteable_id,
      ...(commit_sha !== null && { commit_id: commit_sha }),
      note_id,
      award: {
        ...award,
        created_at: award.created_at.toISOString(),
        updated_at: award.updated_at.toISOString(),
      },
    };
    return (await awardEvent(services, context, fact, 'award')) ?? missing;
  },
};
