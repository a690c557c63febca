/** Pages of external status checks as records: their branches are loaded once for the whole page. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { selectProtectedBranches } from '../../repositories/index.ts';
import type { CheckRow } from './queries.ts';
import type { CheckRecord } from './schema.ts';

export type CheckReading = { db: Db; services: Needs<'config'>; subject: Pick<AuthorizedProject, 'id'> };

/** The records, in the order of the rows. Nobody reads the shared secret again. */
export async function presentChecks(
  { db, services, subject }: CheckReading,
  rows: readonly CheckRow[],
): Promise<CheckRecord[]> {
  const named = [...new Set(rows.flatMap(({ branch_ids }) => branch_ids))];
  const some = { named, first: 0 };
  const branches = named.length > 0 ? await selectProtectedBranches(db, services, subject.id, some) : [];
  const byId = new Map(branches.map((branch) => [branch.id, branch]));
  return rows.map(({ id, name, project_id, external_url, shared_secret_sealed, branch_ids }) => ({
    id,
    name,
    project_id,
    external_url,
    hmac: shared_secret_sealed !== null,
    protected_branches: branch_ids.flatMap((each) => byId.get(each) ?? []),
  }));
}

export async function presentCheck(reading: CheckReading, row: CheckRow): Promise<CheckRecord> {
  const [record] = await presentChecks(reading, [row]);
  if (!record) throw new Error('one record for each row');
  return record;
}
