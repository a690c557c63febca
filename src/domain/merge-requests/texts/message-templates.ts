/** The messages of merge and squash commits, byte by byte (facts-merge-requests §4.3). Pure. */
import type { Commit } from '../../../platform/git/parse.ts';
import { sentenceOf } from '../../../platform/sentence.ts';
import { commitValues, type Identity, identityText } from './commit-values.ts';
import { fillIn, type Values, type Variable } from './placeholders.ts';

const DEFAULT_MERGE_TEMPLATE = `Merge branch '%{source_branch}' into '%{target_branch}'

%{title}

%{issues}

See merge request %{reference}`;

const DEFAULT_SQUASH_TEMPLATE = '%{title}';

/** UTF-16 units, which are at most 768 KiB of UTF-8: a commit of 1 MiB could not be read again. */
const MAX_MESSAGE_LENGTH = 262_144;

/** What a merge request's messages are made of. */
export type MessageSources = {
  iid: number;
  /** Of the target project. */
  fullPath: string;
  /** Its web address. */
  url: string;
  sourceBranch: string;
  targetBranch: string;
  /** Null where the fork is gone. */
  sourceProjectId: number | null;
  title: string;
  description: string | null;
  /** Oldest first; of a long history the first ones and the newest hundred do. */
  commits: readonly Pick<Commit, 'message' | 'parents' | 'author'>[];
  /** References to the issues that it closes, from the target project: `#1`, `group/project#2`. */
  closes: readonly string[];
  author: Identity;
  merger: Identity;
  /** Who submitted a review. */
  reviewers: readonly Identity[];
  approvers: readonly Identity[];
};

/** A project's own template, null for the default one, and the message of the request, which wins. */
export type MessageChoice = { template: string | null; given: string | null | undefined };

const trailers = (key: string, people: readonly Identity[]): string =>
  people.map((person) => `${key}: ${identityText(person)}`).join('\n');

/** The commit is `committing`'s, who is not named as a further author of it. */
function valuesOf(sources: MessageSources, committing: Identity): Required<Values> {
  const { title, description, closes, sourceProjectId } = sources;
  return {
    source_branch: () => sources.sourceBranch,
    target_branch: () => sources.targetBranch,
    title: () => title,
    description: () => description ?? '',
    issues: () => (closes.length > 0 ? `Closes ${sentenceOf(closes)}` : ''),
    reference: () => `${sources.fullPath}!${sources.iid}`,
    local_reference: () => `!${sources.iid}`,
    source_project_id: () => String(sourceProjectId ?? ''),
    url: () => sources.url,
    reviewed_by: () => trailers('Reviewed-by', sources.reviewers),
    approved_by: () => trailers('Approved-by', sources.approvers),
    merged_by: () => identityText(sources.merger),
    merge_request_author: () => identityText(sources.author),
    ...commitValues(sources.commits, { title, committing }),
  } satisfies Record<Variable, () => string>;
}

const isGiven = (text: string | null | undefined): text is string => !!text && text.trim() !== '';

/** The message as it was given, else of the template; of the default one where that leaves nothing. */
function messageOf({ template, given }: MessageChoice, byDefault: string, values: Values): string {
  if (isGiven(given)) return given;
  const own = (template ?? '').replaceAll('\r\n', '\n');
  const message = fillIn(own, values, MAX_MESSAGE_LENGTH);
  return isGiven(message) ? message : fillIn(byDefault, values, MAX_MESSAGE_LENGTH);
}

/** The merge commit's message, with `merge_commit_template` and `merge_commit_message`. */
export const mergeMessage = (sources: MessageSources, choice: MessageChoice): string =>
  messageOf(choice, DEFAULT_MERGE_TEMPLATE, valuesOf(sources, sources.merger));

/** The squash commit's message, with `squash_commit_template` and `squash_commit_message`. */
export const squashMessage = (sources: MessageSources, choice: MessageChoice): string =>
  messageOf(choice, DEFAULT_SQUASH_TEMPLATE, valuesOf(sources, sources.author));
