/** Rules for a label's fields. Pure. */

import { invalid } from '../../../platform/failure.ts';
import { MAX_TITLE_LENGTH } from './label-names.ts';

/** The name without spaces around it; 400 for one that no label can have. */
export function labelName(text: string): string {
  const name = text.trim();
  if (name === '') throw invalid({ title: ["can't be blank"] });
  if (name.length > MAX_TITLE_LENGTH)
    throw invalid({ title: [`is too long (maximum is ${MAX_TITLE_LENGTH} characters)`] });
  if (name.includes(',')) throw invalid({ title: ['is invalid'] });
  return name;
}
