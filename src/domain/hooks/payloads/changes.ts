/** What a change did, as payloads tell it: `{field: {previous, current}}` (facts-merge-requests: 10.6). Pure. */
import type { UserBasic } from '../../../kernel/users/records.ts';
import { hookLabel, hookUser, type LabelPartRow } from './parts.ts';

type Named = { id: number };
type Scalar = string | number | boolean | null;
/** The changes of a fact, as work items announce them. */
export type FactChanges = Readonly<
  Record<
    string,
    {
      from?: Scalar | { id: number } | null;
      to?: Scalar | { id: number } | null;
      added?: readonly Named[];
      removed?: readonly Named[];
    }
  >
>;

export type Changed = Record<string, { previous: unknown; current: unknown }>;

type People = 'assignees' | 'reviewers';
type Around = {
  /** The labels that there are now, and those that went. */
  labels: readonly LabelPartRow[];
  goneLabels: readonly LabelPartRow[];
  /** Those who are assigned now, or review. */
  people: Partial<Record<People, readonly UserBasic[]>>;
  users: ReadonlyMap<number, UserBasic>;
};

/** The names of fields where they are others than those of the changes. */
const names: Readonly<Record<string, string>> = {
  issue_type: 'type',
  milestone: 'milestone_id',
  original: 'duplicated_to_id',
};
/** What hooks are not told, as no attribute shows it, or by other fields. */
const untold: ReadonlySet<string> = new Set([
  'state',
  'epic',
  'link',
  'spent',
  'start_date',
  'labels',
  'assignees',
  'reviewers',
]);

const idOrValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'id' in value ? value.id : (value ?? null);

const without = <T extends Named>(all: readonly T[], gone: readonly Named[] = []): T[] =>
  all.filter(({ id }) => !gone.some((each) => each.id === id));

/** Ids of labels and users that went, which no record has any more. */
export const goneIds = (changes: FactChanges): { labels: number[]; users: number[] } => ({
  labels: (changes.labels?.removed ?? []).map(({ id }) => id),
  users: [...(changes.assignees?.removed ?? []), ...(changes.reviewers?.removed ?? [])].map(({ id }) => id),
});

export function hookChanges(changes: FactChanges, { labels, goneLabels, people, users }: Around): Changed {
  const told: Changed = {};
  for (const [what, { from, to }] of Object.entries(changes))
    if (!untold.has(what) && (from !== undefined || to !== undefined))
      told[names[what] ?? what] = { previous: idOrValue(from), current: idOrValue(to) };
  if (changes.labels)
    told.labels = {
      previous: [...without(labels, changes.labels.added), ...goneLabels].map(hookLabel),
      current: labels.map(hookLabel),
    };
  for (const what of ['assignees', 'reviewers'] as const) {
    const change = changes[what];
    const now = people[what];
    if (!change || !now) continue;
    const gone = (change.removed ?? []).flatMap(({ id }) => users.get(id) ?? []);
    told[what] = {
      previous: [...without(now, change.added), ...gone].map(hookUser),
      current: now.map(hookUser),
    };
  }
  return told;
}

/** The states of issues and merge requests as numbers. */
export const stateIds = { opened: 1, closed: 2, merged: 3, locked: 4 } as const;
