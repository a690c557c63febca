/** Packages and their files: the lists of a project and a group, one by its id, and what is around them. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import { belowGroup, projectsWith, rightInGroup } from '../../../kernel/access/project-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type {
  PackageFilesTable,
  PackagesTable,
  PackageTagsTable,
  PipelinesTable,
} from '../../../platform/db/rows.ts';
import { idArray, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { GroupListInput, ListInput } from './schema.ts';
import { displayed } from './types.ts';

export type PackageRow = Selectable<PackagesTable>;
export type PackageFileRow = Selectable<PackageFilesTable>;
/** With the time at which its package was last fetched. */
export type FetchedFile = PackageFileRow & { last_downloaded_at: Date | null };
export type TagRow = Selectable<PackageTagsTable>;
/** With its user. */
export type PipelineRow = Pick<
  Selectable<PipelinesTable>,
  'id' | 'iid' | 'project_id' | 'sha' | 'ref' | 'status' | 'source' | 'created_at' | 'updated_at'
> & { person: UserBasicRow | null };

const columns = {
  created_at: 'packages.created_at',
  name: 'packages.name',
  version: 'packages.version',
  type: 'packages.package_type',
  project_path: 'project_path',
  id: 'packages.id',
};

const packagesOf = (db: Db) => db.selectFrom('packages').selectAll('packages');

type PackagesQuery = ReturnType<typeof packagesOf>;

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

function filtered<Query extends PackagesQuery>(query: Query, input: ListInput): Query {
  const { package_type, package_name, package_version, status, include_versionless } = input;
  let narrowed: PackagesQuery = query.where(
    'packages.status',
    'in',
    status === undefined ? [...displayed] : [status],
  );
  if (package_type !== undefined) narrowed = narrowed.where('packages.package_type', '=', package_type);
  if (package_name !== undefined)
    narrowed = narrowed.where('packages.name', 'ilike', `%${escapeLike(package_name)}%`);
  if (package_version !== undefined) narrowed = narrowed.where('packages.version', '=', package_version);
  if (!include_versionless) narrowed = narrowed.where('packages.version', 'is not', null);
  return narrowed as Query; // conditions select nothing more
}

/** One page of a project's, the oldest first unless the client orders otherwise. */
export const selectPackages = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  input: ListInput,
  page: PageRequest,
): Promise<Page<PackageRow>> =>
  selectPage(
    db,
    filtered(packagesOf(db).where('packages.project_id', '=', project.id), input),
    page,
    { by: input.order_by ?? 'created_at', sort: input.sort ?? 'asc' },
    columns,
  );

export type GroupPackageRow = PackageRow & { project_path: string; shows_pipelines: boolean };

/** One page of those in projects of the group whose packages the caller reads. */
export function selectGroupPackages(
  db: Db,
  caller: Caller,
  group: AuthorizedGroup,
  input: GroupListInput,
  page: PageRequest,
): Promise<Page<GroupPackageRow>> {
  const among = input.exclude_subgroups ? rightInGroup(group.id) : belowGroup(group.id);
  const inProjects = (ability: 'read_packages' | 'read_pipelines') =>
    sql<SqlBool>`packages.project_id in ${projectsWith(ability, caller, among)}`;
  const query = packagesOf(db)
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(sql<string>`namespaces.full_path || '/' || projects.path`.as('project_path'))
    .select(sql<boolean>`${inProjects('read_pipelines')}`.as('shows_pipelines'))
    .where(inProjects('read_packages'));
  const { order_by = 'created_at', sort = 'asc' } = input;
  return selectPage(db, filtered(query, input), page, { by: order_by, sort }, columns);
}

const onePackage = (db: Db, project: Pick<AuthorizedProject, 'id'>, id: number) =>
  packagesOf(db)
    .where('packages.project_id', '=', project.id)
    .where('packages.id', '=', id)
    .where('packages.status', 'in', [...displayed]);

export const selectPackage = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  id: number,
): Promise<PackageRow | undefined> => onePackage(db, project, id).executeTakeFirst();

/** Beside the package itself: as many as a page has. */
const MAX_VERSIONS = 100;

/** The package and, after it, the other versions of its name, the oldest first; empty without the package. */
export const selectWithVersions = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  id: number,
): Promise<PackageRow[]> =>
  onePackage(db, project, id)
    .clearSelect()
    .innerJoin('packages as each', (join) =>
      join
        .onRef('each.project_id', '=', 'packages.project_id')
        .onRef('each.package_type', '=', 'packages.package_type')
        .onRef('each.name', '=', 'packages.name'),
    )
    .selectAll('each')
    .where((eb) =>
      eb.or([
        eb('each.id', '=', id),
        eb.and([eb('each.version', 'is not', null), eb('each.status', 'in', [...displayed])]),
      ]),
    )
    .orderBy(sql`each.id <> ${id}`)
    .orderBy('each.id')
    .limit(MAX_VERSIONS + 1)
    .execute();

