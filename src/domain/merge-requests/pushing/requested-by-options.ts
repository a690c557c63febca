/** What push options ask of a merge request, with the records that they name (facts-merge-requests §2.1). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { Failure } from '../../../platform/failure.ts';
import { commitsBetween } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { usersByName, type WriteContext } from '../../conversation/index.ts';
import { availableMilestoneByTitle } from '../../planning/index.ts';
import { authorOf, projectRepository, readTemplate } from '../../repositories/index.ts';
import { findIssue } from '../../work-items/index.ts';
import type { Requested } from '../changes/requested.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { commitValues } from '../texts/commit-values.ts';
import { defaultTexts, issueNumberOf } from '../texts/default-texts.ts';
import { asDraft, withoutDraft } from '../texts/draft.ts';
import { fillIn } from '../texts/placeholders.ts';
import type { MergeRequestOptions, NamedUsers } from '../texts/push-options.ts';
import { selectAssigneeIds } from './queries.ts';

/** Commits that a title and a description are made of. */
const MAX_TOLD_COMMITS = 100;

type Asking = Pick<WriteContext, 'db' | 'services' | 'actor'>;

/** Ids of the users; names of nobody are left out. */
async function idsOf({ db }: Asking, { ids, usernames }: NamedUsers): Promise<number[]> {
  const found = await usersByName(
    db,
    usernames.map((name) => name.toLowerCase()),
  );
  return [...ids, ...found.map(({ id }) => id)];
}

/** The assignees after the options; undefined where they name nobody. */
async function assigneesAfter(
  context: Asking,
  { add, remove }: MergeRequestOptions['assignees'],
  row: MergeRequestRow | undefined,
): Promise<number[] | undefined> {
  if ([add, remove].every(({ ids, usernames }) => ids.length + usernames.length === 0)) return undefined;
  const [added, removed, before] = await Promise.all([
    idsOf(context, add),
    idsOf(context, remove),
    row ? selectAssigneeIds(context.db, row.id) : [],
  ]);
  return [...new Set([...before, ...added])].filter((id) => !removed.includes(id));
}

/** The id of the milestone; 400 where there is none of this title. */
async function milestoneId({ db }: Asking, target: AuthorizedProject, title: string): Promise<number> {
  const milestone = await availableMilestoneByTitle(db, target, title);
  if (!milestone) throw new Failure('bad_request', 'There is no such milestone');
  return milestone.id;
}

/** A title that becomes a draft's or another's. */
const titleAs = (title: string, draft: boolean | undefined): string =>
  draft === undefined ? title : draft ? asDraft(title) : withoutDraft(title);

/** The change that options ask of the merge request, or of a new one; its texts where they are given. */
export async function requestedBy(
  context: Asking,
  target: AuthorizedProject,
  options: MergeRequestOptions,
  row: MergeRequestRow | undefined,
): Promise<Requested> {
  const { title = row?.title, draft, labels, milestone } = options;
  return {
    title:
      title !== undefined && (options.title !== undefined || draft !== undefined)
        ? titleAs(title, draft)
        : undefined,
    description: options.description,
    target_branch: options.target,
    add_labels: labels.add,
    remove_labels: labels.remove,
    milestone_id: milestone === undefined ? undefined : await milestoneId(context, target, milestone),
    assignee_ids: await assigneesAfter(context, options.assignees, row),
    force_remove_source_branch: options.removeSourceBranch,
    squash: options.squash,
  };
}

/** The issue of the target that the branch is named after; undefined where the actor sees none. */
const issueNamed = async ({ db, actor }: Asking, target: AuthorizedProject, branch: string) => {
  const iid = issueNumberOf(branch);
  if (iid === undefined || !target.may('read_issues')) return undefined;
  return findIssue(db, target, actor, iid).catch((error) => {
    if (error instanceof Failure && error.kind === 'not_found') return undefined;
    throw error;
  });
};

/** Of the source and not of the target, oldest first; none where one of the branches is missing. */
async function commitsOf(git: GitFolder, source: string, target: string): Promise<Commit[]> {
  const [head, onto] = await Promise.all([findBranch(git, source), findBranch(git, target)]);
  return head && onto ? commitsBetween(git, git, onto.oid, head.oid, MAX_TOLD_COMMITS) : [];
}

/** The project's setting from premium up, else its template that is named Default, in any case of the letters. */
async function defaultDescription(
  { services }: Asking,
  project: AuthorizedProject,
): Promise<string | undefined> {
  const { merge_requests_template: own } = projectSettings(project.row);
  if (services.config.tier !== 'free' && own?.trim()) return own;
  return readTemplate(services, project, 'merge_requests', (name) => name.toLowerCase() === 'default');
}

/** UTF-16 units of a description (facts-merge-requests §1.1). */
const MAX_DESCRIPTION_LENGTH = 1_048_576;

type Place = {
  source: AuthorizedProject;
  sourceBranch: string;
  target: AuthorizedProject;
  targetBranch: string;
};

/** The description given, else the target's own, with the values of its variables; undefined for a blank one. */
async function describedBy(
  context: Asking,
  { sourceBranch, target, targetBranch }: Place,
  given: string | undefined,
  commits: readonly Commit[],
): Promise<string | undefined> {
  const written = given?.trim() ? given : await defaultDescription(context, target);
  const { first_multiline_commit_description: _, ...values } = commitValues(commits, {
    title: '',
    committing: authorOf(context.actor),
  });
  const branches = { source_branch: () => sourceBranch, target_branch: () => targetBranch };
  const text = fillIn(written ?? '', { ...values, ...branches }, MAX_DESCRIPTION_LENGTH);
  return text.trim() === '' ? undefined : text;
}

/** The title and description of a new merge request: those given, else made of templates and its commits. */
export async function textsFor(
  context: Asking,
  place: Place,
  { title, description: given, draft }: MergeRequestOptions,
): Promise<{ title: string; description: string | null }> {
  const { source, sourceBranch, target, targetBranch } = place;
  const read = (git: GitFolder) => commitsOf(git, sourceBranch, targetBranch);
  const [commits = [], issue] = await Promise.all([
    context.services.repositories.read(projectRepository(source.id), source.row.repository_storage, read),
    issueNamed(context, target, sourceBranch),
  ]);
  const texts = defaultTexts({
    given: { title, description: await describedBy(context, place, given, commits) },
    commits,
    sourceBranch,
    issue,
    autoclose: projectSettings(target.row).autoclose_referenced_issues === true,
  });
  return { ...texts, title: titleAs(texts.title, draft) };
}
