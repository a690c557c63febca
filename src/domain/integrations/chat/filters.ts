/** Which events an integration tells of, by branches and labels. Pure. */
import { shortRef } from '../../../platform/git/names.ts';
import { type Properties, textOf } from '../kinds/description.ts';
import type { ChatPayload } from './message.ts';

function isBranchWanted(choice: string, { ref = '', ref_protected, project }: ChatPayload): boolean {
  const short = shortRef(ref);
  if (short?.kind !== 'branch') return true;
  const isDefault = short.name === project?.default_branch;
  if (choice === 'all') return true;
  if (choice === 'protected') return ref_protected === true;
  return isDefault || (choice === 'default_and_protected' && ref_protected === true);
}

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
  areLabelsWanted(
    labelNames(textOf(properties, 'labels_to_be_notified')),
    textOf(properties, 'labels_to_be_notified_behavior') === 'match_all',
    payload,
  );
