/** Gems of a project. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FetchedFile, PackageRow } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import type { IndexedGem } from './documents.ts';

type Project = Pick<AuthorizedProject, 'id'>;

/** Of one document: it has them all. */
const MAX_GEMS = 20_000;
const MAX_CHARACTERS = 16_777_216;

const published = ({ id }: Project): RawBuilder<unknown> => sql`
  p.project_id = ${id} and p.package_type = 'rubygems' and p.status = any(${[...installable]}::text[])`;

/** The newest file of each version and platform, the newest first; of all names, or of some. */
export async function selectGems(db: Db, project: Project, names?: readonly string[]): Promise<IndexedGem[]> {
  const among = names ? sql`and p.name = any(${[...names]}::text[])` : sql``;
  const { rows } = await sql<IndexedGem>`
    with newest as (
      select distinct on (p.id, f.file_name) p.name, f.id, f.sha256, f.created_at, f.metadata as gem
      from packages p join package_files f on f.package_id = p.id
      where ${published(project)} ${among} order by p.id, f.file_name, f.id desc),
    counted as (
      select newest.*, sum(length(gem::text)) over (order by id desc) as characters from newest
      order by id desc limit ${MAX_GEMS})
    select name, sha256, created_at, gem from counted where characters <= ${MAX_CHARACTERS} order by id desc`.execute(
    db,
  );
  return rows;
}

/** The newest file of the name, with its gem. */
export async function selectGem(
  db: Db,
  project: Project,
  fileName: string,
): Promise<(FetchedFile & { gem: IndexedGem['gem'] }) | undefined> {
  const { rows } = await sql<FetchedFile & { gem: IndexedGem['gem'] }>`
    select f.*, f.metadata as gem, p.last_downloaded_at from packages p join package_files f on f.package_id = p.id
    where ${published(project)} and f.file_name = ${fileName} order by f.id desc limit 1`.execute(db);
  return rows[0];
}

/** Whether another name or version has a file of this name: `a-1` of 2.0 and `a` of 1 for the platform `2.0` do. */
export async function isNameTaken(tx: Db, row: PackageRow, fileName: string): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select exists(select from packages p join package_files f on f.package_id = p.id
      where ${published({ id: row.project_id })} and p.id <> ${row.id} and f.file_name = ${fileName}) as taken`.execute(
    tx,
  );
  return rows[0]?.taken === true;
}
