/** Webhooks of projects, of groups and of the instance: the same endpoints, mounted for each. */

import { Type } from 'typebox';
import { type Access, onGroup, onInstance, onProject } from '../../../kernel/access/access.ts';
import type { ParentKind, ParentOrInstance } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createHook, deleteHook, setValue, updateHook } from './actions.ts';
import type { ListenedFlags } from './listened-flags.ts';
import { presentHook } from './present.ts';
import { selectHook, selectHooks } from './queries.ts';
import { type HookChanges, inputsOf, OneHook, OneKey, recordsOf, SetKey } from './schema.ts';

/** Where hooks of a kind of parent are, and who manages them. */
export type HookHome = {
  kind: ParentKind;
  path: '/projects/:id/hooks' | '/groups/:id/hooks' | '/hooks';
  whose: string;
  manage: Access<ParentOrInstance, Actor>;
  tier?: 'premium';
};

export const hookHomes: readonly HookHome[] = [
  { kind: 'project', path: '/projects/:id/hooks', whose: 'of a project', manage: onProject('manage_hooks') },
  {
    kind: 'group',
    path: '/groups/:id/hooks',
    whose: 'of a group',
    manage: onGroup('manage_hooks'),
    tier: 'premium',
  },
  { kind: 'instance', path: '/hooks', whose: 'of the instance', manage: onInstance },
];

const keyed = [
  { part: 'custom_headers', of: 'headers', noun: 'header' },
  { part: 'url_variables', of: 'variables', noun: 'URL variable' },
] as const;

const Nothing = Type.Null({ description: 'No body.' });

function endpointsOf(flags: ListenedFlags, { kind, path, whose, manage, tier: least }: HookHome): Endpoint[] {
  const tier = least && { tier: least };
  const record = recordsOf[kind];
  const { create, update } = inputsOf(kind);
  const one = `${path}/:hook_id` as const;
  return [
    listing({
      method: 'GET',
      path,
      summary: `Webhooks ${whose}, the oldest first.`,
      ...tier,
      access: manage,
      page: 'offset',
      item: record,
      handle: async (context) =>
        mapPage(await selectHooks(context.db, context.subject, context.page), (row) =>
          presentHook(context, row, { whole: false }),
        ),
    }),
    endpoint({
      method: 'GET',
      path: one,
      summary: `A webhook ${whose}.`,
      ...tier,
      access: manage,
      input: OneHook,
      reply: record,
      handle: async (context) => {
        const { db, subject, input } = context;
        return presentHook(context, found(await selectHook(db, subject, input.hook_id)), { whole: true });
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Makes a webhook ${whose}.`,
      ...tier,
      access: manage,
      also: [422],
      input: create,
      reply: record,
      handle: async (context) => {
        const hook = await createHook(context, context.input as HookChanges & { url: string });
        await flags.changed();
        return presentHook(context, hook, { whole: true });
      },
    }),
    endpoint({
      method: 'PUT',
      path: one,
      summary: `Changes a webhook ${whose}; a new address has none of the secrets of the old one.`,
      ...tier,
      access: manage,
      also: [422],
      input: update,
      reply: record,
      handle: async (context) => {
        const { hook_id, ...changes } = context.input;
        const hook = await updateHook(context, hook_id, changes as HookChanges);
        await flags.changed();
        return presentHook(context, hook, { whole: true });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      summary: `Deletes a webhook ${whose}.`,
      ...tier,
      access: manage,
      input: OneHook,
      reply: noContent,
      handle: async (context) => {
        await deleteHook(context, context.input.hook_id, context.unmodified);
        return null;
      },
    }),
    ...keyed.flatMap(({ part, of, noun }) => [
      endpoint({
        method: 'PUT',
        path: `${one}/${part}/:key`,
        summary: `Sets a ${noun} of a webhook ${whose}.`,
        ...tier,
        access: manage,
        also: [422],
        input: SetKey,
        reply: Nothing,
        handle: async (context) => {
          const { hook_id, key, value } = context.input;
          await setValue(context, hook_id, of, key, value);
          return null;
        },
      }),
      endpoint({
        method: 'DELETE',
        path: `${one}/${part}/:key`,
        summary: `Removes a ${noun} of a webhook ${whose}.`,
        ...tier,
        access: manage,
        also: [422],
        input: OneKey,
        reply: noContent,
        handle: async (context) => {
          const { hook_id, key } = context.input;
          await setValue(context, hook_id, of, key, undefined, context.unmodified);
          return null;
        },
      }),
    ]),
  ];
}

export const hookEndpoints = (flags: ListenedFlags): Endpoint[] =>
  hookHomes.flatMap((home) => endpointsOf(flags, home));
