/** Records of imports. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type FailureRow, type ImportRow, selectFailures, selectImport } from './queries.ts';
import type { ImportStatusRecord, RelationImportRecord } from './schema.ts';

const presentFailure = ({ id, created_at, message, relation, line }: FailureRow) => ({
  id,
  created_at: created_at.toISOString(),
  exception_class: 'RecordInvalid',
  exception_message: message,
  source: 'process_relation_item!',
  relation_name: relation,
  line_number: line,
});

export async function presentImport(db: Db, { id, row }: AuthorizedProject): Promise<ImportStatusRecord> {
  const found = await selectImport(db, { column: 'project_id', id });
  const failures = found ? await selectFailures(db, found.id) : [];
  return {
    ...presentProjectIdentity(row),
    import_status: (found?.status as ImportStatusRecord['import_status'] | undefined) ?? 'none',
    import_type: found ? 'gitlab_project' : null,
    correlation_id: found?.correlation_id ?? null,
    failed_relations: failures.map(presentFailure),
    import_error: found?.error ?? null,
    passed_over: found?.passed_over ?? [],
  };
}

export const presentRelationImport = (
  { fullPath }: AuthorizedProject,
  { id, relation, status }: ImportRow,
): RelationImportRecord => ({
  id,
  project_path: fullPath,
  relation: relation ?? '',
  status: status === 'scheduled' ? 'created' : (status as 'started' | 'finished' | 'failed'),
});
