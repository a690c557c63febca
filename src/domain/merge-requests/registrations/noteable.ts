/** Merge requests as noteables: their notes over the API, quick actions, and references in system notes. */
import { sql } from 'kysely';
import { onProject } from '../../../kernel/access/access.ts';
import { forbidden } from '../../../platform/failure.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import {
  type ActorContext,
  conversationEndpoints,
  inNamedProjects,
  type NamedNoteable,
  type Noteable,
  type NoteableDefinition,
  type NoteableParent,
  type NoteableResource,
  projectOf,
} from '../../conversation/index.ts';
import { followOpened, planUpdate, refusingTwins, writePlanned } from '../opening/update-merge-request.ts';
import { readCommands, subjectOf } from '../quick-actions/read-commands.ts';
import { findMergeRequest, findWithCommits } from '../records/find-queries.ts';
import { mergeRequestKind, mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import { placeInDiff } from '../review/place-in-diff.ts';
import { writeSuggestions } from '../suggestions/actions.ts';
import { loadSuggestions } from '../suggestions/present.ts';
import { readSuggestions } from '../suggestions/read-suggestions.ts';
import { writeThreadsResolved } from '../writing/thread-actions.ts';
import { readableMergeRequests, readsMentioningMergeRequest, selectReferenced } from './queries.ts';

const mergeRequest: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The number of the merge request in the project.' }),
  find: async ({ db }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_merge_requests')) throw forbidden();
    return mergeRequestNoteable(project, await findMergeRequest(db, project, Number(named)));
  },
};

export const mergeRequestConversation = conversationEndpoints({
  ...mergeRequest,
  path: '/projects/:id/merge_requests/:noteable_id',
  noun: 'a merge request',
  read: onProject('read_merge_requests'),
  write: onProject('create_notes'),
  notes: true,
  awards: mergeRequest,
  internal: true,
  resolvable: true,
  positioned: true,
});

async function findNamed(
  { db, services, actor }: ActorContext,
  home: NoteableParent,
  named: readonly NamedNoteable[],
): Promise<Noteable[]> {
  const placed = await inNamedProjects(services.database.points, actor, 'create_notes', home, named);
  const readable = placed.filter(({ project }) => project.may('read_merge_requests'));
  const byId = new Map(readable.map(({ project }) => [project.id, project]));
  const rows = await selectReferenced(
    db,
    readable.map(({ project }) => project.id),
    readable.map((each) => Number(each.named.name)),
  );
  return rows.flatMap((row) => {
    const project = byId.get(row.project_id);
    return project ? [mergeRequestNoteable(project, row)] : [];
  });
}

export const mergeRequestDefinition: NoteableDefinition = {
  kind: mergeRequestKind,
  async quickActions(context, noteable, text, seenHead) {
    const { project, iid = 0 } = noteable;
    if (!project) return undefined;
    const found = await findWithCommits(context.db, project, iid);
    const { row } = found;
    const read = await readCommands(context, project, { ...subjectOf(row), seenHead }, text);
    if (!read) return undefined;
    const plan = await planUpdate(context, project, found, read.changes);
    // None of them is one that conversation looks at.
    const changes: object = read.changes;
    return {
      ...read,
      changes,
      async apply(tx) {
        await refusingTwins(context, project, row, plan, async () => {
          await writePlanned(context, tx, project, row, { ...plan, effects: read.effects });
          // What the database refuses is known when it has answered something.
          await findMergeRequest(tx, project, iid);
        });
        await followOpened(context, project, row, plan);
      },
      // Commands of merge requests make no other noteable.
      leave: async () => {},
    };
  },
  place: placeInDiff,
  suggestions: {
    async prepare(context, { project }, { body, position }) {
      const read = project ? await readSuggestions(context, project, position, body) : [];
      return (tx, noteId) => writeSuggestions(tx, noteId, read);
    },
    load: loadSuggestions,
  },
  threadsResolved: writeThreadsResolved,
  crossReferences: { sign: '!', readable: readableMergeRequests },
  named: { kind: 'merge_request', find: findNamed },
  mentions: { column: 'mentioned_in_merge_request_id', isReadable: readsMentioningMergeRequest },
  readableNotes: (project) =>
    project.may('read_merge_requests') ? sql`t.merge_request_id is not null` : sql`false`,
};
