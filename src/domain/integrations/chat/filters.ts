/** Which events an integration tells of, by branches and labels. Pure. */
import { shortRef } from '../../../platform/git/names.ts';
import { type Properties, textOf } from '../kinds/description.ts';
import type { ChatPayload } from './message.ts';

/** The branch of a push or of a pipeline; undefined where it has none. */
function branchOf({
  object_kind,
  ref = '',
  ref_protected,
  object_attributes: pipeline,
}: ChatPayload): { name: string | undefined; isProtected: boolean } | undefined {
  if (object_kind === 'pipeline')
    return pipeline?.tag ? undefined : { name: pipeline?.ref, isProtected: pipeline?.protected_ref === true };
  const short = shortRef(ref);
  return short?.kind === 'branch' ? { name: short.name, isProtected: ref_protected === true } : undefined;
}

function isBranchWanted(choice: string, payload: ChatPayload): boolean {
  const branch = branchOf(payload);
  if (!branch || choice === 'all') return true;
  if (choice === 'protected') return branch.isProtected;
  const isDefault = branch.name === payload.project?.default_branch;
  return isDefault || (choice === 'default_and_protected' && branch.isProtected);
}

const isOutcomeWanted = (properties: Properties, { object_kind, object_attributes }: ChatPayload): boolean =>
  object_kind !== 'pipeline' ||
  object_attributes?.status !== 'success' ||
  properties.notify_only_broken_pipelines === false;

/** The names in `~bug,~"needs a look"`. */
export const labelNames = (written: string): string[] =>
  written
    .split(',')
    .map((name) =>
      name
        .trim()
        .replace(/^~/, '')
        .replace(/^"(.*)"$/, '$1'),
    )
    .filter((name) => name !== '');

function areLabelsWanted(wanted: readonly string[], all: boolean, payload: ChatPayload): boolean {
  const { object_kind: kind, labels, issue, merge_request } = payload;
  if (wanted.length === 0 || !/^(?:issue|work_item|merge_request|note)$/.test(kind)) return true;
  const had = new Set((labels ?? issue?.labels ?? merge_request?.labels ?? []).map(({ title }) => title));
  return all ? wanted.every((name) => had.has(name)) : wanted.some((name) => had.has(name));
}

/** Whether the properties want the event. */
export const isWanted = (properties: Properties, payload: ChatPayload): boolean =>
  isBranchWanted(textOf(properties, 'branches_to_be_notified'), payload) &&
  isOutcomeWanted(properties, payload) &&
  areLabelsWanted(
    labelNames(textOf(properties, 'labels_to_be_notified')),
    textOf(properties, 'labels_to_be_notified_behavior') === 'match_all',
    payload,
  );
