/** Requests to create or update an issue, their permitted part, and the changes, without a database. */
import { hasMoreCharacters } from '../../../platform/characters.ts';
import { invalid } from '../../../platform/failure.ts';
import type { EventCause, ResourceEvent } from '../resource-events/actions.ts';

export const issueTypes = ['issue', 'incident', 'test_case', 'requirement', 'task', 'ticket'] as const;
export type IssueType = (typeof issueTypes)[number];
export const severities = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
export type Severity = (typeof severities)[number];
export const healthStatuses = ['on_track', 'needs_attention', 'at_risk'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

/** Properties of the request; a missing one changes nothing. An id of 0, and null, remove. */
export type IssueChanges = {
  title?: string | undefined;
  description?: string | null | undefined;
  state_event?: 'close' | 'reopen' | undefined;
  assignee_ids?: readonly number[] | undefined;
  milestone_id?: number | null | undefined;
  labels?: readonly string[] | undefined;
  add_labels?: readonly string[] | undefined;
  remove_labels?: readonly string[] | undefined;
  due_date?: string | null | undefined;
  start_date?: string | null | undefined;
  confidential?: boolean | undefined;
  discussion_locked?: boolean | null | undefined;
  issue_type?: IssueType | undefined;
  severity?: Severity | undefined;
  weight?: number | null | undefined;
  health_status?: HealthStatus | null | undefined;
  epic_id?: number | null | undefined;
  /** Seconds. */
  time_estimate?: number | undefined;
  /** The issue that this one duplicates. */
  duplicated_to_id?: number | null | undefined;
  created_at?: Date | undefined;
  updated_at?: Date | undefined;
};

export type NewIssue = Omit<IssueChanges, 'title' | 'state_event' | 'updated_at'> & {
  title: string;
  /** The next number where it is missing. */
  iid?: number | undefined;
};

const MAX_TITLE_LENGTH = 255;
const MAX_TEXT_LENGTH = 1_048_576;

/** Fails with 400 for a title or description that is blank or too long, in characters. */
export function checkTexts(texts: {
  title?: string | undefined;
  description?: string | null | undefined;
}): void {
  const { title, description } = texts;
  if (title !== undefined && title.trim() === '') throw invalid({ title: ["can't be blank"] });
  if (title !== undefined && hasMoreCharacters(title, MAX_TITLE_LENGTH)) {
    throw invalid({ title: [`is too long (maximum is ${MAX_TITLE_LENGTH} characters)`] });
  }
  if (description && hasMoreCharacters(description, MAX_TEXT_LENGTH)) {
    throw invalid({ description: [`is too long (maximum is ${MAX_TEXT_LENGTH} characters)`] });
  }
}

/** Fails with 400 when the due date is before the start date. */
export function checkDates(dates: { start_date: string | null; due_date: string | null }): void {
  if (dates.start_date !== null && dates.due_date !== null && dates.due_date < dates.start_date) {
    throw invalid({ due_date: ['must be greater than or equal to start date'] });
  }
}

/** The caller's rights to set properties of the issue. */
export type ChangeRights = {
  /** Labels, assignees, milestone, dates: Planners, and members on issues that they create (facts: Roles). */
  metadata: boolean;
  /** All authors at creation. */
  confidentiality: boolean;
  /** Planners. */
  lock: boolean;
  /** Times and number: administrators and owners. */
  history: boolean;
  /** Weight, epic and several assignees. */
  premium: boolean;
  /** Health. */
  ultimate: boolean;
};

const metadataKeys = [
  'assignee_ids',
  'milestone_id',
  'labels',
  'add_labels',
  'remove_labels',
  'due_date',
  'start_date',
  'severity',
  'weight',
  'health_status',
  'epic_id',
  'time_estimate',
  'duplicated_to_id',
] as const;
const premiumKeys = ['weight', 'epic_id'] as const;

/** The request without the properties that the caller may not set, which the public API ignores. */
export function permitted<T extends IssueChanges & { iid?: number | undefined }>(
  changes: T,
  rights: ChangeRights,
): T {
  const dropped = new Set<string>([
    ...(rights.metadata ? [] : metadataKeys),
    ...(rights.premium ? [] : premiumKeys),
    ...(rights.ultimate ? [] : ['health_status']),
    ...(rights.confidentiality ? [] : ['confidential']),
    ...(rights.lock ? [] : ['discussion_locked']),
    ...(rights.history ? [] : ['created_at', 'updated_at', 'iid']),
  ]);
  const kept = { ...changes };
  for (const key of Object.keys(kept) as (keyof T & string)[]) if (dropped.has(key)) delete kept[key];
  // Below premium an issue has one assignee.
  if (kept.assignee_ids && !rights.premium) kept.assignee_ids = kept.assignee_ids.slice(0, 1);
  return kept;
}

export type NamedUser = { id: number; username: string };
export type Labelled = { id: number; name: string };
export type Referenced = { id: number; reference: string };

/** The properties of an issue that are compared. */
export type IssueState = {
  title: string;
  description: string | null;
  state: string;
  confidential: boolean;
  discussion_locked: boolean | null;
  issue_type: string;
  severity: string;
  start_date: string | null;
  due_date: string | null;
  weight: number | null;
  health_status: string | null;
  time_estimate: number;
  assignees: readonly NamedUser[];
  labels: readonly Labelled[];
  milestone: Referenced | null;
  epic: Referenced | null;
  /** The issue that this one duplicates. */
  original: Referenced | null;
};

/** What closes an issue, with its reference from the issue's project: `merge request !1`. */
export type ClosingSource = { cause: EventCause; reference: string };

type Change<What extends string, Value> = { what: What; from: Value; to: Value };
/** One changed property. */
export type WorkChange =
  | Change<'title', string>
  | Change<'description', string | null>
  | { what: 'state'; to: 'closed' | 'reopened'; via?: ClosingSource }
  | { what: 'assignees'; added: NamedUser[]; removed: NamedUser[] }
  | { what: 'labels'; added: Labelled[]; removed: Labelled[] }
  | Change<'milestone' | 'epic' | 'original', Referenced | null>
  | Change<'confidential', boolean>
  | Change<'discussion_locked', boolean | null>
  | Change<'issue_type' | 'severity', string>
  | Change<'start_date' | 'due_date' | 'health_status', string | null>
  | Change<'weight', number | null>
  | Change<'time_estimate', number>;

/** Items of the first list that are not in the second, by id. */
export const without = <T extends { id: number }>(all: readonly T[], gone: readonly { id: number }[]): T[] =>
  all.filter(({ id }) => !gone.some((each) => each.id === id));

function moved<T extends { id: number }>(before: readonly T[], after: readonly T[]) {
  const [added, removed] = [without(after, before), without(before, after)];
  return added.length + removed.length > 0 ? { added, removed } : undefined;
}

/** The differences, in the order of their system notes. */
export function differences(before: IssueState, after: IssueState): WorkChange[] {
  const changes: WorkChange[] = [];
  if (before.title !== after.title) changes.push({ what: 'title', from: before.title, to: after.title });
  if ((before.description ?? '') !== (after.description ?? ''))
    changes.push({ what: 'description', from: before.description, to: after.description });
  const people = moved(before.assignees, after.assignees);
  if (people) changes.push({ what: 'assignees', ...people });
  const labels = moved(before.labels, after.labels);
  if (labels) changes.push({ what: 'labels', ...labels });
  for (const what of ['milestone', 'epic', 'original'] as const) {
    const [from, to] = [before[what], after[what]];
    if (from?.id !== to?.id) changes.push({ what, from, to });
  }
  const scalars = [
    'confidential',
    'discussion_locked',
    'issue_type',
    'severity',
    'start_date',
    'due_date',
    'weight',
    'health_status',
    'time_estimate',
  ] as const;
  for (const what of scalars) {
    const [from, to] = [before[what], after[what]];
    // Null and false both mean unlocked.
    const same = what === 'discussion_locked' ? Boolean(from) === Boolean(to) : from === to;
    // The name and the type of its values come from the same list.
    if (!same) changes.push({ what, from, to } as WorkChange);
  }
  if (before.state !== after.state) {
    changes.push({ what: 'state', to: after.state === 'closed' ? 'closed' : 'reopened' });
  }
  return changes;
}

/** The resource events of the changes. */
export const resourceEvents = (changes: readonly WorkChange[]): ResourceEvent[] =>
  changes.flatMap((change): ResourceEvent[] => {
    if (change.what === 'state') return [{ kind: 'state', action: change.to, cause: change.via?.cause }];
    if (change.what === 'weight') return [{ kind: 'weight', weight: change.to }];
    if (change.what === 'labels') {
      return [
        ...change.added.map(({ id }) => ({ kind: 'label', action: 'add', labelId: id }) as const),
        ...change.removed.map(({ id }) => ({ kind: 'label', action: 'remove', labelId: id }) as const),
      ];
    }
    if (change.what !== 'milestone') return [];
    return [
      ...(change.from ? [{ kind: 'milestone', action: 'remove', milestoneId: change.from.id } as const] : []),
      ...(change.to ? [{ kind: 'milestone', action: 'add', milestoneId: change.to.id } as const] : []),
    ];
  });

/** The labels after a change: a list replaces them, then labels are added and removed. */
export function labelsAfter<T extends Labelled>(
  current: readonly T[],
  requested: { labels?: readonly T[] | undefined; add: readonly T[]; remove: readonly T[] },
): T[] {
  const start = requested.labels ?? current;
  const all = new Map([...start, ...requested.add].map((label) => [label.id, label]));
  return without([...all.values()], requested.remove);
}
