/** Titles that are made of other texts: commits' first lines have no bound. Pure. */
import { hasMoreCharacters } from '../../../platform/characters.ts';

/** Characters, of a merge request's title (facts-merge-requests §1.1). */
const MAX_TITLE_LENGTH = 255;
const CUT = '...';

export const fitsTitle = (text: string): boolean => !hasMoreCharacters(text, MAX_TITLE_LENGTH);

/** The text, or its beginning with `...`: 255 characters at most. */
export const fittingTitle = (text: string): string =>
  fitsTitle(text)
    ? text
    : [...text.slice(0, 2 * MAX_TITLE_LENGTH)].slice(0, MAX_TITLE_LENGTH - CUT.length).join('') + CUT;
