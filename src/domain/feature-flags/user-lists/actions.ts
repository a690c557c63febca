/** Makes, changes and deletes lists of users, each in one transaction with its audit event. */
import { CompiledQuery } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, invalid } from '../../../platform/failure.ts';
import { isListUsed, lockUserList, type UserListRow } from './queries.ts';
import { checkList, tidyIds } from './rules.ts';
import type { CreateInput, UpdateInput } from './schema.ts';

const auditOf = (project: AuthorizedProject, list: UserListRow, event: string) => ({
  entity: { type: 'Project' as const, id: project.id, path: project.fullPath },
  event,
  details: {
    target_id: list.id,
    target_type: 'Operations::FeatureFlags::UserList',
    target_details: list.name,
  },
});

/** 400 for an invalid list. */
function checked(list: { name: string; user_xids: string }): { name: string; user_xids: string } {
  const tidy = { name: list.name, user_xids: tidyIds(list.user_xids) };
  const problems = checkList(tidy);
  if (Object.keys(problems).length > 0) throw invalid(problems);
  return tidy;
}

/** The next number, from 1; the counter is locked until the commit. */
async function nextIid(tx: Db, projectId: number): Promise<number> {
  const text = `insert into project_counters as c (project_id, feature_flag_user_lists) values ($1, 1)
    on conflict (project_id) do update set feature_flag_user_lists = c.feature_flag_user_lists + 1
    returning feature_flag_user_lists as iid`;
  const { rows } = await tx.executeQuery<{ iid: number }>(CompiledQuery.raw(text, [projectId]));
  const [row] = rows;
  if (!row) throw new Error('a counter counts');
  return row.iid;
}

export const createUserList = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  input: CreateInput,
): Promise<UserListRow> =>
  inTransaction(db, async (tx) => {
    const list = checked(input);
    const created_at = now();
    const iid = await nextIid(tx, project.id);
    const row = await tx
      .insertInto('feature_flag_user_lists')
      .values({ ...list, project_id: project.id, iid, created_at, updated_at: created_at })
      .returningAll()
      .executeTakeFirstOrThrow();
    await announce(tx, { author: actor, audit: auditOf(project, row, 'feature_flag_user_list_created') });
    return row;
  });

export const updateUserList = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  { iid, name, user_xids }: UpdateInput,
): Promise<UserListRow> =>
  inTransaction(db, async (tx) => {
    const before = found(await lockUserList(tx, project, iid));
    const list = checked({ name: name ?? before.name, user_xids: user_xids ?? before.user_xids });
    const row = await tx
      .updateTable('feature_flag_user_lists')
      .set({ ...list, updated_at: now() })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await announce(tx, { author: actor, audit: auditOf(project, row, 'feature_flag_user_list_updated') });
    return row;
  });

/** Deletes the list; `check` sees it first. 409 where a strategy names it. */
export const deleteUserList = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  iid: number,
  check: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const list = found(await lockUserList(tx, project, iid));
    check(list.updated_at);
    if (await isListUsed(tx, list)) throw new Failure('conflict', 'User list is associated with a strategy');
    await tx.deleteFrom('feature_flag_user_lists').where('id', '=', list.id).execute();
    await announce(tx, { author: actor, audit: auditOf(project, list, 'feature_flag_user_list_deleted') });
  });
