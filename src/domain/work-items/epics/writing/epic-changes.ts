/** Requests to create or update an epic, and the changes that they make, without a database. */

import { colorCode } from '../../../planning/index.ts';
import {
  checkTexts,
  differences,
  type IssueState,
  type Labelled,
  type WorkChange,
} from '../../changes/issue-changes.ts';
import type { EpicRow } from '../records/epic-rows.ts';

/** Properties of the request; a missing one changes nothing. */
export type EpicChanges = {
  title?: string | undefined;
  description?: string | null | undefined;
  state_event?: 'close' | 'reopen' | undefined;
  labels?: readonly string[] | undefined;
  add_labels?: readonly string[] | undefined;
  remove_labels?: readonly string[] | undefined;
  confidential?: boolean | undefined;
  /** A hex code or the name of a CSS colour. */
  color?: string | undefined;
  start_date_is_fixed?: boolean | undefined;
  start_date_fixed?: string | null | undefined;
  due_date_is_fixed?: boolean | undefined;
  due_date_fixed?: string | null | undefined;
  /** Only for owners and administrators. */
  created_at?: Date | undefined;
  updated_at?: Date | undefined;
};

export type NewEpic = Omit<EpicChanges, 'title' | 'state_event' | 'updated_at'> & { title: string };

/** Columns that a request sets on a new or existing epic. */
export type EpicColumns = Partial<
  Pick<
    EpicRow,
    | 'title'
    | 'description'
    | 'state'
    | 'closed_at'
    | 'closed_by_id'
    | 'confidential'
    | 'color'
    | 'start_date_is_fixed'
    | 'start_date_fixed'
    | 'due_date_is_fixed'
    | 'due_date_fixed'
    | 'last_edited_at'
    | 'created_at'
  >
>;

const plainColumns = [
  'title',
  'description',
  'confidential',
  'start_date_is_fixed',
  'start_date_fixed',
  'due_date_is_fixed',
  'due_date_fixed',
  'created_at',
] as const;

const sent = (changes: EpicChanges, names: readonly (keyof EpicChanges & keyof EpicColumns)[]): EpicColumns =>
  Object.fromEntries(names.flatMap((name) => (changes[name] === undefined ? [] : [[name, changes[name]]])));

/** The columns of a new epic; 400 for a wrong title, description or colour. */
export function newColumns(changes: EpicChanges): EpicColumns {
  checkTexts(changes);
  const { color } = changes;
  return { ...sent(changes, plainColumns), ...(color !== undefined && { color: colorCode(color) }) };
}

/** The columns whose values change; 400 as newColumns(). */
export function changedColumns(
  before: EpicRow,
  changes: EpicChanges,
  actor: { id: number },
  time: Date,
): EpicColumns {
  const columns = { ...newColumns(changes), ...stateColumns(before, changes.state_event, actor, time) };
  const changed: EpicColumns = Object.fromEntries(
    // `columns` has only columns of the row.
    Object.entries(columns).filter(([name, value]) => !isSame(value, before[name as keyof EpicRow])),
  );
  const edited = 'title' in changed || 'description' in changed;
  return edited ? { ...changed, last_edited_at: time } : changed;
}

const isSame = (one: unknown, other: unknown): boolean =>
  one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;

function stateColumns(
  before: EpicRow,
  event: EpicChanges['state_event'],
  actor: { id: number },
  time: Date,
): EpicColumns {
  if (event === 'close' && before.state === 'opened')
    return { state: 'closed', closed_at: time, closed_by_id: actor.id };
  if (event === 'reopen' && before.state === 'closed')
    return { state: 'opened', closed_at: null, closed_by_id: null };
  return {};
}

/** The properties of an epic that are compared. */
type EpicWithLabels = { epic: EpicRow; labels: readonly Labelled[] };

/** The differences, in the order of their system notes. */
export const epicDifferences = (before: EpicWithLabels, after: EpicWithLabels): WorkChange[] =>
  differences(stateOf(before), stateOf(after));

/** The properties that epics share with issues; the others are constant. */
const stateOf = ({ epic, labels }: EpicWithLabels): IssueState => ({
  title: epic.title,
  description: epic.description,
  state: epic.state,
  confidential: epic.confidential,
  start_date: epic.start_date_is_fixed ? epic.start_date_fixed : null,
  due_date: epic.due_date_is_fixed ? epic.due_date_fixed : null,
  labels,
  discussion_locked: null,
  issue_type: '',
  severity: '',
  weight: null,
  health_status: null,
  time_estimate: 0,
  assignees: [],
  milestone: null,
  original: null,
  epic: null,
});
