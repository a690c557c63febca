/** Lists of issues. */
import { listsOf, type Order, plannedOrders } from '../../../planning/index.ts';
import type { IssueRow } from './issue-rows.ts';

const orders = {
  ...plannedOrders('issue_id'),
  relative_position: { place: 'i.relative_position' },
  due_date: { place: 'i.due_date', nullable: true },
  weight: { place: 'i.weight', nullable: true },
} as const satisfies Record<string, Order>;
export type IssueOrder = keyof typeof orders;
export const issueOrders = Object.keys(orders) as [IssueOrder, ...IssueOrder[]];

/** The orders that are columns, and so have keyset pages; a day is its midnight. */
export const issueKeysets = {
  created_at: 'time',
  updated_at: 'time',
  title: 'text',
  id: 'integer',
  weight: 'integer',
  due_date: 'time',
  relative_position: 'integer',
} as const;

export const issueLists = listsOf<IssueRow, IssueOrder>({ table: 'issues', orders });
