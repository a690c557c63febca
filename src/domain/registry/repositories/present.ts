/** Records of repositories of images and their tags. */
import type { Static } from 'typebox';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type RegistryTagRow, type RepositoryRow, selectFirstTags, type TagDetailsRow } from './queries.ts';
import type { RegistryRepository, RegistryTag, RegistryTagDetails, Shown } from './schema.ts';

type Address = Needs<'baseUrl'>;

/** Where programs find it. */
const locationOf = ({ baseUrl }: Address, path: string): string =>
  `${baseUrl().replace(/^.*\/\//, '')}/${path}`;

export const presentTag = (
  services: Address,
  { path }: Pick<RepositoryRow, 'path'>,
  { name }: Pick<RegistryTagRow, 'name'>,
): Static<typeof RegistryTag> => ({
  name,
  path: `${path}:${name}`,
  location: `${locationOf(services, path)}:${name}`,
});

const SHORT = 9;

export function presentTagDetails(
  services: Address,
  repository: Pick<RepositoryRow, 'path'>,
  row: TagDetailsRow,
): Static<typeof RegistryTagDetails> {
  const revision = row.config_digest?.split(':')[1] ?? null;
  return {
    ...presentTag(services, repository, row),
    revision,
    short_revision: revision?.slice(0, SHORT) ?? '',
    digest: row.digest,
    created_at: row.updated_at.toISOString(),
    total_size: row.config_digest === null ? null : row.layers_size,
  };
}

/** Tags of each repository in a list, and of one alone. */
const FIRST_TAGS = 100;
const FIRST_TAGS_OF_ONE = 1_000;

async function tagsOf(
  db: Db,
  rows: readonly RepositoryRow[],
  limit: number,
): Promise<(id: number) => Pick<RegistryTagRow, 'name'>[]> {
  const ids = rows.map(({ id }) => id);
  const tags = Map.groupBy(await selectFirstTags(db, ids, limit), ({ repository_id }) => repository_id);
  return (id) => tags.get(id) ?? [];
}

const presentRow = (services: Address, row: RepositoryRow): Static<typeof RegistryRepository> => ({
  id: row.id,
  name: row.name,
  path: row.path,
  project_id: row.project_id,
  location: locationOf(services, row.path),
  created_at: row.created_at.toISOString(),
  cleanup_policy_started_at: row.cleanup_policy_started_at?.toISOString() ?? null,
  ...(row.tags_count !== null && { tags_count: row.tags_count }),
  delete_api_path: `${services.baseUrl()}/api/v4/projects/${row.project_id}/registry/repositories/${row.id}`,
  ...(row.size !== null && { size: row.size }),
  status: row.status as Static<typeof RegistryRepository>['status'], // its check constraint
});

export async function presentRepositories(
  { db, services }: { db: Db; services: Address },
  rows: readonly RepositoryRow[],
  shown: Shown,
  limit = FIRST_TAGS,
): Promise<Static<typeof RegistryRepository>[]> {
  const tags = shown.tags && (await tagsOf(db, rows, limit));
  return rows.map((row) => ({
    ...presentRow(services, row),
    ...(tags && { tags: tags(row.id).map((tag) => presentTag(services, row, tag)) }),
  }));
}

export async function presentRepository(
  context: { db: Db; services: Address },
  row: RepositoryRow,
  shown: Shown,
): Promise<Static<typeof RegistryRepository>> {
  const [record] = await presentRepositories(context, [row], shown, FIRST_TAGS_OF_ONE);
  return record as Static<typeof RegistryRepository>; // of one row there is one
}
