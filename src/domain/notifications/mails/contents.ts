/** Subject and parts of each mail, before they become text or HTML. Pure. */
import { oneLine } from '../../../core/mail-page.ts';
import type { Body, MailInput, PeopleChange } from './inputs.ts';
import { isFollowing } from './threads.ts';
import type { Words } from './vocabulary.ts';
import { dayIn } from './words.ts';

type Linked = { text: string; url: string };
type Row = { label: string; value: string; url?: string };

export type Content = {
  /** The event in one sentence. */
  headline: string;
  /** The subject of the event. */
  title: Linked;
  /** Warnings, shown before the rest. */
  warnings: readonly string[];
  rows: readonly Row[];
  body: Body | undefined;
  list: { label: string; items: readonly Linked[]; rest: string | undefined } | undefined;
  button: { label: string; url: string };
};

const SHORT_SHA = 8;
const short = (sha: string): string => sha.slice(0, SHORT_SHA);

/** The title with its reference. */
function titleOf({ target }: MailInput, words: Words): string {
  switch (target.kind) {
    case 'issue':
      return `${target.title} (#${target.iid})`;
    case 'epic':
      return `${target.title} (&${target.iid})`;
    case 'merge_request':
      return `${target.title} (!${target.iid})`;
    case 'commit':
      return `${target.title} (${short(target.sha)})`;
    case 'snippet':
      return `${target.title} ($${target.id})`;
    case 'release':
      return target.name === target.tag ? target.name : `${target.name} (${target.tag})`;
    case 'pipeline':
      return words.pipeline(target.id);
    case 'project':
      return target.to;
  }
}

function topicOf(input: MailInput, words: Words): string {
  switch (input.event) {
    case 'failed_pipeline':
    case 'fixed_pipeline':
    case 'success_pipeline':
      return `${words.subjects[input.event](input.target.ref)} (${short(input.target.commit.sha)})`;
    case 'new_release':
      return words.subjects.new_release(titleOf(input, words));
    case 'moved_project':
      return words.subjects.moved_project;
    default:
      return titleOf(input, words);
  }
}

/** `Place | Title (#1)`, with `Re: ` in all but the first mail of a thread. */
export const subjectOf = (input: MailInput, words: Words): string =>
  oneLine(`${isFollowing(input) ? 'Re: ' : ''}${input.place.name} | ${topicOf(input, words)}`);

function headlineOf(input: MailInput, words: Words): string {
  const who = input.actor?.name ?? words.somebody;
  if (input.event !== 'new_note') return words.happened[input.event](who);
  const said = input.note.reply ? words.replied : words.commented;
  return said[input.target.kind](who);
}

const names = (people: readonly string[], words: Words): string =>
  people.length === 0 ? words.nobody : people.join(', ');

const changed = (label: string, { from, to }: PeopleChange, words: Words): Row[] => [
  { label, value: `${names(from, words)} → ${names(to, words)}` },
];

const listed = (label: string, values: readonly string[]): Row[] =>
  values.length === 0 ? [] : [{ label, value: values.join(', ') }];

const day = (label: string, date: string | null, words: Words): Row[] =>
  date === null ? [] : [{ label, value: dayIn(words, date) }];

/** The properties of a new subject, as rows. */
function traits({ target }: MailInput, words: Words): Row[] {
  const { rows } = words;
  switch (target.kind) {
    case 'issue':
      return [
        ...listed(rows.assignees, target.assignees),
        ...listed(rows.labels, target.labels),
        ...listed(rows.milestone, target.milestone === null ? [] : [target.milestone]),
        ...day(rows.due, target.dueDate, words),
      ];
    case 'epic':
      return [
        ...listed(rows.labels, target.labels),
        ...day(rows.start, target.startDate, words),
        ...day(rows.due, target.dueDate, words),
      ];
    case 'merge_request':
      return [
        { label: rows.branches, value: `${target.sourceBranch} → ${target.targetBranch}` },
        ...listed(rows.assignees, target.assignees),
        ...listed(rows.reviewers, target.reviewers),
        ...listed(rows.labels, target.labels),
        ...listed(rows.milestone, target.milestone === null ? [] : [target.milestone]),
      ];
    default:
      return [];
  }
}

function rowsOf(input: MailInput, words: Words): Row[] {
  const { rows } = words;
  switch (input.event) {
    case 'new_issue':
    case 'issue_due':
    case 'new_epic':
    case 'new_merge_request':
    case 'approver':
      return traits(input, words);
    case 'reassign_issue':
    case 'reassign_merge_request':
      return changed(rows.assignees, input.change, words);
    case 'change_reviewer_merge_request':
      return changed(rows.reviewers, input.change, words);
    case 'merge_merge_request':
    case 'merge_when_pipeline_succeeds':
    case 'push_to_merge_request':
      return [{ label: rows.branches, value: `${input.target.sourceBranch} → ${input.target.targetBranch}` }];
    case 'failed_pipeline':
    case 'fixed_pipeline':
    case 'success_pipeline': {
      const { ref, commit } = input.target;
      const value = `${short(commit.sha)} ${commit.title}`;
      return [
        { label: rows.branch, value: ref },
        { label: rows.commit, value, url: commit.url },
      ];
    }
    case 'new_release':
      return [{ label: rows.tag, value: input.target.tag }];
    case 'moved_project':
      return [
        { label: rows.from, value: input.target.from },
        { label: rows.to, value: input.target.to },
        { label: rows.clone, value: input.target.cloneUrl },
      ];
    default:
      return [];
  }
}

function listOf(input: MailInput, words: Words): Content['list'] {
  if (input.event === 'push_to_merge_request') {
    const items = input.commits.map(({ sha, title, url }) => ({ text: `${short(sha)} ${title}`, url }));
    const rest = input.count - items.length;
    return {
      label: words.newCommits(input.count),
      items,
      rest: rest > 0 ? words.moreCommits(rest) : undefined,
    };
  }
  if (input.target.kind !== 'pipeline' || input.target.failedJobs.length === 0) return undefined;
  const items = input.target.failedJobs.map(({ name, stage, url }) => ({ text: `${stage}: ${name}`, url }));
  return { label: words.failedJobs, items, rest: undefined };
}

export function contentOf(input: MailInput, words: Words): Content {
  const { target } = input;
  const note = input.event === 'new_note' ? input.note : undefined;
  const description = 'description' in input ? input.description : undefined;
  return {
    headline: headlineOf(input, words),
    title: { text: titleOf(input, words), url: target.url },
    warnings: [
      ...('confidential' in target && target.confidential ? [words.confidential] : []),
      ...(note?.internal ? [words.internal] : []),
    ],
    rows: rowsOf(input, words),
    body: note?.body ?? description,
    list: listOf(input, words),
    button: note
      ? { label: words.open.note, url: note.url }
      : { label: words.open[target.kind], url: target.url },
  };
}
