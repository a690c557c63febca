/** Lists of users. Pure. */
import type { ValidationMessages } from '../../../platform/failure.ts';

const MAX_ID_LENGTH = 256;

/** The ids as they are kept: trimmed, each once, in their order. */
export const tidyIds = (text: string): string =>
  [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== '').join(',');

/** Messages for an invalid list; empty for a good one. */
export function checkList({ name, user_xids }: { name: string; user_xids: string }): ValidationMessages {
  const isTooLong = user_xids.split(',').some((id) => id.length > MAX_ID_LENGTH);
  return {
    ...(name.trim() === '' && { name: ["can't be blank"] }),
    ...(user_xids === '' && { user_xids: ["can't be blank"] }),
    ...(isTooLong && {
      user_xids: ['user_xids must be a string of unique comma separated values each 256 characters or less'],
    }),
  };
}
