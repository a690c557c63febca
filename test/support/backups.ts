/** Backups of a test's app, and places to restore them into. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type App, createApp } from '../../src/app.ts';
import { type BackupOrder, backUp } from '../../src/commands/backup/backup.ts';
import { restoreBackup } from '../../src/commands/backup/restore.ts';
import { type Config, readConfig } from '../../src/kernel/config.ts';
import { connect } from '../../src/platform/db/database.ts';
import type { PoolSql } from '../../src/platform/db/driver/sql.ts';
import { createLog } from '../../src/platform/log.ts';
import type { TestApp } from './app.ts';
import { SECRET_KEY } from './postgres.ts';

export const folderFor = (what: string): string => mkdtempSync(join(inject('dataFolders'), `${what}-`));

function urlOf(database: string): string {
  const { host, user, password } = inject('postgres');
  return `postgres://${user}:${password}@/${database}?host=${host}`;
}

/** The settings of a program for a database of the tests' server. */
const configOf = (data: string, database: string, env: Record<string, string> = {}): Config =>
  readConfig({
    ASHLAR_DATA: data,
    ASHLAR_PORT: '0',
    DATABASE_URL: urlOf(database),
    ASHLAR_SECRET_KEY: SECRET_KEY,
    ...env,
  });

/** What is told, line by line. */
export function listening(): { lines: string[]; at(): void; tell(text: string): void } {
  const lines: string[] = [];
  return { lines, at() {}, tell: (text) => lines.push(text) };
}

/** Backs up a running app; returns the damage that was found. */
export async function backUpApp(
  { app }: TestApp,
  target: string,
  order: Partial<BackupOrder> = {},
): Promise<string[]> {
  const [row] = await app.services.database.sql<{ name: string }[]>`select current_database() as name`;
  const config = configOf(app.services.config.data, row?.name ?? '');
  return backUp(
    config,
    { target, recipients: [], base: undefined, keep: undefined, onCut() {}, ...order },
    listening(),
  );
}

export type RestoreSite = {
  config: Config;
  sql: PoolSql;
  restore(file: string, identity?: string): Promise<string[]>;
  /** Serves what was restored. */
  serve(): Promise<App>;
  remove(): Promise<void>;
};

async function administer(statement: string): Promise<void> {
  const admin = connect(
    { ...inject('postgres'), database: 'postgres' },
    { max: 1, statementTimeout: 0, name: 'tests' },
  );
  await admin.unsafe(statement);
  await admin.end();
}

/** An empty database, and a data folder that is not there yet. */
export async function makePlace(env: Record<string, string> = {}): Promise<RestoreSite> {
  const database = `restored_${randomUUID().replaceAll('-', '')}`;
  await administer(`create database ${database} template template0`);
  const folder = folderFor('restored');
  const config = configOf(join(folder, 'data'), database, env);
  const target = { ...inject('postgres'), database };
  const sql = connect(target, { max: 1, statementTimeout: 0, name: 'tests' });
  let app: App | undefined;
  return {
    config,
    sql,
    restore: (file, identity) => restoreBackup(config, file, { identity }, listening()),
    async serve() {
      app = createApp({ config, target, secretKey: SECRET_KEY, log: createLog(() => {}) });
      await app.start();
      return app;
    },
    async remove() {
      await app?.stop();
      await sql.end();
      await administer(`drop database if exists ${database} with (force)`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A digest of the rows of each table. */
export async function digestTables(sql: PoolSql): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`;
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await sql.unsafe<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, e'\\n' order by t::text)), '') as digest from public."${name}" t`,
    );
    digests[name] = row?.digest ?? '';
  }
  return digests;
}
