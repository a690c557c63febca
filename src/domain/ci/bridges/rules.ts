/** What a bridge starts and what it has of the pipeline that it follows (facts for CI: Downstream). Pure. */
import type { PipelineMergeRequest, PipelineVariable } from '../creation/compile-request.ts';
import type { ContextVariable } from '../file/context.ts';
import { expandText, newRoom, sourceOf, variableLookup } from '../file/expansion.ts';
import type { PlannedTrigger, YamlVariable } from '../file/plan.ts';
import { isOfMergeRequest, valueNamed, variablesOfMergeRequests } from '../pipelines/refs.ts';
import type { Ancestor } from '../processing/hierarchy-queries.ts';
import type { PipelineRow } from '../processing/process-actions.ts';
import type { Status } from '../processing/status.ts';

/** Children may have children, and no more. */
const MAX_CHILDREN_DEPTH = 2;
/** A pipeline of the same project, ref and source may come about so often in a line of them. */
const MAX_ROUNDS = 2;

/** The status of a bridge that follows a pipeline of this one. */
export function followingStatus(strategy: 'depend' | 'mirror', status: Status): Status {
  if (status === 'success' || status === 'canceled' || status === 'failed') return status;
  if (status === 'skipped') return strategy === 'depend' ? 'failed' : status;
  return strategy === 'mirror' && status === 'manual' ? status : 'running';
}

/** Why a pipeline may lead to no other; undefined where it may. `ancestry` begins with the pipeline itself. */
export function hierarchyRefusal(
  target: PlannedTrigger['target']['kind'],
  ancestry: readonly Pick<Ancestor, 'project_id' | 'ref' | 'source'>[],
): string | undefined {
  const children = ancestry.slice(0, MAX_CHILDREN_DEPTH).filter(({ source }) => source === 'parent_pipeline');
  if (target === 'child' && children.length === MAX_CHILDREN_DEPTH)
    return 'reached_max_descendant_pipelines_depth';
  if (target === 'child') return undefined;
  const rounds = new Map<string, number>();
  for (const { project_id, ref, source } of ancestry)
    if (source !== 'parent_pipeline') {
      const place = `${project_id} ${source} ${ref}`;
      rounds.set(place, (rounds.get(place) ?? 0) + 1);
    }
  return Math.max(...rounds.values()) > MAX_ROUNDS ? 'pipeline_loop_detected' : undefined;
}

/**
 * What the pipeline that a bridge starts is given: the variables of the file, with what they refer to, then those that the bridge's
 * own pipeline was started with. References to files stay.
 */
export function handedOn(
  forward: PlannedTrigger['forward'],
  ofFile: readonly YamlVariable[],
  given: readonly PipelineVariable[],
  known: readonly ContextVariable[],
): PipelineVariable[] | undefined {
  const find = sourceOf(known);
  const room = newRoom();
  const lookup = variableLookup((name) => {
    const variable = find(name);
    return variable?.file ? undefined : variable;
  }, room);
  const byKey = new Map<string, PipelineVariable>();
  if (forward.yamlVariables)
    for (const variable of ofFile) {
      const { key, value, raw } = variable;
      // Its own name means a variable that wins over it, if there is one.
      const meant = (name: string) => (find(name) === variable ? undefined : lookup(name));
      byKey.set(key, { key, value: raw ? value : expandText(value, meant, 'keep', room), raw });
    }
  if (forward.pipelineVariables) for (const variable of given) byKey.set(variable.key, variable);
  return room.left < 0 ? undefined : [...byKey.values()];
}

/** The merge request of a pipeline, for its children; undefined where it has none, or lost what it was told of it. */
export function requestOfMergeRequest(row: PipelineRow): PipelineMergeRequest | undefined {
  if (!isOfMergeRequest(row)) return undefined;
  const variables = variablesOfMergeRequests(row).filter(({ key }) => key !== 'CI_OPEN_MERGE_REQUESTS');
  const value = (name: string): string => valueNamed(variables, `CI_MERGE_REQUEST_${name}`) ?? '';
  if (value('IID') === '') return undefined;
  return {
    id: Number(value('ID')),
    iid: Number(value('IID')),
    sourceProjectId: Number(value('SOURCE_PROJECT_ID')),
    targetProjectId: Number(value('PROJECT_ID')),
    targetBranch: value('TARGET_BRANCH_NAME'),
    headSha: row.sha,
    variables: async () => variables,
  };
}
