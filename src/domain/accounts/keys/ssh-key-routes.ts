/** Endpoints of SSH keys: the caller's own, every user's to read, and the user of a key. */

import Type from 'typebox';
import { onInstance } from '../../../kernel/access/access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage, selectPage } from '../../../platform/pagination/page.ts';
import { type Mount, own, publicOf } from '../users/own.ts';
import { presentProfile } from '../users/present.ts';
import { readScopes, showUsers } from '../users/routes.ts';
import { UserRecord } from '../users/schema.ts';
import { addSshKey, deleteSshKey } from './actions.ts';
import {
  allKeys,
  findSshKey,
  projectsOfDeployKey,
  type SshKeyRow,
  selectDeployKey,
  sshKeysOf,
} from './queries.ts';

const usages = ['auth_and_signing', 'auth', 'signing'] as const;

const SshKey = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  created_at: Type.String(),
  expires_at: nullable(Type.String()),
  last_used_at: nullable(Type.String()),
  key: Type.String(),
  usage_type: Type.String(),
});

const SshKeyWithUser = Type.Object({ ...SshKey.properties, user: UserRecord });

const DeployKeyWithUser = Type.Object({
  ...SshKey.properties,
  user: nullable(UserRecord),
  deploy_keys_projects: Type.Array(
    Type.Object({
      deploy_key_id: Type.Integer(),
      project_id: Type.Integer(),
      created_at: Type.String(),
      can_push: Type.Boolean(),
    }),
  ),
});

const NewSshKey = Type.Object({
  title: Type.String({ maxLength: 255, description: 'What the key is called.' }),
  key: Type.String({
    maxLength: 16_384,
    ruled: { format: 'ssh-public-key' },
    description: 'The public key, in one line.',
  }),
  expires_at: Type.Optional(nullable(dateTime({ description: 'When the key stops working.' }))),
  usage_type: Type.Optional(stringEnum(usages, { description: 'What the key is for.' })),
});

const KeyId = Type.Object({ key_id: Type.Integer() });

const presentKey = (row: Omit<SshKeyRow, 'user_id'>) => ({
  id: row.id,
  title: row.title,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  key: row.key,
  usage_type: row.usage_type,
});

const limits = {
  list: { name: 'users_ssh_keys', setting: 'users_api_limit_ssh_keys', periodSeconds: 60 },
  one: { name: 'users_ssh_key', setting: 'users_api_limit_ssh_key', periodSeconds: 60 },
} as const;

function endpointsOf<C extends Caller>(listed: Mount<C>, single: Mount<C>, limited: boolean): Endpoint[] {
  const { whose } = listed;
  return [
    listing({
      method: 'GET',
      path: `${listed.path}/keys`,
      summary: `Lists ${whose} SSH keys.`,
      access: listed.read,
      scopes: readScopes,
      ...(limited && { limit: limits.list }),
      item: SshKey,
      page: 'offset',
      handle: async ({ db, subject, page }) => {
        const order = { by: 'id', sort: 'asc' } as const;
        return mapPage(
          await selectPage(db, sshKeysOf(db, subject.id), page, order, { id: 'ssh_keys.id' }),
          presentKey,
        );
      },
    }),
    endpoint({
      method: 'POST',
      path: `${listed.path}/keys`,
      summary: `Adds one to ${whose} SSH keys.`,
      access: listed.write,
      input: NewSshKey,
      reply: SshKey,
      handle: async ({ db, actor, subject, input }) => presentKey(await addSshKey(db, actor, subject, input)),
    }),
    endpoint({
      method: 'GET',
      path: `${single.path}/keys/:key_id`,
      summary: `One of ${whose} SSH keys.`,
      access: single.read,
      scopes: readScopes,
      ...(limited && { limit: limits.one }),
      input: KeyId,
      reply: SshKey,
      handle: async ({ db, subject, input }) => presentKey(await findSshKey(db, subject.id, input.key_id)),
    }),
    endpoint({
      method: 'DELETE',
      path: `${single.path}/keys/:key_id`,
      summary: `Removes one of ${whose} SSH keys.`,
      access: single.write,
      input: KeyId,
      reply: noContent,
      handle: async ({ db, actor, subject, input, unmodified }) => {
        const row = await findSshKey(db, subject.id, input.key_id);
        unmodified(row.updated_at);
        await deleteSshKey(db, actor, subject, row);
        return new Reply(204);
      },
    }),
  ];
}

/** `SHA256:…`, or MD5 with or without its prefix; an unencoded `+` arrives as a space. */
function fingerprintOf(text: string) {
  const fingerprint = text.trim().replaceAll(' ', '+');
  if (fingerprint.startsWith('SHA256:')) return { column: 'fingerprint_sha256', fingerprint } as const;
  return { column: 'fingerprint', fingerprint: fingerprint.replace(/^MD5:/i, '').toLowerCase() } as const;
}

export const keyEndpoints: Endpoint[] = [
  ...endpointsOf(own, own, false),
  ...endpointsOf(publicOf('user_id'), publicOf('id'), true),
  endpoint({
    method: 'GET',
    path: '/keys/:id',
    summary: 'An SSH key and whose it is.',
    access: onInstance,
    input: Type.Object({ id: Type.Integer() }),
    reply: SshKeyWithUser,
    handle: async (context) => {
      const row = found(
        await allKeys(context.db).where('ssh_keys.id', '=', context.input.id).executeTakeFirst(),
        'Key',
      );
      const [user] = await showUsers(context, [row.user_id], presentProfile);
      return { ...presentKey(row), user: found(user) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/keys',
    summary:
      'The SSH key or deploy key with a fingerprint, whose it is, and which projects have a deploy key.',
    access: onInstance,
    input: Type.Object({ fingerprint: Type.String({ description: 'MD5, or SHA256 with its prefix.' }) }),
    reply: Type.Union([DeployKeyWithUser, SshKeyWithUser]),
    handle: async (context) => {
      const { db } = context;
      const { column, fingerprint } = fingerprintOf(context.input.fingerprint);
      const own = await allKeys(db).where(column, '=', fingerprint).executeTakeFirst();
      if (own) {
        const [user] = await showUsers(context, [own.user_id], presentProfile);
        return { ...presentKey(own), user: found(user) };
      }
      const deployKey = found(await selectDeployKey(db, column, fingerprint), 'Key');
      const { user_id } = deployKey;
      const [user] = user_id === null ? [] : await showUsers(context, [user_id], presentProfile);
      const projects = await projectsOfDeployKey(db, deployKey.id);
      return {
        ...presentKey({ ...deployKey, usage_type: 'auth' }),
        user: user ?? null,
        deploy_keys_projects: projects.map((each) => ({
          ...each,
          created_at: each.created_at.toISOString(),
        })),
      };
    },
  }),
];
