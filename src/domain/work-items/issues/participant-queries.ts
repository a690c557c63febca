/** Participants of an issue: its author, its assignees, authors of notes, and users who were mentioned. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import { presentUserBasic, type UserBasic, userBasicColumns } from '../../../kernel/users/records.ts';
import { mapPage, type Page, selectPage } from '../../../platform/pagination/page.ts';
import { participantIds } from '../../conversation/index.ts';
import { issueNoteable } from './records/issue-noteable.ts';
import type { IssueRow } from './records/issue-rows.ts';

type ListContext = Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'settings' | 'page'>;

/** One page of them, oldest accounts first. */
export async function participantPage(
  { db, services, settings, page }: ListContext,
  project: AuthorizedProject,
  issue: IssueRow,
): Promise<Page<UserBasic>> {
  const ids = await participantIds(db, issueNoteable(project, issue));
  const query = db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.id', 'in', ids)
    .where('users.deletion', 'is', null);
  const users = await selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'users.id' });
  const around = { baseUrl: services.baseUrl(), settings };
  return mapPage(users, (user) => presentUserBasic(around, user));
}
