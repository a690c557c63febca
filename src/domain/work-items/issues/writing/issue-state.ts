/** The state of an issue after a change, and the columns that say so. Pure. */
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { withoutScopedSiblings } from '../../../planning/index.ts';
import {
  type IssueChanges,
  type IssueState,
  type Labelled,
  labelsAfter,
  type WorkChange,
} from '../../changes/issue-changes.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import type { ResolvedReferences } from './resolve-references.ts';

/** Labels of one scope exclude each other, from premium up: the last one stays. */
export const scoped = <T extends Labelled>(premium: boolean, labels: T[]): T[] =>
  premium ? withoutScopedSiblings(labels) : labels;

const given = <T>(value: T | undefined, otherwise: T): T => (value === undefined ? otherwise : value);

/** The issue as it will be: what was not asked for stays. */
export function stateAfter(
  before: IssueState,
  requested: IssueChanges,
  references: ResolvedReferences,
  premium: boolean,
): IssueState {
  const event = requested.state_event;
  const asksLabels =
    references.labels !== undefined || references.addLabels.length + references.removeLabels.length > 0;
  const labels = labelsAfter(before.labels, {
    labels: references.labels,
    add: references.addLabels,
    remove: references.removeLabels,
  });
  return {
    title: given(requested.title, before.title),
    description: given(requested.description, before.description),
    state: event === undefined ? before.state : event === 'close' ? 'closed' : 'opened',
    confidential: given(requested.confidential, before.confidential),
    discussion_locked: given(requested.discussion_locked, before.discussion_locked),
    issue_type: given(requested.issue_type, before.issue_type),
    severity: given(requested.severity, before.severity),
    start_date: given(requested.start_date, before.start_date),
    due_date: given(requested.due_date, before.due_date),
    weight: given(requested.weight, before.weight),
    health_status: given(requested.health_status, before.health_status),
    time_estimate: given(requested.time_estimate, before.time_estimate),
    assignees: given(references.assignees, before.assignees),
    labels: asksLabels ? scoped(premium, labels) : before.labels,
    milestone: given(references.milestone, before.milestone),
    epic: given(references.epic, before.epic),
    original: given(references.original, before.original),
  };
}

/** The columns to write, with the times of the changes. */
export function columnsOf(
  after: IssueState,
  changes: readonly WorkChange[],
  actor: Actor,
  requested: Pick<IssueChanges, 'created_at' | 'updated_at'>,
): Partial<Omit<IssueRow, 'id'>> {
  const time = requested.updated_at ?? now();
  const state = changes.find((change) => change.what === 'state');
  const edited = changes.some(({ what }) => what === 'title' || what === 'description');
  const { assignees: _, labels: __, milestone, epic: ___, original, ...columns } = after;
  return {
    ...columns,
    milestone_id: milestone?.id ?? null,
    duplicated_to_id: original?.id ?? null,
    ...(state?.to === 'closed' && { closed_at: time, closed_by_id: actor.id }),
    ...(state?.to === 'reopened' && { closed_at: null, closed_by_id: null }),
    ...(edited && { last_edited_at: time }),
    ...(requested.created_at && { created_at: requested.created_at }),
    updated_at: time,
  };
}
