/** Exports of single relations: one job makes all of a project or group, as of one moment. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Selectable, sql } from 'kysely';
import { type AuditedEntity, announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { RelationExportsTable } from '../../../platform/db/rows.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { QUEUE } from '../exports/actions.ts';
import { oldest } from '../exports/queries.ts';
import { contributorLines, linesOf, type Owner } from '../relations/export-queries.ts';
import { groupRelations } from '../relations/group-relations.ts';
import { projectRelations } from '../relations/project-relations.ts';

export const RELATION_EXPORT = 'transfers.relation_export';

export type RelationExportRow = Selectable<RelationExportsTable>;

const CONTRIBUTORS = 'user_contributions';

const relationsOf = ({ column }: Owner) => (column === 'project_id' ? projectRelations : groupRelations);

/** The names of those that are exported. */
export const exportedNames = (owner: Owner): string[] => [
  CONTRIBUTORS,
  ...relationsOf(owner).map(({ name }) => name),
];

/** Begins an export of all relations; what was made before goes. */
export async function requestRelationExports(
  { database, blobs }: Needs<'database' | 'blobs'>,
  actor: Actor,
  owner: Owner,
  entity: AuditedEntity,
): Promise<void> {
  const gone = await inTransaction(database.db, async (tx) => {
    const { rows } = await sql<{ sha256: Buffer | null }>`
      delete from relation_exports where ${sql.ref(owner.column)} = ${owner.id} returning sha256`.execute(tx);
    await sql`
      insert into relation_exports (${sql.ref(owner.column)}, user_id, relation, status, updated_at)
      select ${owner.id}, ${actor.id}, relation, 'started', ${now()}
      from unnest(${exportedNames(owner)}::text[]) as named (relation) on conflict do nothing`.execute(tx);
    await addJobs(tx, [
      {
        task: RELATION_EXPORT,
        payload: owner,
        queue: QUEUE,
        key: `${RELATION_EXPORT} ${owner.column} ${owner.id}`,
      },
    ]);
    const event =
      owner.column === 'project_id' ? 'project_relations_export_created' : 'group_relations_export_created';
    await announce(tx, { author: actor, audit: { entity, event } });
    return rows.flatMap(({ sha256 }) => sha256 ?? []);
  });
  await blobs.release(gone);
}

export const selectRelationExports = (
  db: Db,
  { column, id }: Owner,
  relation?: string,
): Promise<RelationExportRow[]> => {
  const all = db
    .selectFrom('relation_exports')
    .selectAll()
    .where(column, '=', id)
    .where('updated_at', '>', oldest());
  return (relation === undefined ? all : all.where('relation', '=', relation)).orderBy('id').execute();
};

async function* textOf(
  pages: AsyncIterable<string[]>,
  count: (lines: number) => void,
): AsyncGenerator<Buffer> {
  for await (const lines of pages) {
    count(lines.length);
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
  }
}

/** Makes those that are not made yet. */
export async function runRelationExports(
  { blobs, database }: Needs<'blobs' | 'database'>,
  owner: Owner,
): Promise<void> {
  const { background } = database;
  const waiting = (await selectRelationExports(background, owner)).filter(
    ({ status }) => status === 'started',
  );
  for (const { id, relation: name } of waiting) {
    const relation = relationsOf(owner).find((each) => each.name === name);
    const draft = await blobs.draft();
    try {
      let objects = 0;
      const pages = relation ? linesOf(background, relation, owner) : contributorLines(background, owner);
      const lines = textOf(pages, (count) => {
        objects += count;
      });
      await pipeline(
        Readable.from(lines, { objectMode: false }),
        createGzip(),
        async (pieces: AsyncIterable<Buffer>) => {
          for await (const piece of pieces) await draft.write(piece);
        },
      );
      const { sha256 } = await draft.finish();
      await inTransaction(background, async (tx) => {
        await draft.keep(tx);
        const made = { status: 'finished', sha256, objects, updated_at: now() };
        await tx.updateTable('relation_exports').set(made).where('id', '=', id).execute();
      });
    } finally {
      await draft.discard();
    }
  }
}

/** Removes those that are a day old; the digests of their files. */
export async function removeOldRelationExports(db: Db): Promise<Buffer[]> {
  const { rows } = await sql<{ sha256: Buffer | null }>`
    delete from relation_exports where updated_at < ${oldest()} returning sha256`.execute(db);
  return rows.flatMap(({ sha256 }) => sha256 ?? []);
}
