/** The first start on a database: the first administrator, its token, and the fact that says which key seals. */
import { scopeNames } from '../../core/identity/actor.ts';
import { insertUser } from '../../core/identity/new-user.ts';
import type { Services } from '../../core/services.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { digest, hashPassword, keyId } from '../../platform/secret.ts';

/**
 * Makes `root`, and a token with every scope when the settings name one, unless they are there. Ten processes starting at
 * once do it once. Throws when the database's secrets are sealed with another key.
 */
export async function prepareInstance(services: Services, options: { rootPassword: string }): Promise<void> {
  const { database, secretKey, config } = services;
  const mine = keyId(secretKey);
  await inTransaction(database.background, async (tx) => {
    const fact = await tx
      .insertInto('instance_facts')
      .values({ name: 'secret_key_id', value: JSON.stringify(mine) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ name: 'secret_key_id' }))
      .returning('value')
      .executeTakeFirstOrThrow();
    const stored = typeof fact.value === 'string' ? fact.value.replaceAll('"', '') : fact.value;
    if (stored !== mine) {
      throw new Error('ASHLAR_SECRET_KEY is not the key that this database was started with');
    }
    const root = await tx.selectFrom('users').select('id').limit(1).executeTakeFirst();
    if (root) {
      await warnOfUnusedToken(services, tx);
      return;
    }
    const id = await insertUser(tx, {
      username: 'root',
      name: 'Administrator',
      email: 'admin@example.com',
      admin: true,
      password_hash: await hashPassword(options.rootPassword),
      confirmed_at: now(),
      projects_limit: 100_000,
      can_create_group: true,
    });
    if (config.rootToken === undefined) return;
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
  });
}

/** A token that is set after the first start is not made: whoever set it should not wonder about 401. */
async function warnOfUnusedToken({ config, log }: Services, tx: Db): Promise<void> {
  if (config.rootToken === undefined) return;
  const known = await tx
    .selectFrom('access_tokens')
    .select('id')
    .where('digest', '=', digest(config.rootToken))
    .executeTakeFirst();
  if (known) return;
  log.info('ASHLAR_ROOT_TOKEN is ignored: it counts at the first start on a database only');
}
