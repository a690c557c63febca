/** What keeps a pipeline from being made (facts for CI: When pipelines are created). Pure. */
import type { CompiledOutcome } from '../file/compile-thread.ts';

/** The keys that are given more than once, each once. */
export const doubled = (keys: readonly string[]): string[] => [
  ...new Set(keys.filter((key, at) => keys.indexOf(key) !== at)),
];

/** Whether the message of a commit asks for no pipeline. */
export const asksToSkip = (message: string): boolean => /\[(ci[ _-]skip|skip[ _-]ci)\]/i.test(message);

/** What stands for the configuration file where its path leads elsewhere: to an address, or to `FILE@GROUP/PROJECT[:REF]`. */
export function includedInstead(path: string): string | undefined {
  if (/^https?:\/\//.test(path)) return JSON.stringify({ include: [{ remote: path }] });
  const [, file, project, ref] = /^([^@]+ya?ml)@([^:]+)(?::(.+))?$/.exec(path) ?? [];
  return file && JSON.stringify({ include: [{ project, file, ref }] });
}

/** Whether a ref is protected, and whether the user may run pipelines of it as far as that goes. */
export type RightOnRef = { isProtected: boolean; mayRun: boolean };

/**
 * Of a merge request's pipeline: its source branch says whether it may run. It counts as protected where both branches are, and
 * the user may write to both: a fork decides nothing for the project that it wants to change, nor the other way round.
 */
export function rightOnMergeRequest(
  projectId: number,
  sourceBranch: string,
  {
    sourceProjectId,
    targetProjectId,
    targetBranch,
  }: { sourceProjectId: number; targetProjectId: number; targetBranch: string },
  onBranch: (name: string) => RightOnRef,
): RightOnRef {
  if (projectId !== sourceProjectId) return { isProtected: false, mayRun: true };
  const source = onBranch(sourceBranch);
  if (projectId !== targetProjectId) return { isProtected: false, mayRun: source.mayRun };
  const target = onBranch(targetBranch);
  return {
    isProtected: source.isProtected && source.mayRun && target.isProtected && target.mayRun,
    mayRun: source.mayRun,
  };
}

const FILTERED = {
  workflow_rules: 'The pipeline did not run. Review the [workflow:rules] configuration for the pipeline.',
  rules:
    'The resulting pipeline would have been empty. Review the [rules] configuration for the relevant jobs.',
};

/** What is said to who may not run pipelines of a protected ref. */
export const refusalOf = (ref: string): string =>
  `You do not have sufficient permission to run a pipeline on '${ref}'. Please select a different branch or contact your administrator for assistance.`;

/** Why what a file came to is no pipeline that could run; none where it is one. */
export function problemsOf(outcome: CompiledOutcome): string[] {
  if (outcome.kind === 'invalid') return outcome.errors;
  return outcome.kind === 'filtered' ? [FILTERED[outcome.by]] : [];
}
