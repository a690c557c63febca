/** Makes archives: what the database has as of one moment, then repositories and files. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { isOutside } from '../../../platform/db/errors.ts';
import { Failure } from '../../../platform/failure.ts';
import { writeBundle } from '../../../platform/git/copies/bundle.ts';
import { groupWiki, projectRepository, projectWiki, snippetRepository } from '../../repositories/index.ts';
import { exportName, VERSION } from '../archive/layout.ts';
import { type Entry, linesInFile, TooLarge, writeArchive } from '../archive/make.ts';
import { contributorLines, linesOf, type Owner } from '../relations/export-queries.ts';
import { groupRelations } from '../relations/group-relations.ts';
import { projectRelations } from '../relations/project-relations.ts';
import type { Relation } from '../relations/relation.ts';
import { failExport, finishExport, startExport } from './actions.ts';
import {
  type ExportedFile,
  type ExportedProject,
  type ExportRow,
  selectGroups,
  selectLargeObjects,
  selectProject,
  selectSnippets,
  selectUploads,
} from './queries.ts';

export type ExportServices = Needs<
  'blobs' | 'config' | 'database' | 'disk' | 'log' | 'repositories' | 'settings'
>;

const MEBIBYTE = 1_048_576;

const scratchOf = ({ config }: Needs<'config'>, name: string): string => join(config.data, 'transfers', name);

/** Removes what a killed process left of a job that has nothing to do any more. */
export const removeScratch = (services: Needs<'config'>, name: string): Promise<void> =>
  rm(scratchOf(services, name), { recursive: true, force: true });

/** A folder of the job alone: one that was killed left it, and its next try begins anew. */
export async function inScratch<T>(
  services: Needs<'config'>,
  name: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = scratchOf(services, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const json = (name: string, value: unknown): Entry => ({ name, bytes: Buffer.from(JSON.stringify(value)) });

/** Files of relations, all as of one moment. */
async function* relationEntries(
  services: ExportServices,
  folder: string,
  db: Db,
  owner: Owner,
  place: string,
  relations: readonly Relation[],
): AsyncGenerator<Entry> {
  const files: [string, AsyncIterable<string[]>][] = [
    ['user_contributions', contributorLines(db, owner)],
    ...relations.map((relation): [string, AsyncIterable<string[]>] => [
      relation.name,
      linesOf(db, relation, owner),
    ]),
  ];
  for (const [name, pages] of files) {
    const file = await linesInFile(folder, services.disk, pages);
    if (file) yield { name: `${place}/${name}.ndjson`, path: file.path };
  }
}

/** Yields what `work` does within one transaction, which sees the database as it was at its first statement. */
async function* inSnapshot(db: Db, work: (tx: Db) => AsyncGenerator<Entry>): AsyncGenerator<Entry> {
  const tx = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute();
  try {
    // While what was read is packed, the transaction waits.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
    yield* work(tx);
  } finally {
    await tx.rollback().execute();
  }
}

/** A repository as a bundle; nothing where it is empty. */
async function* bundleEntry(
  { repositories }: ExportServices,
  folder: string,
  key: RepositoryKey,
  name: string,
): AsyncGenerator<Entry> {
  const path = join(folder, 'bundle');
  const lease = await repositories.lease(key, 'read').catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'not_found') return undefined;
    throw error;
  });
  if (!lease) return;
  let isThere = false;
  try {
    isThere = await writeBundle(lease.git.folder, path);
  } finally {
    await lease.release();
  }
  if (isThere) yield { name, path };
  await rm(path, { force: true });
}

/** The bytes of a blob; nothing where they are gone. */
async function* blobEntry(
  { blobs }: ExportServices,
  { sha256, name }: Pick<ExportedFile, 'sha256' | 'name'>,
) {
  const blob = await blobs.open(sha256);
  if (blob) yield { name, size: blob.size, pieces: blob.stream() as AsyncIterable<Buffer> };
}

