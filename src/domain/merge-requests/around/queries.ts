/** The reviewers of a merge request. */
import { userBasicColumns } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

/** With the state of their review and since when it is asked for, oldest accounts first. */
export const selectReviewers = (db: Db, mergeRequestId: number, page: PageRequest) =>
  selectPage(
    db,
    db
      .selectFrom('merge_request_reviewers')
      .innerJoin('users', 'users.id', 'merge_request_reviewers.user_id')
      .select(userBasicColumns)
      .select([
        'merge_request_reviewers.state as review_state',
        'merge_request_reviewers.created_at as reviewed_since',
      ])
      .where('merge_request_reviewers.merge_request_id', '=', mergeRequestId)
      .where('users.deletion', 'is', null),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'users.id' },
  );
