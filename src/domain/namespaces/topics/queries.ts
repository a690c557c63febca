/** Statements over topics. */
import { type Selectable, sql } from 'kysely';
import { ORGANIZATION_ID } from '../../../kernel/namespaces/group-records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Tables } from '../../../platform/db/rows.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { ListTopics } from './schema.ts';

export type TopicRow = Selectable<Tables['topics']>;

/** One page of topics, those of the most public projects first. */
export function selectTopics(db: Db, input: ListTopics, page: PageRequest): Promise<Page<TopicRow>> {
  let query = db.selectFrom('topics').selectAll();
  if (input.search !== undefined && input.search !== '') {
    const pattern = containing(input.search);
    query = query.where(sql<boolean>`(name ilike ${pattern} or title ilike ${pattern})`);
  }
  if (input.without_projects) {
    query = query.where(
      sql<boolean>`not exists (select from projects p where p.topics @> array[topics.name] and not p.deleting)`,
    );
  }
  if (input.organization_id !== undefined && input.organization_id !== ORGANIZATION_ID)
    query = query.where(sql<boolean>`false`);
  return selectPage(
    db,
    query,
    page,
    { by: 'public_projects_rank', sort: 'asc' },
    { id: 'id', public_projects_rank: 'public_projects_rank' },
  );
}

/** One topic, or undefined. */
export const selectTopic = (db: Db, id: number): Promise<TopicRow | undefined> =>
  db.selectFrom('topics').selectAll().where('id', '=', id).executeTakeFirst();
