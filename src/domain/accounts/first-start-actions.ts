/** The first start on a database: root, its token, and the fact that identifies the key. */

import { scopeNames } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import { insertUser } from '../../kernel/users/new-user-actions.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { checkPassword, digest, hashPassword, keyId } from '../../platform/secret.ts';

type FirstStart = {
  /** Called where there is no user yet. */
  rootPassword(): Promise<string>;
  /** Gets the id of the key of the first start; throws where it is not this program's. */
  acceptKey(startedWith: string): Promise<void>;
};

/**
 * Creates `root`, and a token with every scope when the settings name one, unless they exist; returns whether
 * it did. Idempotent under concurrent starts. Throws when the database's secrets are sealed with another key.
 */
export async function prepareInstance(
  services: Needs<'config' | 'database' | 'log' | 'secretKey'>,
  first: FirstStart,
): Promise<boolean> {
  const { database, secretKey, config } = services;
  return inTransaction(database.background, async (tx) => {
    const fact = await tx
      .insertInto('instance_facts')
      .values({ name: 'secret_key_id', value: JSON.stringify(keyId(secretKey)) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ name: 'secret_key_id' }))
      .returning('value')
      .executeTakeFirstOrThrow();
    await first.acceptKey(String(fact.value).replaceAll('"', ''));
    const root = await tx.selectFrom('users').select('id').limit(1).executeTakeFirst();
    if (root) {
      await warnOfUnusedToken(services, tx);
      return false;
    }
    const id = await insertUser(tx, {
      username: 'root',
      name: 'Administrator',
      email: 'admin@example.com',
      admin: true,
      password_hash: await hashPassword(await first.rootPassword()),
      confirmed_at: now(),
      projects_limit: 100_000,
      can_create_group: true,
    });
    if (config.rootToken === undefined) return true;
    await tx
      .insertInto('access_tokens')
      .values({
        kind: 'personal',
        digest: digest(config.rootToken),
        user_id: id,
        name: 'root token',
        scopes: [...scopeNames],
        created_at: now(),
        updated_at: now(),
      })
      .execute();
    return true;
  });
}

/** Whether `root` has this password now; undefined without the user. */
export async function isPasswordOfRoot(
  { database }: Needs<'database'>,
  password: string,
): Promise<boolean | undefined> {
  const root = await database.background
    .selectFrom('users')
    .select('password_hash')
    .where('username', '=', 'root')
    .executeTakeFirst();
  return root && (await checkPassword(password, root.password_hash)).right;
}

/** Logs that a token set after the first start is not created, because its use gives a 401. */
async function warnOfUnusedToken({ config, log }: Needs<'config' | 'log'>, tx: Db): Promise<void> {
  if (config.rootToken === undefined) return;
  const known = await tx
    .selectFrom('access_tokens')
    .select('id')
    .where('digest', '=', digest(config.rootToken))
    .executeTakeFirst();
  if (known) return;
  log.info('ASHLAR_ROOT_TOKEN is ignored: it counts at the first start on a database only');
}
