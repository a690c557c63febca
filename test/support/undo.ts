/** Undoes all writes of a request: rows by a journal that triggers keep, and the refs of repositories. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import type { TestApp } from './app.ts';

/** Marks of use, which a refused request may leave too. */
const marks = `array['last_used_at', 'last_activity_on', 'last_used_ip', 'last_downloaded_at']`;
/** Windows of limits, heartbeats, leases of repositories, and what reading makes: releases of packages, with their blobs; counts of fetches. */
const unwatched = [
  ...['rate_limit_windows', 'processes', 'repository_uses'],
  ...['debian_releases', 'debian_indexes', 'blobs', 'project_fetches'],
];

const journal = `
  create schema journal;
  create table journal.changes (id bigint generated always as identity, name text, before jsonb, after jsonb);
  create function journal.note() returns trigger language plpgsql set timezone = 'UTC' as $$
    begin
      if tg_op = 'UPDATE' and to_jsonb(old) - ${marks} = to_jsonb(new) - ${marks} then return null; end if;
      insert into journal.changes (name, before, after) values (tg_table_name,
        case when tg_op <> 'INSERT' then to_jsonb(old) end, case when tg_op <> 'DELETE' then to_jsonb(new) end);
      return null;
    end $$;
  create function journal.hold() returns trigger language plpgsql as $$ begin return null; end $$;
  create trigger hold before update on storage_moves for each row execute function journal.hold();
  create function journal.undo(out names text[], out uses bigint) language plpgsql set timezone = 'UTC' set session_replication_role = replica as $$
    declare
      change record;
      columns text;
    begin
      names := '{}';
      uses := pg_sequence_last_value(pg_get_serial_sequence('repository_uses', 'id'));
      for change in select * from journal.changes order by id desc loop
        names := names || change.name;
        if change.after is not null then
          execute format('delete from %I t where to_jsonb(t) - $2 = $1 - $2', change.name)
            using change.after, ${marks};
        end if;
        if change.before is not null then
          columns := (select string_agg(quote_ident(attname), ', ') from pg_attribute
            where attrelid = change.name::regclass and attnum > 0 and not attisdropped and attgenerated = '');
          execute format('insert into %I (%s) overriding system value select %s from jsonb_populate_record(null::%I, $1)',
            change.name, columns, columns, change.name) using change.before;
        end if;
      end loop;
      delete from journal.changes;
    end $$;`;

export type Undo = {
  /** Undoes all writes since the last call; returns the tables that had changed. */
  undo(): Promise<readonly string[]>;
};

const holdsRefs = /\.git\/(refs(\/.*)?|packed-refs|HEAD)$/;

/** The files with refs below the folder, and their texts. Objects are most of a repository, and are not walked. */
function refFiles(folder: string): [path: string, text: string][] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): [string, string][] => {
    const path = join(folder, entry.name);
    if (folder.endsWith('.git') && !holdsRefs.test(path)) return [];
    if (entry.isDirectory()) return refFiles(path);
    return holdsRefs.test(path) ? [[path, readFileSync(path, 'utf8')]] : [];
  });
}

function restoreRefs(roots: readonly string[], kept: ReadonlyMap<string, string>): void {
  const found = new Map(roots.flatMap(refFiles));
  for (const path of found.keys()) if (!kept.has(path)) rmSync(path);
  for (const [path, text] of kept) {
    if (found.get(path) === text) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** From now on everything can be undone, as long as no job runs meanwhile; moves stay scheduled. */
export async function watchChanges(app: TestApp): Promise<Undo> {
  const { database, repositories, settings, features } = app.app.services;
  const { sql: requests, background } = database;
  await requests.unsafe(journal);
  const tables = await requests<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`;
  for (const { name } of tables) {
    if (unwatched.includes(name)) continue;
    await requests.unsafe(`create trigger journal after insert or update or delete on "${name}"
      for each row execute function journal.note()`);
  }
  const roots = [...repositories.storages.values()];
  const kept = new Map(roots.flatMap(refFiles));
  let undone = 0;
  let usesBefore: number | null | undefined;
  return {
    async undo() {
      // Not by the connections of requests: one that puts triggers out of action forgets its plans.
      const { rows } = await sql<{ names: string[]; uses: number | null }>`
        select names, uses from journal.undo()`.execute(background);
      const { names = [], uses } = rows[0] ?? {};
      // Nothing writes to a repository without a use of it.
      if (uses !== usesBefore) restoreRefs(roots, kept);
      usesBefore = uses;
      if (names.length > 0) {
        // Each call reads all of the journal, dead rows too.
        undone += 1;
        if (undone % 50 === 0) await sql`vacuum journal.changes`.execute(background);
      }
      if (names.includes('application_settings')) settings.forget();
      if (names.includes('feature_gates')) features.forget();
      return names;
    },
  };
}
