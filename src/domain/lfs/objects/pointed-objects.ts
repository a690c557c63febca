/** What pointers in a repository lead to: the objects that the project has, or nothing, and then they are refused. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type LargeObject, parsePointer } from '../pointers/pointer.ts';
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

/** The SHA-256 of the object that the content of a file points to; undefined where it is no pointer, or the project has it not. */
export async function pointedObject(
  db: Db,
  project: Pick<AuthorizedProject, 'id' | 'row'>,
  content: Buffer,
): Promise<Buffer | undefined> {
  const pointer = parsePointer(content);
  if (!pointer || !(await isOn(db, project))) return undefined;
  const known = await selectObjects(db, project.id, [pointer.oid]);
  return known.size > 0 ? Buffer.from(pointer.oid, 'hex') : undefined;
}
