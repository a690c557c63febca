/** Planning: labels, milestones and iterations of projects and groups. */
export { IterationRecord } from './iterations/iteration-records.ts';
export { labelsCapability } from './labels/capability.ts';
export { isLabelName, withoutScopedSiblings } from './labels/label-names.ts';
export {
  colorCode,
  LabelBasicRecord,
  type LabelBasicRow,
  type LabelOfTargets,
  LabelOrName,
  type LabelRow,
  labelsByTarget,
  presentLabelBasic,
  textColor,
} from './labels/label-records.ts';
export { availableLabels, labelsOf, selectLabelsOf } from './labels/queries.ts';
export { resolveLabels } from './labels/resolve-actions.ts';
export { labelReadsOf } from './labels/routes.ts';
export { projectsAcross, projectsOf } from './lists/across-queries.ts';
export {
  clauseList,
  exclusive,
  isNone,
  negated,
  plannedFilters,
  presence,
  userNamed,
} from './lists/filter-queries.ts';
export {
  type Clause,
  type Condition,
  type Filter,
  listsOf,
  type Order,
  plannedOrders,
  type Visible,
} from './lists/list-queries.ts';
export {
  availableMilestone,
  availableMilestoneByTitle,
  availableMilestones,
  selectMilestone,
} from './milestones/available-queries.ts';
export { milestonesCapability } from './milestones/capability.ts';
export {
  MilestoneRecord,
  type MilestoneRow,
  type MilestoneWithPath,
  milestoneOfJson,
  presentMilestone,
} from './milestones/milestone-records.ts';
export { milestonesById, selectMilestonesOf } from './milestones/queries.ts';
export { milestoneReadsOf } from './milestones/routes.ts';
export { milestoneSearch } from './milestones/search-scope.ts';
export {
  type LabelCounts,
  type LabelHolder,
  labelHolders,
  type MilestoneHolder,
  milestoneHolders,
  type Planned,
  plannedKinds,
} from './planned.ts';
export { remapPlanning } from './remap-actions.ts';
