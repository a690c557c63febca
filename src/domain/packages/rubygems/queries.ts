/** Gems of a project. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { lockWords } from '../publishing/publish-actions.ts';
import { oneDocument } from '../records/one-document-queries.ts';
import type { FetchedFile, PackageRow } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import type { IndexedGem } from './documents.ts';

type Project = Pick<AuthorizedProject, 'id'>;

const MAX_GEMS = 20_000;

const published = ({ id }: Project): RawBuilder<unknown> => sql`
  p.project_id = ${id} and p.package_type = 'rubygems' and p.status = any(${[...installable]}::text[])`;

/** The newest file of each version and platform, the newest first; of all names, or of some. */
export async function selectGems(db: Db, project: Project, names?: readonly string[]): Promise<IndexedGem[]> {
  const among = names ? sql`and p.name = any(${[...names]}::text[])` : sql``;
  const newest = sql`
    select distinct on (p.id, f.file_name) p.name, f.id, f.sha256, f.created_at, f.metadata as description
    from packages p join package_files f on f.package_id = p.id
    where ${published(project)} ${among} order by p.id, f.file_name, f.id desc`;
  const { rows } = await sql<IndexedGem>`
    select name, sha256, created_at, description as gem from ${oneDocument(newest, { most: MAX_GEMS })} gems
    order by id desc`.execute(db);
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

/** Whether another name or version has a file of this name, until the transaction ends: `a-1` of 2.0 and `a` of 1 for the platform `2.0` do. */
export async function isNameTaken(tx: Db, row: PackageRow, fileName: string): Promise<boolean> {
  // Two that come at once are different packages, and would not see each other.
  await lockWords(tx, 'gem', row.project_id, fileName);
  const { rows } = await sql<{ taken: boolean }>`
    select exists(select from packages p join package_files f on f.package_id = p.id
      where ${published({ id: row.project_id })} and p.id <> ${row.id} and f.file_name = ${fileName}) as taken`.execute(
    tx,
  );
  return rows[0]?.taken === true;
}
