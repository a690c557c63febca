/** Commits that name tasks of Asana: they are comments there, and complete the tasks that they close. */
import { shortRef } from '../../../platform/git/names.ts';
import { call } from '../kinds/call.ts';
import { type Delivery, textOf } from '../kinds/description.ts';

type Payload = {
  ref?: string;
  user_name?: string | null;
  project?: { path_with_namespace: string };
  commits?: readonly { message: string; url: string }[];
};

const reference =
  /(?<closing>\b(?:fix(?:e[sd])?|clos(?:e[sd]?|ing)|resolv(?:e[sd]?|ing)):? +)?(?:(?<![\w#])#(?<task>\d{5,20})(?!\w)|https:\/\/app\.asana\.com\/\d{1,3}\/\d{1,20}\/(?<linked>\d{5,20})(?:\/f)?(?![\w/]))/gi;

/** Of one commit. */
const MAX_TASKS = 20;

/** The tasks that a message names, with whether it closes them. */
export function tasksIn(message: string): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { groups = {} } of message.matchAll(reference)) {
    const task = groups.task ?? groups.linked ?? '';
    if (found.size === MAX_TASKS && !found.has(task)) break;
    found.set(task, found.get(task) === true || groups.closing !== undefined);
  }
  return found;
}

/** Whether the branch is one of those between commas; any, where there are none. */
const isBranchWanted = (wanted: string, ref: string): boolean => {
  const names = wanted.split(',').map((name) => name.trim());
  return wanted.trim() === '' || names.includes(shortRef(ref)?.name ?? '');
};

type Prepared = { task: string; closes: boolean; text: string };

/** Characters of a message in a comment. */
const MAX_TEXT = 10_000;

export const asanaDelivery = (server: string): Delivery => ({
  prepare({ body }, properties): Prepared[] {
    const { ref = '', user_name, project, commits = [] } = body as Payload;
    if (!isBranchWanted(textOf(properties, 'restrict_to_branch'), ref)) return [];
    const place = `${user_name ?? 'Somebody'} pushed to branch ${shortRef(ref)?.name} of ${project?.path_with_namespace}`;
    return commits.flatMap(({ message, url }) =>
      [...tasksIn(message)].map(([task, closes]) => ({
        task,
        closes,
        text: `${place} (${url}):\n${message.slice(0, MAX_TEXT)}`,
      })),
    );
  },
  async send(services, prepared, properties) {
    const { task, closes, text } = prepared as Prepared;
    const url = `${server}/api/1.0/tasks/${task}`;
    const headers = { authorization: `Bearer ${textOf(properties, 'api_key')}` };
    // First what may be done twice: a comment is there once for each time that this is tried.
    if (closes) await call(services, { method: 'PUT', url, headers, body: { data: { completed: true } } });
    await call(services, { method: 'POST', url: `${url}/stories`, headers, body: { data: { text } } });
  },
});
