/** Packages and their files as records. */
import type { Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { presentUserBasic } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { presentPipelineBasic } from '../../ci/index.ts';
import {
  type Around,
  type GroupPackageRow,
  type PackageFileRow,
  type PackageRow,
  type PipelineRow,
  selectAround,
  selectFilePipelines,
  type TagRow,
} from './queries.ts';
import type { GroupPackage, Package, PackageFile, PackagePipeline, PackageWithVersions } from './schema.ts';

export type ReadContext = {
  db: Db;
  services: Needs<'baseUrl'>;
  settings: ApplicationSettings;
};

type Place = Pick<AuthorizedProject, 'fullPath'>;

const pathOf = (project: Place, { id, package_type }: PackageRow): string =>
  package_type === 'terraform_module'
    ? `/${project.fullPath}/-/terraform_module_registry/${id}`
    : `/${project.fullPath}/-/packages/${id}`;

export function presentPipeline(
  { services, settings }: ReadContext,
  project: Place,
  row: PipelineRow,
): PackagePipeline {
  const baseUrl = services.baseUrl();
  return {
    ...presentPipelineBasic(baseUrl, project, row),
    user: row.person && presentUserBasic({ baseUrl, settings }, row.person),
  };
}

const presentTag = (row: TagRow) => ({
  id: row.id,
  package_id: row.package_id,
  name: row.name,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** The fields of a package that are not in its row. */
function aroundOf(context: ReadContext, project: Place, { pipelines, tags }: Around, id: number) {
  const own = pipelines
    .filter(({ package_id }) => package_id === id)
    .map((row) => presentPipeline(context, project, row));
  return {
    tags: tags.filter(({ package_id }) => package_id === id).map(presentTag),
    ...(own[0] && { pipeline: own[0] }),
    pipelines: own,
  };
}

/** What programs of Conan call a package. */
export const conanReference = ({
  name,
  version,
  qualifier,
}: Pick<PackageRow, 'name' | 'version' | 'qualifier'>): string => `${name}/${version}@${qualifier}`;

const namesOf = (row: PackageRow) =>
  row.package_type === 'conan'
    ? { name: conanReference(row), conan_package_name: row.name }
    : { name: row.name };

const presentRow = (
  context: ReadContext,
  project: Place,
  row: PackageRow,
  around: Around,
  mayDelete: boolean,
): Static<typeof Package> => ({
  id: row.id,
  ...namesOf(row),
  version: row.version,
  package_type: row.package_type,
  status: row.status,
  _links: {
    web_path: pathOf(project, row),
    ...(mayDelete && {
      delete_api_path: `${context.services.baseUrl()}/api/v4/projects/${row.project_id}/packages/${row.id}`,
    }),
  },
  created_at: row.created_at.toISOString(),
  last_downloaded_at: row.last_downloaded_at?.toISOString() ?? null,
  ...aroundOf(context, project, around, row.id),
});

export async function presentPackages(
  context: ReadContext,
  project: AuthorizedProject,
  rows: readonly PackageRow[],
): Promise<Static<typeof Package>[]> {
  const shows_pipelines = project.may('read_pipelines');
  const around = await selectAround(
    context.db,
    rows.map(({ id }) => ({ id, shows_pipelines })),
  );
  const mayDelete = project.may('delete_packages');
  return rows.map((row) => presentRow(context, project, row, around, mayDelete));
}

/** Of several projects: whether the caller may delete one is not asked there. */
export async function presentAcross(
  context: ReadContext,
  rows: readonly GroupPackageRow[],
): Promise<Static<typeof GroupPackage>[]> {
  const around = await selectAround(context.db, rows);
  return rows.map((row) => ({
    ...presentRow(context, { fullPath: row.project_path }, row, around, false),
    project_id: row.project_id,
    project_path: row.project_path,
  }));
}

export async function presentPackage(
  context: ReadContext,
  project: AuthorizedProject,
  [row, ...others]: [PackageRow, ...PackageRow[]],
): Promise<Static<typeof PackageWithVersions>> {
  const shows_pipelines = project.may('read_pipelines');
  const around = await selectAround(
    context.db,
    [row, ...others].map(({ id }) => ({ id, shows_pipelines })),
  );
  return {
    ...presentRow(context, project, row, around, project.may('delete_packages')),
    versions: others.map((other) => ({
      id: other.id,
      version: other.version ?? '',
      created_at: other.created_at.toISOString(),
      ...aroundOf(context, project, around, other.id),
    })),
  };
}

export async function presentFiles(
  context: ReadContext,
  project: AuthorizedProject,
  rows: readonly PackageFileRow[],
): Promise<Static<typeof PackageFile>[]> {
  const pipelines = project.may('read_pipelines')
    ? await selectFilePipelines(
        context.db,
        rows.map(({ id }) => id),
      )
    : [];
  return rows.map((row) => ({
    id: row.id,
    package_id: row.package_id,
    created_at: row.created_at.toISOString(),
    file_name: row.file_name,
    size: row.size,
    file_md5: row.md5.toString('hex'),
    file_sha1: row.sha1.toString('hex'),
    file_sha256: row.sha256.toString('hex'),
    pipelines: pipelines
      .filter(({ package_file_id }) => package_file_id === row.id)
      .map((pipeline) => presentPipeline(context, project, pipeline)),
  }));
}
