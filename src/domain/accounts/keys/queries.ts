/** SSH and GPG keys of users, and deploy keys by their fingerprint. */

import type { Selectable } from 'kysely';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { GpgKeysTable, SshKeysTable } from '../../../platform/db/rows.ts';

export const sshKeysOf = (db: Db, userId: number) =>
  db.selectFrom('ssh_keys').selectAll('ssh_keys').where('ssh_keys.user_id', '=', userId);

export async function findSshKey(db: Db, userId: number, id: number): Promise<SshKeyRow> {
  return found(await sshKeysOf(db, userId).where('id', '=', id).executeTakeFirst(), 'Key');
}

export const allKeys = (db: Db) =>
  db
    .selectFrom('ssh_keys')
    .innerJoin('users', 'users.id', 'ssh_keys.user_id')
    .selectAll('ssh_keys')
    .where('users.deletion', 'is', null);

export const projectsOfDeployKey = (db: Db, id: number) =>
  db
    .selectFrom('deploy_keys_projects as d')
    .innerJoin('projects as p', 'p.id', 'd.project_id')
    .select(['d.deploy_key_id', 'd.project_id', 'd.created_at', 'd.can_push'])
    .where('d.deploy_key_id', '=', id)
    .where('p.deleting', '=', false)
    .orderBy('d.project_id')
    .execute();

export type SshKeyRow = Selectable<SshKeysTable>;

/** The deploy key with a fingerprint. */
export const selectDeployKey = (db: Db, column: 'fingerprint' | 'fingerprint_sha256', fingerprint: string) =>
  db.selectFrom('deploy_keys').selectAll().where(column, '=', fingerprint).executeTakeFirst();

export type GpgKeyRow = Selectable<GpgKeysTable>;

export const gpgKeysOf = (db: Db, userId: number) =>
  db.selectFrom('gpg_keys').selectAll('gpg_keys').where('gpg_keys.user_id', '=', userId);

export async function findGpgKey(db: Db, userId: number, id: number): Promise<GpgKeyRow> {
  return found(await gpgKeysOf(db, userId).where('id', '=', id).executeTakeFirst(), 'GPG Key');
}
