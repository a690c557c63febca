/** Follows notes on lines into the newest version of their merge request (facts-merge-requests: 7.3). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { readDiff } from '../../../platform/git/history/diff.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { sha1 } from '../../../platform/secret.ts';
import { type NotePosition, positionOf } from '../../conversation/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow, VersionRow } from '../records/merge-request-rows.ts';
import { selectNewestVersion, selectUntraced } from '../review/queries.ts';
import { type ComparedFile, createTracer, type DiffRefs, type Traced } from '../review/tracing.ts';
import { outdatedSuggestions } from '../suggestions/outdated-suggestions.ts';
import { type TracedThread, writeTraced } from '../writing/trace-actions.ts';
import { findActing } from './acting-queries.ts';

export type TraceServices = Needs<'database' | 'repositories' | 'registered' | 'log'>;
type NewestVersion = VersionRow & { number: number };
type Thread = { discussionId: string; before: NotePosition };

const TRACED_AT_ONCE = 200;
/** Of one push; what stands at further ones stays where it was. */
const MAX_TRACED_VERSIONS = 8;

/** Nothing where the diff is too much, or a commit is gone: notes stay where they were. */
async function compare(git: GitFolder, from: string, to: string): Promise<ComparedFile[] | undefined> {
  if (from === to) return [];
  if (!(await git.info(from)) || !(await git.info(to))) return undefined;
  try {
    return (await readDiff(git, { from, to })).files;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unprocessable') return undefined;
    throw error;
  }
}

type Trace = (position: NotePosition) => Traced;

/** What follows positions of any version into the newest; each version is compared once. */
function tracerTo(git: GitFolder, { base_sha, start_sha, head_sha }: VersionRow) {
  const to: DiffRefs = { base_sha, start_sha, head_sha };
  const tracers = new Map<string, Promise<Trace | undefined>>();
  // Begun when it is waited for: nobody would take the failure of one that nothing needs.
  let newest: ReturnType<typeof compare> | undefined;

  async function from(refs: DiffRefs): Promise<Trace | undefined> {
    newest ??= compare(git, base_sha, head_sha);
    const diff = await newest;
    const bases = await compare(git, refs.base_sha, to.base_sha);
    const heads = await compare(git, refs.head_sha, to.head_sha);
    return diff && bases && heads && createTracer({ from: refs, to, bases, heads, diff });
  }

  return async (position: NotePosition): Promise<Traced | undefined> => {
    const key = `${position.base_sha} ${position.head_sha}`;
    if (!tracers.has(key) && tracers.size < MAX_TRACED_VERSIONS) tracers.set(key, from(position));
    return (await tracers.get(key))?.(position);
  };
}

/** The change of the line or file, where the diff between the two heads shows it. */
function changeUrl(
  { fullPath }: AuthorizedProject,
  { iid }: MergeRequestRow,
  { id, head_sha }: NewestVersion,
  traced: Extract<Traced, { isOutdated: true }>,
): string | undefined {
  const { change } = traced;
  if (change?.position.head_sha !== head_sha) return undefined;
  const { position, lineCode } = change;
  const anchor = lineCode ?? sha1(position.new_path ?? '').toString('hex');
  return `/${fullPath}/-/merge_requests/${iid}/diffs?diff_id=${id}&start_sha=${position.start_sha}#${anchor}`;
}

function threadAfter(
  project: AuthorizedProject,
  row: MergeRequestRow,
  version: NewestVersion,
  thread: Thread,
  traced: Traced,
): TracedThread {
  if (!traced.isOutdated) return { ...thread, ...traced.placed };
  const what = thread.before.position_type === 'text' ? 'line' : 'file';
  const url = changeUrl(project, row, version, traced);
  return { ...thread, said: mergeRequestNotes.outdated(what, version.number, url) };
}

export const traceNotes =
  (services: TraceServices): Task =>
  async (payload) => {
    const { merge_request_id, user_id } = payload as { merge_request_id: number; user_id: number };
    const { db, background } = services.database;
    const row = await selectMergeRequest(background, merge_request_id);
    const version = row && (await selectNewestVersion(background, row.id));
    const acting = row?.state === 'opened' && (await findActing(services, row.project_id, user_id));
    if (!version || !acting) return;
    const { project, actor } = acting;
    const noteable = mergeRequestNoteable(project, row);
    await services.repositories.read(
      projectRepository(project.id),
      project.row.repository_storage,
      async (git) => {
        const trace = tracerTo(git, version);
        for (let after = 0; ; ) {
          const notes = await selectUntraced(background, row.id, version, after, TRACED_AT_ONCE);
          const last = notes.at(-1);
          if (!last) return;
          after = last.id;
          const threads: TracedThread[] = [];
          for (const note of notes) {
            const before = positionOf(note);
            const traced = before && (await trace(before));
            if (traced)
              threads.push(
                threadAfter(project, row, version, { discussionId: note.discussion_id, before }, traced),
              );
          }
          const moved = threads.flatMap((thread) => ('position' in thread ? [thread] : []));
          const suggestions = await outdatedSuggestions(background, git, row.id, moved);
          await writeTraced({ db, services, actor }, project, noteable, { threads, suggestions });
        }
      },
    );
  };
