/** Pages of a project's integrations. */
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { AlertIntegrationRow } from '../records.ts';

export const listedColumns = [
  'id',
  'project_id',
  'kind',
  'name',
  'active',
  'identifier',
  'created_at',
  'updated_at',
] as const;

type ListedIntegration = Pick<AlertIntegrationRow, (typeof listedColumns)[number]>;

/** A page of integrations without sample, mapping and key, oldest first. */
export const selectIntegrations = (
  db: Db,
  projectId: number,
  page: PageRequest,
): Promise<Page<ListedIntegration>> => {
  const query = db.selectFrom('alert_integrations').select(listedColumns).where('project_id', '=', projectId);
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'id' });
};
