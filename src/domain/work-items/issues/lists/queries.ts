/** Lists of issues: everywhere, in a group, in a project. */
import type { Static, TObject } from 'typebox';
import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Context } from '../../../../kernel/api/endpoint.ts';
import { now } from '../../../../platform/clock.ts';
import type { Page } from '../../../../platform/pagination/page.ts';
import { projectsAcross } from '../../../planning/index.ts';
import { type IssueRecord, type IssueRecordOptions, presentIssues } from '../records/issue-records.ts';
import { type IssueOrder, issueLists } from '../records/list-queries.ts';
import { type VisibleIssues, visibleIssues } from '../records/visibility-queries.ts';
import { issueFilter } from './filter-queries.ts';
import type { IssueFilterInput, IssueScope } from './schema.ts';

export const today = (): string => now().toISOString().slice(0, 10);

/** The issues that the caller sees in all projects, or in those of a group and its subgroups. */
export const issuesAcross = (
  caller: Caller,
  group: AuthorizedGroup | undefined,
  nonArchived: boolean,
): VisibleIssues => visibleIssues(caller, projectsAcross(group, nonArchived));

type Input = IssueFilterInput & {
  order_by?: IssueOrder;
  sort?: 'asc' | 'desc';
  with_labels_details?: boolean;
};
type ListContext = Pick<
  Context<Static<TObject>, unknown, Caller>,
  'db' | 'services' | 'settings' | 'actor' | 'page'
> & { input: Input };

/** One page of the records, newest first unless the client orders otherwise. */
export async function issuePage(
  request: ListContext,
  visible: VisibleIssues,
  scope: IssueScope,
  options: IssueRecordOptions,
): Promise<Page<IssueRecord>> {
  const { db, actor, input, page } = request;
  const filter = issueFilter(input, actor, scope, today());
  const query = { visible, filter, by: input.order_by ?? 'created_at', sort: input.sort ?? 'desc' } as const;
  const listed = await issueLists.page(db, query, page);
  const details = { ...options, withLabelsDetails: input.with_labels_details ?? false };
  return { ...listed, items: await presentIssues(request, listed.items, details) };
}
