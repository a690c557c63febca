/** Issues of Jira that a push to the default branch, or a merge into it, closes: they go the way that the properties say. */
import type { Json } from '../../../platform/db/rows.ts';
import { call } from '../kinds/call.ts';
import { type Delivery, type DeliveryServices, type Properties, textOf } from '../kinds/description.ts';
import { closedKeys } from './closing.ts';

/** As far as payloads of hooks are read. */
type Payload = {
  object_kind: string;
  ref?: string;
  project?: { default_branch: string | null };
  commits?: readonly { message: string }[];
  object_attributes?: {
    action?: string;
    target_branch?: string;
    title?: string;
    description?: string | null;
  };
};

function textsOf({ object_kind, ref, project, commits = [], object_attributes: request }: Payload): string[] {
  const branch = project?.default_branch;
  if (object_kind === 'push')
    return ref === `refs/heads/${branch}` ? commits.map(({ message }) => message) : [];
  if (request?.action !== 'merge' || request.target_branch !== branch) return [];
  return [request.title ?? '', request.description ?? ''];
}

function headersOf(properties: Properties): Record<string, string> {
  const password = textOf(properties, 'password');
  if (textOf(properties, 'jira_auth_type') === '1') return { authorization: `Bearer ${password}` };
  const pair = `${textOf(properties, 'username')}:${password}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

type Transitions = { transitions?: readonly { id?: unknown; to?: { statusCategory?: { key?: unknown } } }[] };

/** The ids of the transitions that close: those that are set, or the first that leads to what is done. */
async function transitionsOf(
  services: DeliveryServices,
  url: string,
  properties: Properties,
): Promise<string[]> {
  const set = textOf(properties, 'jira_issue_transition_id').match(/\d+/g);
  if (properties.jira_issue_transition_automatic !== true) return set ?? [];
  const body = await call(services, { method: 'GET', url, headers: headersOf(properties) });
  let answer: Transitions = {};
  try {
    answer = JSON.parse(body ?? '{}');
  } catch {
    // Whatever answered is no Jira: there is nothing to be done.
  }
  const done = answer.transitions?.find?.(({ to }) => to?.statusCategory?.key === 'done');
  return typeof done?.id === 'string' ? [done.id] : [];
}

export const jiraDelivery: Delivery = {
  prepare({ body }, properties): Json[] {
    const goes =
      properties.jira_issue_transition_automatic === true ||
      textOf(properties, 'jira_issue_transition_id') !== '';
    return goes ? closedKeys(textsOf(body as Payload)) : [];
  },
  async send(services, prepared, properties) {
    const server = (textOf(properties, 'api_url') || textOf(properties, 'url')).replace(/\/+$/, '');
    const url = `${server}/rest/api/2/issue/${String(prepared)}/transitions`;
    for (const id of await transitionsOf(services, url, properties))
      await call(services, {
        method: 'POST',
        url,
        headers: headersOf(properties),
        body: { transition: { id } },
      });
  },
};
