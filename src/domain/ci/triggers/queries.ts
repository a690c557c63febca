/** Reads the trigger tokens of a project, with their owners. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

const triggersOf = (db: Db, project: AuthorizedProject) =>
  db
    .selectFrom('trigger_tokens')
    .innerJoin('users', 'users.id', 'trigger_tokens.owner_id')
    .selectAll('trigger_tokens')
    .select((eb) =>
      eb
        .selectFrom('pipelines')
        .select((of) => of.fn.max('pipelines.created_at').as('last'))
        .whereRef('pipelines.trigger_id', '=', 'trigger_tokens.id')
        .as('last_used'),
    )
    .select([
      'users.username',
      'users.public_email',
      'users.name',
      'users.state',
      'users.locked_at',
      'users.avatar',
      'users.email',
    ])
    .where('trigger_tokens.project_id', '=', project.id);

const triggerOf = (db: Db, project: AuthorizedProject, id: number) =>
  triggersOf(db, project).where('trigger_tokens.id', '=', id);

export type TriggerRow = NonNullable<Awaited<ReturnType<typeof selectTrigger>>>;

/** One page, oldest first. */
export const selectTriggers = (
  db: Db,
  project: AuthorizedProject,
  page: PageRequest,
): Promise<Page<TriggerRow>> =>
  selectPage(db, triggersOf(db, project), page, { by: 'id', sort: 'asc' }, { id: 'trigger_tokens.id' });

export const selectTrigger = (db: Db, project: AuthorizedProject, id: number) =>
  triggerOf(db, project, id).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockTrigger = (tx: Db, project: AuthorizedProject, id: number) =>
  triggerOf(tx, project, id).forUpdate('trigger_tokens').executeTakeFirst();

export async function countTriggers(tx: Db, project: AuthorizedProject): Promise<number> {
  const { count } = await tx
    .selectFrom('trigger_tokens')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  return Number(count);
}
