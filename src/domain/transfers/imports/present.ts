/** Records of imports. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { selectSource } from '../../mirrors/index.ts';
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

/** What brings a project: an archive, else the repository at an address. */
async function selectOrigin(db: Db, project: AuthorizedProject) {
  const archived = await selectImport(db, { column: 'project_id', id: project.id });
  if (archived) return { ...archived, type: 'gitlab_project' };
  const source = await selectSource(db, project);
  return source && { status: source.status, type: 'git', error: source.last_error };
}

/** How it went; errors are for those who may import, since they may say something of where the project comes from. */
export async function presentImport(db: Db, project: AuthorizedProject): Promise<ImportStatusRecord> {
  const { row } = project;
  const origin = await selectOrigin(db, project);
  const mayKnow = project.may('read_imports');
  const archived = origin && 'id' in origin ? origin : undefined;
  const failures = archived && mayKnow ? await selectFailures(db, archived.id) : [];
  return {
    ...presentProjectIdentity(row),
    import_status: origin?.status ?? (row.forked_from_id === null ? 'none' : 'finished'),
    import_type: origin?.type ?? null,
    correlation_id: archived?.correlation_id ?? null,
    failed_relations: failures.map(presentFailure),
    import_error: mayKnow ? (origin?.error ?? null) : null,
    passed_over: (mayKnow && archived?.passed_over) || [],
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
