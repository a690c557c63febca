/** The ref that a pipeline is of, and the merge request, as its row has them. Pure. */
import type { ContextVariable, PipelineContext } from '../file/context.ts';
import type { PipelineRow } from '../processing/process-actions.ts';

export const valueNamed = (variables: readonly ContextVariable[], name: string): string | undefined =>
  variables.find(({ key }) => key === name)?.value;

type RefColumns = Pick<PipelineRow, 'ref' | 'tag' | 'source' | 'merge_request_variables'>;

/** The variables of merge requests that a pipeline was made with. */
export const variablesOfMergeRequests = ({
  merge_request_variables,
}: Pick<PipelineRow, 'merge_request_variables'>): ContextVariable[] =>
  merge_request_variables as ContextVariable[];

/** Whether it is a merge request's, or the child of one that is. */
export const isOfMergeRequest = (row: Pick<RefColumns, 'source' | 'merge_request_variables'>): boolean =>
  row.source === 'merge_request_event' ||
  (row.source === 'parent_pipeline' &&
    valueNamed(variablesOfMergeRequests(row), 'CI_MERGE_REQUEST_IID') !== undefined);

/** The ref of a pipeline as jobs know it. */
export function refOfPipeline(
  row: RefColumns,
): Pick<PipelineContext, 'ref'> & { kind: PipelineContext['refKind'] } {
  if (!isOfMergeRequest(row)) return { ref: row.ref, kind: row.tag ? 'tag' : 'branch' };
  return {
    ref: valueNamed(variablesOfMergeRequests(row), 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME') ?? row.ref,
    kind: 'merge_request',
  };
}