async function* projectEntries(
  services: ExportServices,
  folder: string,
  project: ExportedProject,
): AsyncGenerator<Entry> {
  const { background } = services.database;
  const { id } = project;
  const owner: Owner = { column: 'project_id', id };
  yield { name: 'VERSION', bytes: Buffer.from(VERSION) };
  yield* bundleEntry(services, folder, projectRepository(id), 'project.bundle');
  yield* bundleEntry(services, folder, projectWiki(id), 'project.wiki.bundle');
  yield* inSnapshot(background, async function* (tx) {
    const now = await selectProject(tx, id);
    yield json('tree/project.json', (now ?? project).description);
    yield* relationEntries(services, folder, tx, owner, 'tree/project', projectRelations);
  });
  for (let last = 0; ; ) {
    const snippets = await selectSnippets(background, id, last);
    for (const snippet of snippets)
      yield* bundleEntry(
        services,
        folder,
        snippetRepository(snippet.id),
        `snippets/${snippet.bundle}.bundle`,
      );
    const next = snippets.at(-1)?.id;
    if (next === undefined) break;
    last = next;
  }
  for await (const upload of selectUploads(background, id)) yield* blobEntry(services, upload);
  const oids: Record<string, number[]> = {};
  for await (const object of selectLargeObjects(background, id)) {
    oids[object.key] = [0];
    yield* blobEntry(services, object);
  }
  if (Object.keys(oids).length > 0) yield json('lfs-objects.json', oids);
  const { avatar, avatar_blob: sha256 } = project;
  if (avatar && sha256)
    yield* blobEntry(services, { sha256, name: `avatar/${avatar.slice(avatar.indexOf('/') + 1)}` });
}

async function* groupEntries(services: ExportServices, folder: string, id: number): AsyncGenerator<Entry> {
  const { background } = services.database;
  yield { name: 'VERSION', bytes: Buffer.from(VERSION) };
  const wikis: number[] = [];
  yield* inSnapshot(background, async function* (tx) {
    const groups = await selectGroups(tx, id);
    yield {
      name: 'tree/groups/_all.ndjson',
      bytes: Buffer.from(groups.map((group) => `${group.id}\n`).join('')),
    };
    for (const group of groups) {
      if (group.wiki_storage !== null) wikis.push(group.id);
      yield json(`tree/groups/${group.id}.json`, group.description);
      const owner: Owner = { column: 'namespace_id', id: group.id };
      yield* relationEntries(services, folder, tx, owner, `tree/groups/${group.id}`, groupRelations);
    }
  });
  for (const wiki of wikis)
    yield* bundleEntry(services, folder, groupWiki(wiki), `groups/${wiki}.wiki.bundle`);
}

/** The entries of the export and its name; undefined where the project or group is gone. */
async function entriesOf(services: ExportServices, folder: string, row: ExportRow) {
  const db = services.database.background;
  if (row.project_id !== null) {
    const project = await selectProject(db, row.project_id);
    return project && { path: project.full_path, entries: projectEntries(services, folder, project) };
  }
  const id = row.namespace_id ?? 0;
  const [group] = await selectGroups(db, id);
  return group && { path: group.full_path, entries: groupEntries(services, folder, id) };
}

/** Whether another try may do better: what is full, busy or away will be there again. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Failure
    ? error.kind === 'unavailable' || error.kind === 'too_many_requests'
    : isOutside(error) && !/^2[23]/.test(String((error as { code?: unknown }).code));

/** For those who can do nothing about it. */
export const UNEXPECTED = 'An unexpected error: the log of the server has it.';

/** What went wrong with an export in words for whoever asked for it. */
function failureOf(error: unknown): string {
  if (error instanceof TooLarge) return error.message;
  return error instanceof Failure ? String(error.publicMessage) : UNEXPECTED;
}

/** Makes the export; what a killed process began is begun anew. */
export async function runExport(services: ExportServices, id: number): Promise<void> {
  const { background } = services.database;
  const row = await startExport(background, id);
  if (!row) return removeScratch(services, `export-${id}`);
  const { max_export_size } = await services.settings.read();
  const maximum = max_export_size === 0 ? Number.POSITIVE_INFINITY : max_export_size * MEBIBYTE;
  const draft = await services.blobs.draft();
  try {
    await inScratch(services, `export-${id}`, async (folder) => {
      const made = await entriesOf(services, folder, row);
      if (!made) return;
      await writeArchive(made.entries, maximum, (piece) => draft.write(piece));
      const { sha256, size } = await draft.finish();
      const finished = {
        filename: exportName(made.path, now()),
        sha256,
        size,
        keep: (tx: Db) => draft.keep(tx),
      };
      await services.blobs.release(await finishExport(background, row, finished));
    });
  } catch (error) {
    if (isPassing(error)) throw error;
    services.log.error('an export failed', error, { export_id: id });
    await failExport(background, row, failureOf(error));
  } finally {
    await draft.discard();
  }
}
