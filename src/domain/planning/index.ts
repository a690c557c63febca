/** Planning: labels, milestones and iterations of projects and groups. */
export { nextIid } from './counters.ts';
export { IterationRecord } from './iterations/iteration-records.ts';
export { labelsCapability } from './labels/capability.ts';
export { availableLabels, resolveLabels } from './labels/label-find.ts';
export { isLabelName, withoutScopedSiblings } from './labels/label-names.ts';
export {
  colorCode,
  LabelBasicRecord,
  type LabelBasicRow,
  type LabelRow,
  labelsOf,
  presentLabelBasic,
  selectLabelsOf,
  textColor,
} from './labels/label-records.ts';
export { labelReadsOf } from './labels/routes.ts';
export { milestonesCapability } from './milestones/capability.ts';
export {
  availableMilestone,
  availableMilestoneByTitle,
  selectMilestone,
} from './milestones/milestone-find.ts';
export {
  MilestoneRecord,
  type MilestoneRow,
  type MilestoneWithPath,
  milestoneOfJson,
  milestonesById,
  presentMilestone,
  selectMilestonesOf,
} from './milestones/milestone-records.ts';
export { milestoneReadsOf } from './milestones/routes.ts';
export { type LabelCounts, type Planned, plannedKinds } from './planned.ts';
export { remapPlanning } from './remap-planning.ts';
