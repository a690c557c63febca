/** Registries of what labels and milestones plan: each kind is registered by its owner. */

import type { RawBuilder } from 'kysely';
import type { Caller } from '../../kernel/actor.ts';
import { Registry } from '../../kernel/registry.ts';
import type { Db } from '../../platform/db/database.ts';

/** The counts of a label, in the words of its record. */
export type LabelCounts = {
  open_issues_count: number;
  closed_issues_count: number;
  open_merge_requests_count: number;
};

/** A kind of thing in projects that has labels and a milestone. */
export type Planned = {
  /** Its table, with `project_id` and `milestone_id`. */
  table: string;
  /** Its column in `label_links` and `resource_events`. */
  column: string;
  /** Its part of the counts of labels, as far as the caller sees; labels without any are not in the map. */
  countByLabel(
    db: Db,
    caller: Caller,
    labelIds: readonly number[],
  ): Promise<Map<number, Partial<LabelCounts>>>;
};

export const plannedKinds = new Registry<Planned>();

/** A kind of thing in projects that has any number of milestones. */
export type MilestoneHolder = {
  /** Selects the milestones that such things have: `project_id`, `milestone_id`. */
  select: RawBuilder<unknown>;
  /** What has the milestone in the project has the other one instead. */
  replace(tx: Db, projectId: number, milestoneId: number, by: number): Promise<void>;
};

/** A kind of thing in projects that has labels, and is none that is planned. */
export type LabelHolder = {
  /** Selects the labels that such things have: `project_id`, `label_id`. */
  select: RawBuilder<unknown>;
  /** What has the label in the project has the other one instead. */
  replace(tx: Db, projectId: number, labelId: number, by: number): Promise<void>;
};

export const labelHolders = new Registry<LabelHolder>();

export const milestoneHolders = new Registry<MilestoneHolder>();
