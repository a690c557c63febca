/**
 * Issues of Jira: those that a push to the default branch, or a merge into it, closes go the way that the properties say; those that
 * commits and merge requests name get a comment and a link.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  MAX_SEARCHED,
  MAX_SIZE_IN_TEXTS,
  type Match,
  patternCompiler,
} from '../../../platform/patterns/pattern.ts';
import { call } from '../kinds/call.ts';
import { type Delivery, type DeliveryServices, type Properties, textOf } from '../kinds/description.ts';
import { jiraNames } from './issue-names.ts';
import { closedKeys, type FindKeys, namedKeys } from './keys.ts';

/** As far as payloads of hooks are read. */
type Payload = {
  object_kind: string;
  user?: { name: string };
  user_name?: string | null;
  ref?: string;
  project?: { path_with_namespace: string; default_branch: string | null };
  commits?: readonly { id: string; title: string; message: string; url: string }[];
  object_attributes?: {
    action?: string;
    iid?: number;
    target_branch?: string;
    title?: string;
    description?: string | null;
    url?: string;
  };
};

/** What names issues: a commit or a merge request. */
type Mention = { what: string; title: string; url: string; text: string };

function closingTexts({
  object_kind,
  ref,
  project,
  commits = [],
  object_attributes: request,
}: Payload): string[] {
  const branch = project?.default_branch;
  if (object_kind === 'push')
    return ref === `refs/heads/${branch}` ? commits.map(({ message }) => message) : [];
  if (request?.action !== 'merge' || request.target_branch !== branch) return [];
  return [request.title ?? '', request.description ?? ''];
}

function mentionsIn({ object_kind, commits = [], object_attributes: request }: Payload): Mention[] {
  if (object_kind === 'push')
    return commits.map(({ id, title, message, url }) => ({
      what: `commit ${id.slice(0, 8)}`,
      title,
      url,
      text: message,
    }));
  if (request?.action !== 'open') return [];
  const { iid, title = '', description, url = '' } = request;
  return [{ what: `merge request !${iid}`, title, url, text: `${title}\n${description ?? ''}` }];
}

type Transitioned = { key: string };
type Mentioned = { key: string; url: string; title: string; comment: string };

/** Characters that make markup in Jira. */
const quoted = (text: string): string => text.replace(/[\\{}[\]|*_^~+-]/g, '\\$&');

/** Of one event. */
const MAX_COMMENTS = 20;
/** Characters: those of a commit have no bound. */
const MAX_TITLE = 500;

function mentionedBy(payload: Payload, mentions: readonly Mention[], find?: FindKeys): Mentioned[] {
  const who = quoted(payload.user?.name ?? payload.user_name ?? 'Somebody');
  const place = quoted(payload.project?.path_with_namespace ?? '');
  return mentions
    .flatMap(({ what, title, url, text }) =>
      namedKeys(text, find).map((key) => ({
        key,
        url,
        title: `${what}: ${title.slice(0, MAX_TITLE)}`,
        comment: `${who} named this issue in [${quoted(what)} of ${place}|${url}]:\n${quoted(title.slice(0, MAX_TITLE))}`,
      })),
    )
    .slice(0, MAX_COMMENTS);
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

async function transition(services: DeliveryServices, issue: string, properties: Properties): Promise<void> {
  const url = `${issue}/transitions`;
  for (const id of await transitionsOf(services, url, properties))
    await call(services, {
      method: 'POST',
      url,
      headers: headersOf(properties),
      body: { transition: { id } },
    });
}

/** Comments on the issue and links it to what names it; what is linked already was told of, by another branch or another try. */
async function mention(
  services: DeliveryServices,
  issue: string,
  { url: address, title, comment }: Mentioned,
  properties: Properties,
): Promise<void> {
  const headers = headersOf(properties);
  const links = `${issue}/remotelink`;
  const linked = await call(services, {
    method: 'GET',
    url: `${links}?globalId=${encodeURIComponent(address)}`,
    headers,
  });
  if (linked !== undefined) return;
  await call(services, { method: 'POST', url: `${issue}/comment`, headers, body: { body: comment } });
  await call(services, {
    method: 'POST',
    url: links,
    headers,
    body: { globalId: address, object: { url: address, title } },
  });
}

/** What the properties' own names find in these texts; undefined for the common keys. */
async function ownNames(properties: Properties, texts: readonly string[]): Promise<FindKeys | undefined> {
  const pattern = jiraNames.pattern(properties);
  if (pattern === undefined) return undefined;
  const compiled = (await patternCompiler())(pattern, MAX_SIZE_IN_TEXTS);
  if ('problem' in compiled) return () => [];
  const found = new Map<string, Match[]>();
  for (const text of new Set(texts)) {
    // Each may take some milliseconds.
    if (found.size > 0) await nextTurn();
    const matches = compiled.findFirst(text.slice(0, MAX_SEARCHED));
    found.set(
      text,
      matches.filter(({ group }) => group !== ''),
    );
  }
  return (text) => found.get(text) ?? [];
}

export const jiraDelivery: Delivery = {
  async prepare({ body }, properties): Promise<(Transitioned | Mentioned)[]> {
    const payload = body as Payload;
    const goes =
      properties.jira_issue_transition_automatic === true ||
      textOf(properties, 'jira_issue_transition_id') !== '';
    const closing = goes ? closingTexts(payload) : [];
    const mentions = properties.comment_on_event_enabled === false ? [] : mentionsIn(payload);
    const find = await ownNames(properties, [...closing, ...mentions.map(({ text }) => text)]);
    return [...closedKeys(closing, find).map((key) => ({ key })), ...mentionedBy(payload, mentions, find)];
  },
  async send(services, prepared, properties) {
    const told = prepared as Transitioned | Mentioned;
    const server = (textOf(properties, 'api_url') || textOf(properties, 'url')).replace(/\/+$/, '');
    const issue = `${server}/rest/api/2/issue/${encodeURIComponent(told.key)}`;
    if ('comment' in told) await mention(services, issue, told, properties);
    else await transition(services, issue, properties);
  },
};
