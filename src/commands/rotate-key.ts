/** ashlar oauth rotate-key: another key signs identities from now on; nobody is signed out. */

import { rotateSigningKey } from '../domain/oauth/index.ts';
import { reachDatabase, readSecretKey } from '../instance.ts';
import type { Config } from '../kernel/config.ts';
import { openDatabase } from '../platform/db/database.ts';
import { readSecretKeyId } from './queries.ts';

/** Rotates the key and returns the id of the new one. Throws where no server could read what this would seal. */
export async function rotateKeyFromCommandLine(config: Config): Promise<string> {
  const reached = await reachDatabase(config);
  const database = openDatabase(reached.target, { requests: 1, background: 1 });
  try {
    const secretKey = await readSecretKey(config);
    const startedWith = await readSecretKeyId(database.sql);
    if (startedWith === undefined) throw new Error('this database is new: start the server once first');
    await secretKey.accept(startedWith);
    return await rotateSigningKey(database.db, secretKey.text);
  } finally {
    await database.close();
    await reached.close();
  }
}
