/** Makes aliases of projects, and deletes them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { type AliasRow, lockAlias } from './queries.ts';
import { aliasProblems } from './rules.ts';

const audit = (tx: Db, author: Actor, event: string, { id, project_id, name }: AliasRow): Promise<void> =>
  announce(tx, {
    author,
    audit: {
      entity: { type: 'InstanceScope', id: 1, path: 'instance' },
      event,
      details: { target_id: id, target_type: 'ProjectAlias', target_details: name, project_id },
    },
  });

/** Makes an alias; 400 for a name that cannot be one, or is taken in any capitals. */
export async function createAlias(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  name: string,
): Promise<AliasRow> {
  const problems = aliasProblems(name);
  if (problems.length > 0) throw invalid({ name: problems });
  return inTransaction(db, async (tx) => {
    const alias = await tx
      .insertInto('project_aliases')
      .values({ project_id: project.id, name, created_at: now() })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, actor, 'project_alias_created', alias);
    return alias;
  });
}

export const deleteAlias = (
  db: Db,
  actor: Actor,
  name: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const alias = found(await lockAlias(tx, name), 'ProjectAlias');
    unmodified(alias.created_at);
    await ahead(tx).deleteFrom('project_aliases').where('id', '=', alias.id).execute();
    await audit(tx, actor, 'project_alias_deleted', alias);
  });
