/** What all instances of a lab share: a database server, and in it a migrated database with root, which is cloned. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepareInstance } from '../domain/accounts/first-start-actions.ts';
import { migrateDatabase } from '../instance.ts';
import { readConfig } from '../kernel/config.ts';
import { writeSettings } from '../kernel/settings/actions.ts';
import { openDatabase } from '../platform/db/database.ts';
import type { EmbeddedPostgres } from '../platform/db/embedded/embedded.ts';
import { createLog } from '../platform/log.ts';
import { createClockSchema } from './clock/clock-actions.ts';
import { cloneDatabase, connectToAdminister } from './databases-actions.ts';
import type { User } from './types.ts';

export const TEMPLATE = 'lab_template';

/** Makes the template; nobody connects to it afterwards. */
export async function makeTemplate(
  server: EmbeddedPostgres['connection'],
  folder: string,
  { root, secretKey }: { root: User; secretKey: string },
): Promise<void> {
  const admin = connectToAdminister(server);
  await cloneDatabase(admin, 'template0', TEMPLATE);
  await admin.end();
  const target = { ...server, database: TEMPLATE };
  const data = join(folder, 'template');
  mkdirSync(data, { mode: 0o700 });
  await migrateDatabase(target, { data, files: data });
  const database = openDatabase(target);
  try {
    await createClockSchema(database.sql);
    await prepareInstance(
      {
        config: readConfig({ ASHLAR_DATA: data, ASHLAR_ROOT_TOKEN: root.token }),
        database,
        log: createLog(() => {}),
        secretKey,
      },
      { rootPassword: async () => root.password, acceptKey: async () => {} },
    );
    // Who tests webhooks receives them on this machine.
    await writeSettings(database.db, { allow_local_requests_from_web_hooks_and_services: true });
  } finally {
    await database.close();
  }
}
