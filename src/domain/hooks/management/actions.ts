/** Makes webhooks, changes and deletes them. */
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import {
  auditedParent,
  isInstance,
  type ParentOrInstance,
  parentColumns,
  parentKind,
} from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest } from '../../../platform/failure.ts';
import { patternProblem } from '../../../platform/patterns/pattern.ts';
import { seal } from '../../../platform/secret.ts';
import { requireReachable } from './addresses.ts';
import { flagsOf, type HookFlag, isOnByDefault } from './kinds.ts';
import { countHooks, type HookRow, lockHook } from './queries.ts';
import {
  MAX_HOOKS,
  originOf,
  placeholdersOf,
  requireAddress,
  requireHeaders,
  requireToken,
  unprocessable,
  valuesOf,
} from './rules.ts';
import type { HookChanges } from './schema.ts';
import { type HookSecrets, readSecrets } from './secrets.ts';

export type HookContext = {
  services: Needs<'database' | 'secretKey'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: ParentOrInstance;
};

const audit = (
  tx: Db,
  { actor, subject }: HookContext,
  event: 'created' | 'updated' | 'deleted',
  { id, name }: Pick<HookRow, 'id' | 'name'>,
): Promise<void> => {
  // The address may have a secret in it.
  const details = { target_id: id, target_type: 'WebHook', target_details: name ?? `Hook ${id}` };
  return announce(tx, {
    author: actor,
    audit: { entity: auditedParent(subject), event: `webhook_${event}`, details },
  });
};

/** 422 for values that no request could be made of. */
async function requireGood(
  context: HookContext,
  { url, token, headers, variables }: HookSecrets,
  { push_events_branch_filter: filter, branch_filter_strategy: strategy }: Partial<HookRow>,
): Promise<void> {
  requireAddress(url, variables);
  requireReachable(url, variables, context);
  requireHeaders(headers);
  requireToken(token);
  if (filter && strategy === 'regex' && (await patternProblem(filter)) !== undefined)
    throw unprocessable('Invalid branch filter given');
}

/** The columns of the secrets. */
const sealed = (key: string, { url, token, headers, variables }: HookSecrets) => ({
  url_sealed: seal(key, url),
  token_sealed: token === null ? null : seal(key, token),
  custom_headers_sealed: Object.keys(headers).length === 0 ? null : seal(key, JSON.stringify(headers)),
  url_variables_sealed: Object.keys(variables).length === 0 ? null : seal(key, JSON.stringify(variables)),
});

/** What the request says of the columns that are no secrets and no flags. */
const plainColumns = (changes: HookChanges) => ({
  ...(changes.name !== undefined && { name: changes.name }),
  ...(changes.description !== undefined && { description: changes.description }),
  ...(changes.enable_ssl_verification !== undefined && {
    enable_ssl_verification: changes.enable_ssl_verification,
  }),
  ...(changes.push_events_branch_filter !== undefined && {
    push_events_branch_filter: changes.push_events_branch_filter,
  }),
  ...(changes.branch_filter_strategy !== undefined && {
    branch_filter_strategy: changes.branch_filter_strategy,
  }),
  ...(changes.custom_webhook_template !== undefined && {
    custom_webhook_template: changes.custom_webhook_template || null,
  }),
});

/** The flags that are on, by those before and what the request says. */
const eventsAfter = (
  parent: ParentOrInstance,
  isOn: (flag: HookFlag) => boolean,
  changes: HookChanges,
): HookFlag[] => flagsOf(parentKind(parent)).filter((flag) => changes[flag] ?? isOn(flag));

