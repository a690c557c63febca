/** Lists of merge requests. */
import { listsOf, type Order, plannedOrders } from '../../planning/index.ts';
import type { MergeRequestRow } from './merge-request-rows.ts';

const orders = {
  ...plannedOrders('merge_request_id'),
  merged_at: { place: 'i.merged_at', nullable: true },
} as const satisfies Record<string, Order>;
export type MergeRequestOrder = keyof typeof orders;

/** The values of `order_by` (facts: Merge requests). */
export const mergeRequestOrders = [
  'created_at',
  'label_priority',
  'milestone_due',
  'popularity',
  'priority',
  'title',
  'updated_at',
  'merged_at',
] as const satisfies readonly MergeRequestOrder[];

export const mergeRequestLists = listsOf<MergeRequestRow, MergeRequestOrder>({
  table: 'merge_requests',
  orders,
});