/** Locked until the transaction ends. */
export const lockPackage = (
  tx: Db,
  project: Pick<AuthorizedProject, 'id'>,
  id: number,
): Promise<PackageRow | undefined> =>
  packagesOf(tx)
    .where('packages.project_id', '=', project.id)
    .where('packages.id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** One page of a package's files. */
export const selectFiles = (
  db: Db,
  { id }: Pick<PackageRow, 'id'>,
  { order_by = 'id', sort = 'asc' }: { order_by?: 'id' | 'created_at' | 'file_name'; sort?: 'asc' | 'desc' },
  page: PageRequest,
): Promise<Page<PackageFileRow>> =>
  selectPage(
    db,
    db.selectFrom('package_files').selectAll().where('package_id', '=', id),
    page,
    { by: order_by, sort },
    { id: 'id', created_at: 'created_at', file_name: 'file_name' },
  );

/** A file of a package that is shown, and when that was last fetched. */
export const selectFile = (
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  packageId: number,
  fileId: number,
): Promise<FetchedFile | undefined> =>
  onePackage(db, project, packageId)
    .clearSelect()
    .innerJoin('package_files', 'package_files.package_id', 'packages.id')
    .selectAll('package_files')
    .select('packages.last_downloaded_at')
    .where('package_files.id', '=', fileId)
    .executeTakeFirst();

const pipelineColumns = (at: string): string =>
  `${['id', 'iid', 'project_id', 'sha', 'ref', 'status', 'source', 'created_at', 'updated_at']
    .map((column) => `${at}.${column}`)
    .join(', ')}, ${userBasicJson(`${at}.user_id`)} as person`;

/** Of each package, the last pipelines that published a file of it, the newest first. */
const MAX_PIPELINES = 5;

type Texts<Row> = Omit<Row, 'created_at' | 'updated_at'> & { created_at: string; updated_at: string };
const withTimes = <Row extends { created_at: string; updated_at: string }>(row: Row) => ({
  ...row,
  created_at: new Date(row.created_at),
  updated_at: new Date(row.updated_at),
});

export type Around = {
  tags: readonly TagRow[];
  pipelines: readonly (PipelineRow & { package_id: number })[];
};

/** What the records of the packages show beside their rows, by one statement; pipelines where the reader may see them. */
export async function selectAround(
  db: Db,
  packages: readonly { id: number; shows_pipelines: boolean }[],
): Promise<Around> {
  if (packages.length === 0) return { tags: [], pipelines: [] };
  const ids = idArray(packages.map(({ id }) => id));
  const shown = idArray(packages.filter((each) => each.shows_pipelines).map(({ id }) => id));
  const of = await readTagged<{
    tags: Texts<TagRow>;
    pipelines: Texts<PipelineRow> & { package_id: number };
  }>(db, [
    taggedRows('tags', sql`select * from package_tags where package_id = any(${ids})`),
    taggedRows(
      'pipelines',
      sql`select ${sql.raw(pipelineColumns('p'))}, found.package_id from unnest(${shown}) as wanted (id)
        cross join lateral (
          select distinct b.package_id, b.pipeline_id from package_file_pipelines b where b.package_id = wanted.id
          order by b.pipeline_id desc limit ${MAX_PIPELINES}) found
        join pipelines p on p.id = found.pipeline_id`,
    ),
  ]);
  return {
    tags: of('tags')
      .map(withTimes)
      .sort((one, other) => one.id - other.id),
    pipelines: of('pipelines')
      .map(withTimes)
      .sort((one, other) => other.id - one.id),
  };
}

export async function selectFilePipelines(
  db: Db,
  fileIds: readonly number[],
): Promise<(PipelineRow & { package_file_id: number })[]> {
  if (fileIds.length === 0) return [];
  const { rows } = await sql<PipelineRow & { package_file_id: number }>`
    select ${sql.raw(pipelineColumns('p'))}, b.package_file_id from package_file_pipelines b join pipelines p on p.id = b.pipeline_id
    where b.package_file_id = any(${[...fileIds]}::bigint[]) order by b.package_file_id, p.id desc`.execute(
    db,
  );
  return rows;
}

/** One page of the pipelines that published files of the package. */
export const selectPipelinePage = (
  db: Db,
  { id }: Pick<PackageRow, 'id'>,
  page: PageRequest,
): Promise<Page<PipelineRow>> =>
  selectPage(
    db,
    db
      .selectFrom('pipelines')
      .select([
        'pipelines.id',
        'pipelines.iid',
        'pipelines.project_id',
        'pipelines.sha',
        'pipelines.ref',
        'pipelines.status',
        'pipelines.source',
        'pipelines.created_at',
        'pipelines.updated_at',
      ])
      .select(sql<UserBasicRow | null>`${sql.raw(userBasicJson('pipelines.user_id'))}`.as('person'))
      .where(
        sql<SqlBool>`pipelines.id in (select pipeline_id from package_file_pipelines where package_id = ${id})`,
      ),
    page,
    { by: 'id', sort: 'desc' },
    { id: 'pipelines.id' },
  );

/** Of one project, as of those of a group. */
export const onlyIn = ({ id }: Pick<AuthorizedProject, 'id'>): ProjectIds => sql`(${id}::bigint)`;