/** Makes a hook; 422 for an address, headers or a filter that cannot be, and for one hook too many. */
export async function createHook(
  context: HookContext,
  input: HookChanges & { url: string },
): Promise<HookRow> {
  const { services, subject } = context;
  const kind = parentKind(subject);
  const secrets: HookSecrets = {
    url: input.url,
    token: input.token || null,
    headers: valuesOf(input.custom_headers ?? []),
    variables: valuesOf(input.url_variables ?? []),
  };
  const time = now();
  const row = {
    enable_ssl_verification: true,
    branch_filter_strategy: 'wildcard' as const,
    ...plainColumns(input),
    ...(isInstance(subject) ? {} : parentColumns(subject)),
    events: eventsAfter(subject, (flag) => isOnByDefault(flag, kind), input),
    created_at: time,
    updated_at: time,
  };
  await requireGood(context, secrets, row);
  return inTransaction(services.database.db, async (tx) => {
    if (!isInstance(subject)) await lockParent(tx, subject);
    const most = kind === 'instance' ? undefined : MAX_HOOKS[kind];
    if (most !== undefined && (await countHooks(tx, subject)) >= most)
      throw unprocessable(`Maximum number of ${kind} hooks (${most}) exceeded`, {
        base: [`Maximum number of ${kind} hooks (${most}) exceeded`],
      });
    const hook = await tx
      .insertInto('hooks')
      .values({ ...row, ...sealed(services.secretKey, secrets) })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'created', hook);
    return hook;
  });
}

/** Whether another server would get the secrets that were meant for the one before. */
const isMoved = (before: HookSecrets, after: HookSecrets): boolean =>
  originOf(before.url, before.variables) !== originOf(after.url, after.variables);

/**
 * The secrets after a change. A new address gets none of those that were meant for the old one: who may change a hook may not
 * read them.
 */
function secretsAfter(before: HookSecrets, changes: HookChanges): HookSecrets {
  const { url = before.url, token, custom_headers, url_variables } = changes;
  const given = valuesOf(url_variables ?? []);
  const stays =
    url === before.url && !isMoved(before, { ...before, variables: { ...before.variables, ...given } });
  const kept = stays ? before : { token: null, headers: {}, variables: {} };
  return {
    url,
    token: token === undefined ? kept.token : token || null,
    headers: { ...kept.headers, ...valuesOf(custom_headers ?? []) },
    variables: { ...kept.variables, ...given },
  };
}

/** Changes the locked hook's row and secrets. */
async function change(
  tx: Db,
  context: HookContext,
  row: HookRow,
  secrets: HookSecrets,
  columns: Partial<Omit<HookRow, 'id'>> = {},
): Promise<HookRow> {
  await requireGood(context, secrets, { ...row, ...columns });
  const hook = await tx
    .updateTable('hooks')
    .set({ ...columns, ...sealed(context.services.secretKey, secrets), updated_at: now() })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await audit(tx, context, 'updated', hook);
  return hook;
}

/** Changes what the request names; 404 without the hook, 400 for a request that names nothing. */
export function updateHook(context: HookContext, id: number, changes: HookChanges): Promise<HookRow> {
  if (Object.values(changes).every((value) => value === undefined))
    throw badRequest('No parameters provided');
  return inTransaction(context.services.database.db, async (tx) => {
    const { subject, services } = context;
    const row = found(await lockHook(tx, subject, id));
    const isOn = (flag: HookFlag): boolean => row.events.includes(flag);
    const columns = { ...plainColumns(changes), events: eventsAfter(subject, isOn, changes) };
    return change(tx, context, row, secretsAfter(readSecrets(services.secretKey, row), changes), columns);
  });
}

type Keyed = 'headers' | 'variables';

/** Sets a header or a variable of the hook, or removes it without a value; 404 without the hook or what is to be removed. */
export const setValue = (
  context: HookContext,
  id: number,
  of: Keyed,
  key: string,
  value: string | undefined,
  unmodified?: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = found(await lockHook(tx, context.subject, id));
    unmodified?.(row.updated_at);
    const secrets = readSecrets(context.services.secretKey, row);
    const values = { ...secrets[of] };
    if (value !== undefined) values[key] = value;
    else {
      found(Object.hasOwn(values, key) || undefined);
      if (of === 'variables' && placeholdersOf(secrets.url).includes(key))
        throw unprocessable('Could not delete url variable: it is used in the url');
      delete values[key];
    }
    const after = { ...secrets, [of]: values };
    const own = { url: secrets.url, token: null, headers: {}, variables: { [key]: value ?? '' } };
    await change(tx, context, row, isMoved(secrets, after) ? own : after);
  });

/** Deletes the hook with what waits for it; 404 without it. */
export const deleteHook = (
  context: HookContext,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<HookRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const hook = found(await lockHook(tx, context.subject, id));
    unmodified(hook.updated_at);
    await ahead(tx).deleteFrom('hooks').where('id', '=', id).execute();
    await audit(tx, context, 'deleted', hook);
    return hook;
  });
