/** SSH and OpenPGP keys: each key has one user. */
import type { AuthorizedUser } from '../../../kernel/access/users.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { readSshKey } from '../../../kernel/identity/ssh-key.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { userEntity } from '../users/audits.ts';
import { readGpgFingerprint } from './gpg-key.ts';
import type { SshKeyRow } from './queries.ts';

export type NewSshKey = {
  title: string;
  key: string;
  expires_at?: string | null | undefined;
  usage_type?: 'auth' | 'signing' | 'auth_and_signing' | undefined;
};

/** The key in facts: a few hundred characters, which may have no row any more when they are told. */
const keySnapshot = (user: AuthorizedUser, { id, key, created_at, updated_at }: SshKeyRow) => ({
  id,
  key,
  username: user.row.username,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

/** Adds an SSH key; 400 for an invalid or expired key, or one that is in use. */
export async function addSshKey(db: Db, actor: Actor, user: AuthorizedUser, input: NewSshKey) {
  const key = readSshKey(input.key);
  if (!key) throw invalid({ key: ['is invalid'] });
  if (input.title.trim() === '') throw invalid({ title: ["can't be blank"] });
  const expires_at = input.expires_at ? new Date(input.expires_at) : null;
  if (expires_at && expires_at <= now()) throw invalid({ key: ['has expired'] });
  return inTransaction(db, async (tx) => {
    const row = await tx
      .insertInto('ssh_keys')
      .values({
        user_id: user.id,
        title: input.title,
        key: key.text,
        fingerprint: key.fingerprint,
        fingerprint_sha256: key.fingerprintSha256,
        usage_type: input.usage_type ?? 'auth_and_signing',
        expires_at,
        created_at: now(),
        updated_at: now(),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = { add: 'ssh_key', target_id: row.id, target_type: 'Key', target_details: row.title };
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(user.row), event: 'ssh_key_created', details },
      fact: { name: 'ssh_key_created', payload: { key: keySnapshot(user, row) } },
    });
    return row;
  });
}

/** Deletes an SSH key, which the caller has checked. */
export async function deleteSshKey(
  db: Db,
  actor: Actor,
  user: AuthorizedUser,
  key: SshKeyRow,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await ahead(tx).deleteFrom('ssh_keys').where('id', '=', key.id).where('user_id', '=', user.id).execute();
    const details = { remove: 'ssh_key', target_id: key.id, target_type: 'Key', target_details: key.title };
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(user.row), event: 'ssh_key_destroyed', details },
      fact: { name: 'ssh_key_destroyed', payload: { key: keySnapshot(user, key) } },
    });
  });
}

/** Adds an OpenPGP key; 400 for an invalid key, or one that is in use. */
export async function addGpgKey(db: Db, actor: Actor, user: AuthorizedUser, text: string) {
  const fingerprint = readGpgFingerprint(text);
  if (fingerprint === undefined) throw invalid({ key: ['is invalid'] });
  return inTransaction(db, async (tx) => {
    const row = await tx
      .insertInto('gpg_keys')
      .values({ user_id: user.id, key: text.trim(), fingerprint, created_at: now(), updated_at: now() })
      .returningAll()
      .executeTakeFirstOrThrow();
    const details = { add: 'gpg_key', target_id: row.id, target_type: 'GpgKey', target_details: fingerprint };
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(user.row), event: 'gpg_key_created', details },
    });
    return row;
  });
}

/** Deletes an OpenPGP key, which the caller has checked. */
export async function deleteGpgKey(
  db: Db,
  actor: Actor,
  user: AuthorizedUser,
  key: { id: number; fingerprint: string },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await ahead(tx).deleteFrom('gpg_keys').where('id', '=', key.id).where('user_id', '=', user.id).execute();
    const details = { remove: 'gpg_key', target_id: key.id, target_details: key.fingerprint };
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(user.row), event: 'gpg_key_destroyed', details },
    });
  });
}
