/** What a label's fields must be. Pure. */
import { MAXIMUM_TITLE } from '../../core/work/label-names.ts';
import { Failure, invalid } from '../../platform/failure.ts';
import type { Either } from './schema.ts';

const incomplete = (error: string) => new Failure('bad_request', `400 Bad request - ${error}`, { error });

/** The name without spaces around it; 400 for one that no label can have. */
export function labelName(text: string): string {
  const name = text.trim();
  if (name === '') throw invalid({ title: ["can't be blank"] });
  if (name.length > MAXIMUM_TITLE)
    throw invalid({ title: [`is too long (maximum is ${MAXIMUM_TITLE} characters)`] });
  if (name.includes(',')) throw invalid({ title: ['is invalid'] });
  return name;
}

/** The one of the two that names a label; 400 for none and for both. */
export function nameOf({ label_id, name }: Either): string {
  if (label_id !== undefined && name !== undefined) throw incomplete('label_id, name are mutually exclusive');
  const named = label_id ?? name;
  if (named === undefined)
    throw incomplete('label_id, name are missing, exactly one parameter must be provided');
  return String(named);
}

/** 400 for a change of nothing; only labels of projects have a priority there. */
export function refuseEmpty(sent: object, ofProject: boolean): void {
  const names = ['new_name', 'color', 'description', 'archived', ...(ofProject ? ['priority'] : [])];
  if (names.some((name) => name in sent)) return;
  throw incomplete(`${names.join(', ')} are missing, at least one parameter must be provided`);
}
