/** Resolves what a request for an issue or merge request names: people, labels and a milestone. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type ActorContext, type Noteable, readersAmong, usersByIds } from '../../conversation/index.ts';
import {
  availableMilestone,
  isLabelName,
  type LabelRow,
  type MilestoneRow,
  resolveLabels,
} from '../../planning/index.ts';
import type { IssueChanges, NamedUser, Referenced } from './issue-changes.ts';

export type NamedReferences = {
  labels: LabelRow[] | undefined;
  addLabels: LabelRow[];
  removeLabels: LabelRow[];
  /** Whether labels are missing; resolveLabels() decides who may create them. */
  lacksLabels: boolean;
  milestone: Referenced | null | undefined;
};

type Naming = Pick<IssueChanges, 'labels' | 'add_labels' | 'remove_labels' | 'milestone_id'>;

/** Reference to a milestone: by number in its project, by title from a group. */
export const milestoneReference = (milestone: Pick<MilestoneRow, 'project_id' | 'iid' | 'title'>): string =>
  milestone.project_id === null ? `%"${milestone.title}"` : `%${milestone.iid}`;

/** The users who may read the noteable, in the order requested; others are left out. */
export async function readersNamed(
  { db, services, actor }: ActorContext,
  noteable: Noteable,
  ids: readonly number[],
): Promise<NamedUser[]> {
  const wanted = [...new Set(ids)].filter((id) => id > 0);
  if (wanted.length === 0) return [];
  const people = await usersByIds(db, wanted);
  const others = people.filter(({ id }) => id !== actor.id);
  const readers = await readersAmong(db, services.database.points, noteable, others);
  const byId = new Map(people.map((person) => [person.id, person]));
  return wanted.flatMap((id) => {
    const person = byId.get(id);
    return person && (id === actor.id || readers.has(id)) ? [{ id, username: person.username }] : [];
  });
}

/** Whether a valid name has no label among those found. */
const isMissing = (found: readonly LabelRow[]) => {
  const known = new Set(found.map(({ name }) => name));
  return (name: string): boolean => isLabelName(name.trim()) && !known.has(name.trim());
};

async function findMilestone(db: Db, project: AuthorizedProject, id: number | null | undefined) {
  if (id === undefined) return undefined;
  if (!id) return null;
  const milestone = await availableMilestone(db, project, id);
  return { id, reference: milestoneReference(milestone) };
}

/** The labels and the milestone of the changes. 400 for a missing milestone. */
export async function resolveNamed(
  { db, actor }: Pick<ActorContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  { labels, add_labels = [], remove_labels = [], milestone_id }: Naming,
): Promise<NamedReferences> {
  const findLabels = (names: readonly string[]) =>
    resolveLabels(db, project, names, { create: false, actor });
  const [replacing, addLabels, removeLabels, milestone] = await Promise.all([
    labels && findLabels(labels),
    findLabels(add_labels),
    findLabels(remove_labels),
    findMilestone(db, project, milestone_id),
  ]);
  const lacksLabels = [...(labels ?? []), ...add_labels].some(
    isMissing([...(replacing ?? []), ...addLabels]),
  );
  return { labels: replacing, addLabels, removeLabels, lacksLabels, milestone };
}

/**
 * The references with missing labels, which are created in the transaction of the write: a refused request
 * leaves none.
 */
export async function withNewLabels<Found extends NamedReferences>(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  { labels, add_labels = [] }: Naming,
  references: Found,
): Promise<Found> {
  if (!references.lacksLabels) return references;
  const known = [...(references.labels ?? []), ...references.addLabels];
  const names = [...(labels ?? []), ...add_labels];
  const all = await resolveLabels(tx, project, names, { create: true, actor, known });
  const byName = new Map(all.map((label) => [label.name, label]));
  const named = (names: readonly string[]) => names.flatMap((name) => byName.get(name.trim()) ?? []);
  return { ...references, labels: labels && named(labels), addLabels: named(add_labels) };
}
