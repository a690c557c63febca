/** Charts of a project's channels. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { oneDocument } from '../records/one-document-queries.ts';
import type { FetchedFile } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import type { IndexedChart } from './rules.ts';

type Project = Pick<AuthorizedProject, 'id'>;

/** Of one index: one document has them all. */
const MAX_CHARTS = 1_000;
const MAX_CHARACTERS = 4_194_304;

const inChannel = ({ id }: Project, channel: string): RawBuilder<unknown> => sql`
  p.project_id = ${id} and p.package_type = 'helm' and p.status = any(${[...installable]}::text[])
    and f.metadata ->> 'channel' = ${channel}`;

/** The newest file of each chart, the newest first, as many as an index has. */
export async function selectCharts(db: Db, project: Project, channel: string): Promise<IndexedChart[]> {
  const newest = sql`
    select distinct on (p.id) p.name, f.id, f.file_name, f.sha256, f.created_at, f.metadata -> 'description' as description
    from packages p join package_files f on f.package_id = p.id
    where ${inChannel(project, channel)} order by p.id, f.id desc`;
  const { rows } = await sql<IndexedChart>`
    select name, file_name, sha256, created_at, description
    from ${oneDocument(newest, { most: MAX_CHARTS, characters: MAX_CHARACTERS })} charts order by id desc`.execute(
    db,
  );
  return rows;
}

/** The newest file of the name. */
export async function selectChart(
  db: Db,
  project: Project,
  { channel, fileName }: { channel: string; fileName: string },
): Promise<FetchedFile | undefined> {
  const { rows } = await sql<FetchedFile>`
    select f.*, p.last_downloaded_at from packages p join package_files f on f.package_id = p.id
    where ${inChannel(project, channel)} and f.file_name = ${fileName} order by f.id desc limit 1`.execute(
    db,
  );
  return rows[0];
}
