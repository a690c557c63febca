/** Task lists of descriptions: lines that start with a checkbox. */

/** A bullet or a number, quoted or not, and a checkbox with text behind it; `[~]` is no longer to be done. */
const TASK = /^[\s>]*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\](?=\s+\S)/;
const FENCE = /^\s*(`{3,}|~{3,})/;

export type TaskCounts = { count: number; completed_count: number };

/** The number of tasks in the Markdown, and of checked ones; fenced code has none. */
export function countTasks(markdown: string | null): TaskCounts {
  const counts = { count: 0, completed_count: 0 };
  if (!markdown?.includes('[')) return counts;
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      continue;
    }
    const box = fence === undefined ? TASK.exec(line)?.[1] : undefined;
    if (box === undefined) continue;
    counts.count += 1;
    if (box !== ' ') counts.completed_count += 1;
  }
  return counts;
}

/** `1 of 2 checklist items completed`. */
export const taskStatus = ({ count, completed_count }: TaskCounts): string =>
  `${completed_count} of ${count} checklist item${count === 1 ? '' : 's'} completed`;
