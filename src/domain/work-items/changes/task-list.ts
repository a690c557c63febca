/** Task lists of descriptions: lines that start with a checkbox. */

/** A bullet or a number, quoted or not, and a checkbox with text behind it; `[~]` is no longer to be done. */
const TASK = /^[\s>]*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\](?=\s+\S)/;
const FENCE = /^\s*(`{3,}|~{3,})/;

export type TaskCounts = { count: number; completed_count: number };

export type Task = { text: string; completed: boolean };

/** The tasks in the Markdown; fenced code has none. */
function* tasksOf(markdown: string | null): Generator<Task> {
  if (!markdown?.includes('[')) return;
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      continue;
    }
    const [written, box] = (fence === undefined && TASK.exec(line)) || [];
    if (written !== undefined) yield { text: line.slice(written.length).trim(), completed: box !== ' ' };
  }
}

/** The number of tasks, and of checked ones. */
export function countTasks(markdown: string | null): TaskCounts {
  const counts = { count: 0, completed_count: 0 };
  for (const { completed } of tasksOf(markdown)) {
    counts.count += 1;
    if (completed) counts.completed_count += 1;
  }
  return counts;
}

/** Tasks that are in the same place in both texts, say the same, and are checked in one alone: as they are in the newer. */
export function toggledTasks(from: string | null, to: string | null): Task[] {
  const before = [...tasksOf(from)];
  return [...tasksOf(to)].filter((task, at) => {
    const old = before[at];
    return old?.text === task.text && old.completed !== task.completed;
  });
}

/** `1 of 2 checklist items completed`. */
export const taskStatus = ({ count, completed_count }: TaskCounts): string =>
  `${completed_count} of ${count} checklist item${count === 1 ? '' : 's'} completed`;
