/** One embedded PostgreSQL for the whole run of the tests, with a migrated template that each test file clones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrationsFolder } from '../../src/instance.ts';
import { connect } from '../../src/platform/db/database.ts';
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts';
import { migrate } from '../../src/platform/db/migrations.ts';
import { migrateJobs } from '../../src/platform/jobs/jobs.ts';

export type TestServer = { host: string; user: string; password: string };

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: TestServer;
  }
}

export const TEMPLATE = 'ashlar_template';

/** Durability is tested on its own; here it would only cost time. */
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-test-'));
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
  project.provide('postgres', { host, user, password });
  return async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
