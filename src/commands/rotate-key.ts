/** ashlar oauth rotate-key: another key signs identities from now on; nobody is signed out. */
import type { Config } from '../config.ts';
import { rotateSigningKey } from '../domain/oauth/signing-keys.ts';
import { openInstance } from '../instance.ts';
import { openDatabase } from '../platform/db/database.ts';
import { keyId } from '../platform/secret.ts';

/** Rotates the key and returns the id of the new one. Throws where no server could read what this would seal. */
export async function rotateKeyFromCommandLine(config: Config): Promise<string> {
  const opened = await openInstance(config);
  const database = openDatabase(opened.target, { requests: 1, background: 1 });
  try {
    await opened.migrate();
    const [fact] = await database.sql<{ secret_key_id: string }[]>`
      select btrim(value #>> '{}', '"') as secret_key_id from instance_facts where name = 'secret_key_id'`;
    if (!fact) throw new Error('this database is new: start the server once first');
    if (fact.secret_key_id !== keyId(opened.secretKey)) {
      throw new Error('ASHLAR_SECRET_KEY is not the key that this database was started with');
    }
    return await rotateSigningKey(database.db, opened.secretKey);
  } finally {
    await database.close();
    await opened.close();
  }
}
