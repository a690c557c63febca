/** Records of direct transfers. */
import type { Db } from '../../../platform/db/database.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import { type BulkImportRow, type EntityRow, type Failure, selectEntityFailures } from './queries.ts';
import type { BulkImportRecord, EntityRecord, FailureRecord } from './schema.ts';

export const presentBulkImport = ({
  id,
  status,
  source_url,
  created_at,
  updated_at,
  has_failures,
}: BulkImportRow): BulkImportRecord => ({
  id,
  status: status as BulkImportRecord['status'], // the table has no others
  source_type: 'gitlab',
  source_url,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
  has_failures,
});

const presentFailure = ({
  relation,
  message,
  correlation_id,
}: Omit<Failure, 'id' | 'entity_id'>): FailureRecord => ({
  relation,
  step: 'loader',
  exception_class: 'RecordInvalid',
  exception_message: message,
  correlation_id_value: correlation_id,
  source_url: null,
  source_title: null,
});

/** Why nothing came of an entity, before what of it did not come. */
const failuresOf = ({ error, source_type }: EntityRow, failures: readonly Failure[]): FailureRecord[] => [
  ...(error === null
    ? []
    : [presentFailure({ relation: source_type.replace('_entity', ''), message: error, correlation_id: '' })]),
  ...failures.map(presentFailure),
];

const MAX_SHOWN = 100;

export async function presentEntities(db: Db, rows: readonly EntityRow[]): Promise<EntityRecord[]> {
  const failures = Map.groupBy(
    await selectEntityFailures(
      db,
      rows.map(({ id }) => id),
    ),
    ({ entity_id }) => entity_id,
  );
  return rows.map((row) => ({
    id: row.id,
    bulk_import_id: row.bulk_import_id,
    status: row.status as EntityRecord['status'], // the table has no others
    entity_type: row.source_type === 'group_entity' ? 'group' : 'project',
    source_full_path: row.source_full_path,
    destination_full_path: [row.destination_namespace, row.destination_slug]
      .filter((part) => part !== '')
      .join('/'),
    destination_name: row.destination_slug,
    destination_slug: row.destination_slug,
    destination_namespace: row.destination_namespace,
    parent_id: row.parent_id,
    namespace_id: row.namespace_id,
    project_id: row.project_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    failures: failuresOf(row, failures.get(row.id) ?? []).slice(0, MAX_SHOWN),
    migrate_projects: row.migrate_projects,
    migrate_memberships: row.migrate_memberships,
    has_failures: row.has_failures,
    stats: {},
  }));
}

export async function presentFailures(
  db: Db,
  row: EntityRow,
  { offset, perPage }: { offset: number; perPage: number },
): Promise<Page<FailureRecord>> {
  const all = failuresOf(row, await selectEntityFailures(db, [row.id]));
  const items = all.slice(offset, offset + perPage);
  return { items, total: all.length, more: offset + items.length < all.length };
}
