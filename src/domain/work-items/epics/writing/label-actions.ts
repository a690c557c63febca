/** The labels of epics as they change. */

import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { resolveLabels, withoutScopedSiblings } from '../../../planning/index.ts';
import type { Labelled } from '../../changes/issue-changes.ts';
import type { EpicChanges } from './epic-changes.ts';

/** The labels after the change. Unknown names become labels of the group where the actor may create them. */
export async function changedLabels(
  tx: Db,
  actor: Actor,
  group: AuthorizedGroup,
  before: readonly Labelled[],
  { labels, add_labels = [], remove_labels = [] }: EpicChanges,
): Promise<Labelled[]> {
  const named = await resolveLabels(tx, group, [...(labels ?? []), ...add_labels], { create: true, actor });
  const start = labels === undefined ? before : [];
  const gone = new Set(remove_labels.map((name) => name.trim()));
  const all = new Map<number, Labelled>([...start, ...named].map((label) => [label.id, label]));
  // Labels of one scope exclude each other: the last one stays (epics are from premium up, as scopes are).
  return withoutScopedSiblings([...all.values()]).filter(({ name }) => !gone.has(name));
}
