/** Endpoints of OpenPGP keys: the caller's own, and every user's to read. */
import Type from 'typebox';
import type { Caller } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { mapPage, selectPage } from '../../../platform/pagination/page.ts';
import { type Mount, own, publicOf } from '../users/own.ts';
import { readScopes } from '../users/routes.ts';
import { addGpgKey, deleteGpgKey } from './actions.ts';
import { findGpgKey, type GpgKeyRow, gpgKeysOf } from './queries.ts';

const GpgKey = Type.Object({ id: Type.Integer(), key: Type.String(), created_at: Type.String() });
const KeyId = Type.Object({ key_id: Type.Integer() });
const NewGpgKey = Type.Object({
  key: Type.String({
    maxLength: 500_000,
    ruled: { format: 'gpg-public-key' },
    description: 'The public key, ASCII-armored.',
  }),
});

const presentKey = (row: GpgKeyRow) => ({
  id: row.id,
  key: row.key,
  created_at: row.created_at.toISOString(),
});

const limits = {
  list: { name: 'users_gpg_keys', setting: 'users_api_limit_gpg_keys', periodSeconds: 60 },
  one: { name: 'users_gpg_key', setting: 'users_api_limit_gpg_key', periodSeconds: 60 },
} as const;

const endpointsOf = <C extends Caller>(side: Mount<C>, limited: boolean): Endpoint[] => [
  listing({
    method: 'GET',
    path: `${side.path}/gpg_keys`,
    summary: `Lists ${side.whose} OpenPGP keys.`,
    access: side.read,
    scopes: readScopes,
    ...(limited && { limit: limits.list }),
    item: GpgKey,
    page: 'offset',
    handle: async ({ db, subject, page }) => {
      const order = { by: 'id', sort: 'asc' } as const;
      return mapPage(
        await selectPage(db, gpgKeysOf(db, subject.id), page, order, { id: 'gpg_keys.id' }),
        presentKey,
      );
    },
  }),
  endpoint({
    method: 'POST',
    path: `${side.path}/gpg_keys`,
    summary: `Adds one to ${side.whose} OpenPGP keys.`,
    access: side.write,
    input: NewGpgKey,
    reply: GpgKey,
    handle: async ({ db, actor, subject, input }) =>
      presentKey(await addGpgKey(db, actor, subject, input.key)),
  }),
  endpoint({
    method: 'GET',
    path: `${side.path}/gpg_keys/:key_id`,
    summary: `One of ${side.whose} OpenPGP keys.`,
    access: side.read,
    scopes: readScopes,
    ...(limited && { limit: limits.one }),
    input: KeyId,
    reply: GpgKey,
    handle: async ({ db, subject, input }) => presentKey(await findGpgKey(db, subject.id, input.key_id)),
  }),
  endpoint({
    method: 'DELETE',
    path: `${side.path}/gpg_keys/:key_id`,
    summary: `Removes one of ${side.whose} OpenPGP keys.`,
    access: side.write,
    input: KeyId,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      const row = await findGpgKey(db, subject.id, input.key_id);
      unmodified(row.updated_at);
      await deleteGpgKey(db, actor, subject, row);
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'POST',
    path: `${side.path}/gpg_keys/:key_id/revoke`,
    summary: `Revokes one of ${side.whose} OpenPGP keys: it is removed.`,
    access: side.write,
    input: KeyId,
    reply: noContent,
    handle: async ({ db, actor, subject, input }) => {
      await deleteGpgKey(db, actor, subject, await findGpgKey(db, subject.id, input.key_id));
      return null;
    },
  }),
];

export const gpgKeyEndpoints: Endpoint[] = [...endpointsOf(own, false), ...endpointsOf(publicOf('id'), true)];
