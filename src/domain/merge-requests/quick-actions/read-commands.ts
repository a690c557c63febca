/** Reads the quick actions of a text about a merge request, with the rights of who wrote it. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { Failure } from '../../../platform/failure.ts';
import { isRefName } from '../../../platform/git/names.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import {
  type Command,
  commandsIn,
  type Interpretation,
  interpretCommands,
  type WriteContext,
} from '../../conversation/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { argumentsOf, namedRecords } from '../../work-items/index.ts';
import { mayApproveNow, mayUnapproveNow } from '../approving/actions.ts';
import type { Requested } from '../changes/requested.ts';
import { decideMerge } from '../merging/decide-merge.ts';
import { mayRebase } from '../merging/rebase.ts';
import { mergeConditions } from '../records/merge-conditions.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mayMerge } from '../records/merge-rights.ts';
import { mergeRequestRules } from './command-rules.ts';
import type { MergeRequestEffect, MergeRequestKnown, WholeCommand } from './command-terms.ts';
import { type PeopleIds, selectPeopleIds } from './queries.ts';

/** What a text is about: a merge request, or what one will be that is being opened. */
export type CommandSubject = Pick<MergeRequestKnown['now'], 'title' | 'sourceBranch' | 'targetBranch'> & {
  sourceProjectId: number | null;
  row: MergeRequestRow | undefined;
  /** The newest commit that the author saw; another one is not merged. */
  seenHead?: string | undefined;
};

export const subjectOf = (row: MergeRequestRow): CommandSubject => ({
  row,
  title: row.title,
  sourceBranch: row.source_branch,
  targetBranch: row.target_branch,
  sourceProjectId: row.source_project_id,
});

const MAX_BRANCHES = 20;

/** The branches of the project among those that the commands name, but for the source. */
async function branchesNamed(
  { services }: WriteContext,
  project: AuthorizedProject,
  { sourceBranch, sourceProjectId }: CommandSubject,
  commands: readonly Command[],
): Promise<Set<string>> {
  const names = argumentsOf(commands, /^target_branch$/)
    .slice(0, MAX_BRANCHES)
    .filter((name) => isRefName(name) && (name !== sourceBranch || sourceProjectId !== project.id));
  if (names.length === 0) return new Set();
  const key = projectRepository(project.id);
  const found = await services.repositories.read(key, project.row.repository_storage, (git) =>
    Promise.all(names.map(async (name) => ((await findBranch(git, name)) ? name : []))),
  );
  return new Set(found?.flat());
}

/** Whether it is merged when its checks pass: not what waiting does not change, such as a conflict. */
async function mayMergeLater(
  context: WriteContext,
  project: AuthorizedProject,
  row: MergeRequestRow,
  seenHead: string | undefined,
): Promise<boolean> {
  const demand = {
    mayMerge: await mayMerge(context, project, row.target_branch),
    auto: true,
    sha: seenHead,
  };
  // What waiting changes is as well as it may be.
  const waits = {
    ...{ matchesTitlePattern: true, unresolved: 0, isApproved: true, blocked: false },
    ...{ changesRequested: false, unpassed: [], pipeline: null, changesLocked: false },
  };
  const relations = { ...waits, project: projectSettings(project.row) };
  const conditions = mergeConditions(row, relations, context.services.config.tier);
  return !(decideMerge(demand, conditions, row.head_sha ?? '') instanceof Failure);
}

async function rightsOf(
  context: WriteContext,
  project: AuthorizedProject,
  { row, seenHead }: CommandSubject,
  commands: readonly Command[],
): Promise<MergeRequestKnown['may']> {
  const updates = project.may('update_merge_requests');
  const may = async (
    command: WholeCommand,
    decide: (context: WriteContext, project: AuthorizedProject, row: MergeRequestRow) => Promise<boolean>,
  ): Promise<boolean> =>
    row !== undefined && commands.some(({ name }) => name === command) && decide(context, project, row);
  const [merge, rebase, approve, unapprove] = await Promise.all([
    may('merge', (...of) => mayMergeLater(...of, seenHead)),
    may('rebase', mayRebase),
    may('approve', mayApproveNow),
    may('unapprove', mayUnapproveNow),
  ]);
  return {
    metadata: project.may('manage_merge_requests'),
    update: updates || row === undefined || row.author_id === context.actor.id,
    // One that is being opened is locked by nobody.
    lock: updates && row !== undefined,
    merge,
    rebase,
    approve,
    unapprove,
  };
}

/** The text without its commands, and their changes and effects; undefined for a text without any. */
export async function readCommands(
  context: WriteContext,
  project: AuthorizedProject,
  subject: CommandSubject,
  text: string,
  requested: Requested = {},
): Promise<Interpretation<Requested, MergeRequestEffect> | undefined> {
  const commands = commandsIn(text, mergeRequestRules);
  if (commands.length === 0) return undefined;
  const { db, services, actor } = context;
  const { row } = subject;
  const nobody: PeopleIds = { assigneeIds: [], reviewerIds: [] };
  const [named, branches, may, people] = await Promise.all([
    namedRecords(context, project, project, commands),
    branchesNamed(context, project, subject, commands),
    rightsOf(context, project, subject, commands),
    row ? selectPeopleIds(db, row.id) : nobody,
  ]);
  const known: MergeRequestKnown = {
    kind: 'merge request',
    me: actor,
    may,
    now: {
      state: row?.state ?? 'new',
      locked: row?.discussion_locked === true,
      title: requested.title ?? subject.title,
      sourceBranch: subject.sourceBranch,
      targetBranch: requested.target_branch ?? subject.targetBranch,
      assigneeIds: requested.assignee_ids ?? people.assigneeIds,
      reviewerIds: requested.reviewer_ids ?? people.reviewerIds,
    },
    takesSeveral: services.config.tier !== 'free',
    branches,
    ...named,
  };
  return interpretCommands(text, known, mergeRequestRules);
}

/** The request with the changes of its description's commands, and their effects. */
export async function withCommands(
  context: WriteContext,
  project: AuthorizedProject,
  subject: CommandSubject,
  requested: Requested,
): Promise<{ requested: Requested; effects: readonly MergeRequestEffect[] }> {
  const { description } = requested;
  const read = description?.includes('/')
    ? await readCommands(context, project, subject, description, requested)
    : undefined;
  if (!read) return { requested, effects: [] };
  const { text, changes, effects } = read;
  return {
    requested: {
      ...requested,
      ...changes,
      description: text,
      add_labels: [...(requested.add_labels ?? []), ...(changes.add_labels ?? [])],
      remove_labels: [...(requested.remove_labels ?? []), ...(changes.remove_labels ?? [])],
    },
    effects,
  };
}
