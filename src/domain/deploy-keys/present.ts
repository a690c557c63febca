/** Deploy keys as records. */
import { presentProjectIdentity } from '../../kernel/namespaces/project-records.ts';
import type { Db } from '../../platform/db/database.ts';
import { type DeployKeyRow, type ProjectKeyRow, selectHolders } from './queries.ts';
import type { DeployKey, InstanceDeployKey, ProjectDeployKey } from './schema.ts';

export const presentKey = (row: DeployKeyRow): DeployKey => ({
  id: row.id,
  title: row.title,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  key: row.key,
  usage_type: 'auth',
  fingerprint: row.fingerprint,
  fingerprint_sha256: row.fingerprint_sha256,
});

export const presentProjectKey = (row: ProjectKeyRow): ProjectDeployKey => ({
  ...presentKey(row),
  can_push: row.can_push,
});

/** The records of a page, with the projects that have each key. */
export async function presentInstanceKeys(
  db: Db,
  rows: readonly DeployKeyRow[],
): Promise<InstanceDeployKey[]> {
  const holders = await selectHolders(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const holding = (write: boolean) =>
      holders
        .filter(({ key_id, can_push }) => key_id === row.id && can_push === write)
        .map(presentProjectIdentity);
    return {
      ...presentKey(row),
      projects_with_write_access: holding(true),
      projects_with_readonly_access: holding(false),
    };
  });
}
