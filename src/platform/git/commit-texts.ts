/** What a commit is called: its title, the rest of its message, its short id. Pure. */

/** The first line with text; empty for an empty message. As long as the line is: git does not bound it. */
export const titleOf = (message: string): string => message.trimStart().split('\n', 1)[0]?.trimEnd() ?? '';

/** The message after its first line with text, trimmed; empty where there is none. */
export function bodyOf(message: string): string {
  const text = message.trim();
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end).trim();
}

const SHORT_SHA_LENGTH = 8;

export const shortSha = (sha: string): string => sha.slice(0, SHORT_SHA_LENGTH);
