/** Forward-only migrations: numbered SQL files, applied once, in order, under a lock that all processes respect. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type postgres from 'postgres';
import { digest } from '../secret.ts';

/** Arbitrary, ours: the advisory lock under which migrations run. */
const LOCK = 7_263_114_905;

type Migration = { name: string; text: string; digest: string };

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return { name: file.replace(/\.sql$/, ''), text, digest: digest(text).toString('hex') };
    });
}

/**
 * Brings the database up to date and returns the names that were applied now. Ten processes starting at once migrate
 * once; `alongside` runs under the same lock. Throws when the database has a migration that this program does not know, or one whose text was changed.
 */
export async function migrate(
  sql: postgres.Sql,
  folder: string,
  alongside: () => Promise<void> = async () => {},
): Promise<string[]> {
  const migrations = readMigrations(folder);
  const connection = await sql.reserve();
  try {
    await connection`select pg_advisory_lock(${LOCK})`;
    await connection`create table if not exists migrations (
      name text primary key, digest text not null, applied_at timestamptz(3) not null default now())`;
    const applied = new Map(
      (await connection<{ name: string; digest: string }[]>`select name, digest from migrations`).map(
        (row) => [row.name, row.digest],
      ),
    );
    const unknown = [...applied.keys()].filter((name) => !migrations.some((known) => known.name === name));
    if (unknown.length > 0) {
      throw new Error(`the database is newer than this program: it has ${unknown.join(', ')}`);
    }
    const done: string[] = [];
    for (const migration of migrations) {
      const before = applied.get(migration.name);
      if (before !== undefined) {
        if (before !== migration.digest)
          throw new Error(`migration ${migration.name} was changed after it was applied`);
        continue;
      }
      await connection.unsafe(
        `begin; ${migration.text}
         insert into migrations (name, digest) values ('${migration.name}', '${migration.digest}'); commit;`,
      );
      done.push(migration.name);
    }
    await alongside();
    return done;
  } catch (error) {
    await connection.unsafe('rollback').catch(() => {});
    throw error;
  } finally {
    await connection`select pg_advisory_unlock(${LOCK})`.catch(() => {});
    connection.release();
  }
}
