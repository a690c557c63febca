/** Refuses pointers to objects that a project does not have: who fetches them would get nothing for them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { LargeObject } from '../pointers/pointer.ts';
import { isOn, selectObjects } from './queries.ts';

const MISSING =
  'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".';

/** Undefined where the project has all of them, or has no large files. */
export async function refuseMissing(
  db: Db,
  project: Pick<AuthorizedProject, 'id' | 'row'>,
  pointers: readonly LargeObject[],
): Promise<string | undefined> {
  const oids = [...new Set(pointers.map(({ oid }) => oid))];
  if (oids.length === 0 || !(await isOn(db, project))) return undefined;
  return (await selectObjects(db, project.id, oids)).size < oids.length ? MISSING : undefined;
}
