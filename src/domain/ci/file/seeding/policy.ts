/** `only:` and `except:` (facts-ci: 2.6). */
import type { PipelineContext } from '../context.ts';
import { type Hash, isHash, type Value } from '../reading/value.ts';
import type { Conditions } from '../rules/conditions.ts';

type Lookup = (name: string) => string | undefined;

const defaultRefs: Hash = new Map([['refs', ['branches', 'tags']]]);

const asHash = (policy: Value | undefined): Hash | undefined => {
  if (Array.isArray(policy)) return new Map([['refs', policy]]);
  return isHash(policy) ? policy : undefined;
};

/** Whether a job without rules is for the pipeline. `always`: it need not be said for which ones. */
export async function isForPipeline(
  job: Hash,
  always: boolean,
  context: PipelineContext,
  conditions: Conditions,
  variable: Lookup,
): Promise<boolean> {
  const [only, except] = [asHash(job.get('only')), asHash(job.get('except'))];
  const wanted: Hash = only || !always ? new Map([...defaultRefs, ...(only ?? [])]) : new Map();
  for await (const answer of answers(wanted, context, conditions, variable)) if (!answer) return false;
  if (!except) return true;
  for await (const answer of answers(except, context, conditions, variable)) if (answer) return false;
  return true;
}

/** For each part of the policy whether it fits; a list fits with any of its items. */
async function* answers(
  policy: Hash,
  context: PipelineContext,
  conditions: Conditions,
  variable: Lookup,
): AsyncGenerator<boolean> {
  for (const [part, value] of policy) {
    const items = Array.isArray(value) ? value.map(String) : [];
    if (part === 'refs') yield items.some((item) => isRef(item, context, conditions));
    else if (part === 'variables') yield items.some((item) => conditions.holds(item, variable));
    else if (part === 'changes') yield await conditions.changed(value, variable);
    // No cluster is known here.
    else if (part === 'kubernetes') yield variable('CI_KUBERNETES_ACTIVE') === 'true';
  }
}

function isRef(
  item: string,
  { at, source, ref, refKind }: PipelineContext,
  { compile }: Conditions,
): boolean {
  const [, pattern = '', project] = /^(\/.*\/[ismU]*|[^@]*)(?:@(.*))?$/s.exec(item) ?? [];
  if (project !== undefined && project !== at.project) return false;
  if (pattern === 'tags' && refKind === 'tag') return true;
  if (pattern === 'branches' && refKind === 'branch') return true;
  const kind = source.replace(/_event$/, '');
  if (pattern === kind || pattern === `${kind}${kind.endsWith('h') ? 'es' : 's'}`) return true;
  return pattern.startsWith('/') ? (compile(pattern)?.(ref) ?? false) : pattern === ref;
}
