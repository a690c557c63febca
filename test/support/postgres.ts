/** One embedded PostgreSQL for the whole run of the tests, with a migrated template that each test file clones. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { prepareInstance } from '../../src/domain/accounts/first-start-actions.ts';
import { migrationsFolder } from '../../src/instance.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { connect, openDatabase } from '../../src/platform/db/database.ts';
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts';
import { ephemeralSettings, makeEphemeralFolder } from '../../src/platform/db/embedded/ephemeral.ts';
import { migrate } from '../../src/platform/db/migrations.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';
import { createLog } from '../../src/platform/log.ts';

export type TestServer = { host: string; user: string; password: string };

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: TestServer;
    /** Where the apps have their data folders. */
    dataFolders: string;
  }
}

/** Migrated, and with `root` in it as after the first start. */
export const TEMPLATE = 'ashlar_template';
export const ROOT_TOKEN = 'glpat-root-token-of-the-tests';
export const ROOT_PASSWORD = 'correct horse battery';
export const SECRET_KEY = 'a secret key that only the tests know of';

const settings = {
  ...ephemeralSettings,
  max_connections: '200',
  // A connection plans a statement once; it would do so for each of the first five times, which are most of a test's.
  plan_cache_mode: 'force_generic_plan',
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = makeEphemeralFolder('ashlar-test-');
  const dataFolders = join(folder, 'data');
  mkdirSync(dataFolders, { mode: 0o711 });
  const server = await startEmbedded(folder, { settings });
  const { host, user, password, database } = server.connection;
  const admin = connect({ host, user, password, database }, { max: 1, statementTimeout: 0, name: 'tests' });
  await admin.unsafe(`create database ${TEMPLATE}`);
  await admin.end();
  const target = { host, user, password, database: TEMPLATE };
  const template = connect(target, { max: 1, statementTimeout: 0, name: 'tests' });
  await migrate(template, migrationsFolder);
  await migrateJobs(target);
  await template.end();
  const first = openDatabase(target);
  await prepareInstance(
    {
      config: readConfig({ ASHLAR_DATA: folder, ASHLAR_ROOT_TOKEN: ROOT_TOKEN }),
      database: first,
      log: createLog(() => {}),
      secretKey: SECRET_KEY,
    },
    { rootPassword: async () => ROOT_PASSWORD, acceptKey: async () => {} },
  );
  await first.close();
  project.provide('postgres', { host, user, password });
  project.provide('dataFolders', dataFolders);
  return async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
