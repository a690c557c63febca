/** Tells what the messages of pushed commits name that it is mentioned there (facts: References and closing). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { fullRef, NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { readRef } from '../../../platform/git/refs.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import {
  findUserOfProject,
  MAX_NAMING_LENGTH,
  type MentionServices,
  type MentionSource,
  namedIn,
  writeMentions,
} from '../../conversation/index.ts';
import { readRepository } from '../../repositories/index.ts';
import { readPushed } from '../closing/pushed-commits.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';

export const MENTION_BY_COMMITS = 'merge_requests.mention_by_commits';

/** Branches of one push that are looked at, and noteables that their commits name. */
const MAX_BRANCHES = 10;
const MAX_NAMED = 300;

const sourceOf = (project: AuthorizedProject, { oid }: Commit): MentionSource => ({
  home: { project, group: undefined },
  columns: { mentioned_in_project_id: project.id, mentioned_in_commit: oid },
  noteOn: (noteable) => {
    const path = noteable.project?.id === project.id ? '' : `${project.fullPath}@`;
    return mergeRequestNotes.mentioned('commit', `${path}${oid}`);
  },
  has: ({ sha }) => sha === oid,
});

/** The newest commits that the branches did not have; a new branch has those of the default one already. */
async function readAllPushed(
  git: GitFolder,
  { row }: AuthorizedProject,
  updates: readonly RefUpdate[],
): Promise<Commit[]> {
  const main = fullRef('branch', row.default_branch ?? 'main');
  const each = new Map<string, Commit>();
  for (const update of updates) {
    const isNew = update.before === NO_OBJECT && update.ref !== main;
    const before = isNew ? ((await readRef(git, main)) ?? NO_OBJECT) : update.before;
    for (const commit of await readPushed(git, { ...update, before })) each.set(commit.oid, commit);
  }
  return [...each.values()];
}

/** The task of `repository_pushed`, in the name of who pushed; told again, it finds the notes there. */
export const mentionByCommits =
  (services: MentionServices): Task =>
  async (payload) => {
    const { project_id, user_id, updates } = payload as unknown as {
      project_id: number;
      user_id: number | null;
      updates: RefUpdate[];
    };
    const branches = updates
      .filter(({ ref, after }) => shortRef(ref)?.kind === 'branch' && after !== NO_OBJECT)
      .slice(0, MAX_BRANCHES);
    if (user_id === null || branches.length === 0) return;
    const pusher = await findUserOfProject(services, project_id, user_id, payload);
    if (!pusher?.project.may('read_code')) return;
    const { actor, project } = pusher;
    const read = (git: GitFolder) => readAllPushed(git, project, branches);
    const context = { db: services.database.background, services, actor };
    let count = 0;
    for (const commit of (await readRepository(services, project, read)) ?? []) {
      const named = await namedIn(services.baseUrl(), [commit.message.slice(0, MAX_NAMING_LENGTH)]);
      count += named.length;
      if (count > MAX_NAMED) return;
      if (named.length > 0) await writeMentions(context, sourceOf(project, commit), named);
    }
  };
