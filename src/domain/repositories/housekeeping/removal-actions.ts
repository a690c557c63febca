/**
 * Removes the folders of repositories whose container's row is gone. They are removed from every storage,
 * since no row says any more where they were; ids are never used twice, so no new repository can be there.
 */

import { readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import type { ContainerKind } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { containerTables, repositoryPath } from '../store/containers.ts';

const BATCH = 500;
const MAX_BATCHES = 20;

type Gone = { id: number; container: ContainerKind; container_id: number; wiki: boolean };

const isGone = sql.join(
  Object.entries(containerTables).map(
    ([kind, table]) =>
      sql`(r.container = ${sql.lit(kind)} and not exists (select from ${sql.table(table)} c where c.id = r.container_id))`,
  ),
  sql` or `,
);

/** Turns the rows of repositories whose container is gone into folders to remove, once no process uses them. */
const condemn = (services: Needs<'database' | 'repositories'>): Promise<number> =>
  inTransaction(services.database.background, async (tx) => {
    const { rows } = await sql<Gone>`
      select r.id, r.container, r.container_id, r.wiki from repositories r
      where (${isGone}) and not exists (select from repository_uses u join processes p on p.id = u.process_id
        where u.container = r.container and u.container_id = r.container_id)
      order by r.id limit ${BATCH} for update of r skip locked`.execute(tx);
    if (rows.length === 0) return 0;
    const storages = [...services.repositories.storages.keys()];
    const created_at = now();
    const removals = rows.flatMap(({ container: kind, container_id: id, wiki }) =>
      storages.map((storage) => ({ storage, folder: repositoryPath({ kind, id, wiki }), created_at })),
    );
    await tx.insertInto('repository_removals').values(removals).execute();
    await tx
      .deleteFrom('repositories')
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .execute();
    return rows.length;
  });

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Removes a folder: first renamed to a name that nothing reads, then file by file. */
async function removeFolder(path: string, id: number): Promise<void> {
  const removing = join(dirname(path), `.removing-${id}`);
  try {
    await rename(path, removing);
  } catch (error) {
    // It was never there, or an earlier run was interrupted.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  await rm(removing, { recursive: true, force: true });
}

/**
 * Whether the storage's disk is absent: its folder is missing, or empty though rows name a repository in it.
 * Removals from it wait until it is there again.
 */
async function isAbsent(services: Needs<'database'>, storage: string, root: string): Promise<boolean> {
  const names = await readdir(root).catch(() => undefined);
  if (names === undefined || names.length > 0) return names === undefined;
  const used = await services.database.background
    .selectFrom('projects')
    .select('id')
    .where('repository_storage', '=', storage)
    .where('empty_repo', '=', false)
    .limit(1)
    .executeTakeFirst();
  return used !== undefined;
}

async function presentStorages(services: Needs<'database' | 'repositories'>): Promise<Map<string, string>> {
  const present = new Map<string, string>();
  for (const [name, root] of services.repositories.storages)
    if (!(await isAbsent(services, name, root))) present.set(name, root);
  return present;
}

async function removeCondemned(services: Needs<'database' | 'repositories' | 'log'>): Promise<number> {
  const db = services.database.background;
  const storages = await presentStorages(services);
  if (storages.size === 0) return 0;
  const rows = await db
    .selectFrom('repository_removals')
    .selectAll()
    .where('storage', 'in', [...storages.keys()])
    .orderBy('id')
    .limit(BATCH)
    .execute();
  let removed = 0;
  for (const { id, storage, folder } of rows) {
    try {
      const root = storages.get(storage);
      if (root !== undefined) await removeFolder(join(root, folder), id);
      await db.deleteFrom('repository_removals').where('id', '=', id).execute();
      removed += 1;
    } catch (error) {
      services.log.error('a folder could not be removed', error, { storage, folder });
    }
  }
  return removed;
}

/** Removes repositories without a container that no process uses. The process may die after each step. */
export async function removeGone(services: Needs<'database' | 'repositories' | 'log'>): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) if ((await condemn(services)) < BATCH) break;
  for (let batch = 0; batch < MAX_BATCHES; batch++) if ((await removeCondemned(services)) < BATCH) break;
}

const DRAFT = /^\.(new|removing)-[0-9a-f]+(\.draft)?$/;
/** Milliseconds after which a draft is abandoned. */
const DRAFT_AGE_MS = 86_400_000;

/** The folders so many levels below the root: repositories are three below that of their storage. */
async function* foldersBelow(root: string, levels: number): AsyncGenerator<string> {
  if (levels === 0) yield root;
  else for (const name of await namesIn(root)) yield* foldersBelow(join(root, name), levels - 1);
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** Removes drafts of repositories that were never finished, in all storages. */
export async function sweepDrafts({ repositories, log }: Needs<'repositories' | 'log'>): Promise<void> {
  const before = now().getTime() - DRAFT_AGE_MS;
  for (const root of repositories.storages.values()) {
    for await (const parent of foldersBelow(root, 3)) {
      for (const name of (await namesIn(parent)).filter((each) => DRAFT.test(each))) {
        const path = join(parent, name);
        try {
          if ((await stat(path)).mtimeMs < before) await rm(path, { recursive: true, force: true });
        } catch (error) {
          log.error('a draft could not be removed', error, { path });
        }
      }
    }
  }
}
