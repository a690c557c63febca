/** Statements with which merge requests are found for to-dos, feeds, references and labels. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { mayInProject } from '../../../kernel/access/ability-queries.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type CrossReference, inProjects } from '../../conversation/index.ts';
import type { LabelCounts } from '../../planning/index.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { visibleMergeRequests } from '../records/visibility-queries.ts';

const having = (part: 'merge_request_assignees' | 'merge_request_reviewers', actor: Actor) =>
  sql`(select a.merge_request_id from ${sql.table(part)} a where a.user_id = ${actor.id})`;

/** The open merge requests that the user sees and is assigned to, and is asked to review, each counted to a limit. */
export async function countInvolved(
  db: Db,
  actor: Actor,
  limit: number,
): Promise<{ assigned: number; reviewing: number }> {
  const [assigned, reviewing] = [
    having('merge_request_assignees', actor),
    having('merge_request_reviewers', actor),
  ];
  const { ctes, condition } = visibleMergeRequests(
    actor,
    sql`p.id in (select m.project_id from merge_requests m where m.id in (${assigned} union all ${reviewing}))`,
  );
  const count = (mine: RawBuilder<unknown>) => sql`(select count(*) from (
    select 1 from merge_requests i join listed_projects v on v.id = i.project_id
    where i.id in ${mine} and i.state = 'opened' and ${condition} limit ${limit}) counted)`;
  const { rows } = await sql<{ assigned: number; reviewing: number }>`
    with ${ctes} select ${count(assigned)} as assigned, ${count(reviewing)} as reviewing`.execute(db);
  return rows[0] ?? { assigned: 0, reviewing: 0 };
}

export const selectMergeRequestRows = (db: Db, ids: readonly number[]): Promise<MergeRequestRow[]> =>
  db.selectFrom('merge_requests').selectAll().where('id', 'in', ids).execute();

/** The number and title of a merge request, below an activity event `e`. */
export const shownMergeRequest = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select i.iid, i.title from merge_requests i where i.id = ${id} and i.project_id = e.project_id`;

/** The keys of the merge requests that the reader may read. */
export async function readableMergeRequests(
  { db, actor }: { db: Db; actor: Caller },
  named: readonly CrossReference[],
): Promise<{ key: string }[]> {
  const { ctes, condition } = visibleMergeRequests(actor, sql`p.id in (select id from named)`);
  const { rows } = await sql<{ key: string }>`with named(key, id, iid) as (${inProjects(named)}), ${ctes}
    select named.key from named join merge_requests i on i.project_id = named.id and i.iid = named.iid
    join listed_projects v on v.id = i.project_id where ${condition}`.execute(db);
  return rows;
}

/** The condition on `notes` that the caller reads the merge request that they tell a mention in. */
export const readsMentioningMergeRequest = (caller: Caller): RawBuilder<SqlBool> =>
  mayInProject(
    'read_merge_requests',
    caller,
    sql`(select m.project_id from merge_requests m where m.id = notes.mentioned_in_merge_request_id)`,
  );

type Referenced = Pick<
  MergeRequestRow,
  'id' | 'project_id' | 'iid' | 'title' | 'state' | 'author_id' | 'discussion_locked'
>;

/** The merge requests that texts name, each by its project and number. */
export async function selectReferenced(
  db: Db,
  projectIds: readonly number[],
  numbers: readonly number[],
): Promise<Referenced[]> {
  const { rows } = await sql<Referenced>`
    select id, project_id, iid, title, state, author_id, discussion_locked from merge_requests where (project_id, iid) in (
      select * from unnest(${projectIds}::bigint[], ${numbers}::bigint[]))`.execute(db);
  return rows;
}

type Counted = { label_id: number } & Pick<LabelCounts, 'open_merge_requests_count'>;

/** The numbers of open merge requests that the caller sees, of each label. */
export async function countByLabel(db: Db, caller: Caller, labelIds: readonly number[]): Promise<Counted[]> {
  const { ctes, condition } = visibleMergeRequests(caller);
  const { rows } = await sql<Counted>`
    with ${ctes}
    select l.label_id, count(*) as open_merge_requests_count
    from label_links l join merge_requests i on i.id = l.merge_request_id
    join listed_projects v on v.id = i.project_id
    where l.label_id = any(${[...labelIds]}::bigint[]) and i.state = 'opened' and ${condition}
    group by l.label_id`.execute(db);
  return rows;
}

export const selectNewestMergeRequest = (db: Db, projectId: number): Promise<{ id: number } | undefined> =>
  db
    .selectFrom('merge_requests')
    .select('id')
    .where('project_id', '=', projectId)
    .orderBy('iid', 'desc')
    .executeTakeFirst();
